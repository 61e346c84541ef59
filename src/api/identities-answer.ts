import type { FailedIdentity, IdentitiesAnswer } from '../model/run.js';
import * as shapes from './shapes.js';
import type { WireIdentity } from './wire.js';

/** The parts of the answer that say what became of which key; the contract shows neither shape of `failed` nor more. */
interface Answered {
  readonly objects: readonly unknown[];
  readonly failed: readonly unknown[];
}

const answered = shapes.record<Answered>({
  objects: shapes.orEmpty(anything),
  failed: shapes.list(anything),
});

/**
 * What became of identities that were sent in one request: each entry of `failed` is the failure of its key, and so is
 * an identity that is answered with another value than was sent. All others were written.
 *
 * Where an entry names none of the keys, only those that are answered as objects count as written.
 *
 * @param clean makes words of the service fit for a report.
 * @throws ShapeError
 */
export function identitiesAnswer(
  json: unknown,
  sent: readonly WireIdentity[],
  clean: (text: string) => string,
): IdentitiesAnswer {
  const { objects, failed } = answered(json);
  const wanted = new Map(sent.map(({ key, values }) => [key, values]));
  const failures = new Map<string, FailedIdentity>();
  const echoed = new Set<string>();
  for (const object of objects) {
    const key = keyOf(object);
    const values = key === undefined ? undefined : wanted.get(key);
    if (key === undefined || values === undefined) continue;
    echoed.add(key);
    const other = otherAttribute(values, memberOf(object, 'values'));
    if (other === undefined) continue;
    const message = `the service answered another value of attribute "${clean(other)}"`;
    failures.set(key, { key, status: null, message });
  }
  let unnamed = 0;
  for (const entry of failed) {
    const key = keyOf(memberOf(entry, 'object')) ?? keyOf(entry);
    if (key === undefined || !wanted.has(key)) unnamed += 1;
    else failures.set(key, { key, ...reasonOf(entry, clean) });
  }
  if (unnamed > 0) {
    const message = 'the service refused some without saying which; perhaps this one';
    for (const key of wanted.keys()) {
      if (!echoed.has(key) && !failures.has(key)) failures.set(key, { key, status: null, message });
    }
  }
  return {
    written: [...wanted.keys()].filter((key) => !failures.has(key)),
    failed: [...wanted.keys()].flatMap((key) => failures.get(key) ?? []),
  };
}

function anything(value: unknown): unknown {
  return value;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** Of an identity, or of a key by itself. */
function keyOf(value: unknown): string | undefined {
  const key = typeof value === 'string' ? value : memberOf(value, 'key');
  return typeof key === 'string' ? key : undefined;
}

/** Values come back as texts. An answer without values says nothing against what was sent. */
function otherAttribute(
  sent: Readonly<Record<string, string>>,
  answer: unknown,
): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return Object.keys(sent).find((attribute) => {
    const value = Object.hasOwn(answer, attribute) ? memberOf(answer, attribute) : undefined;
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    return text !== sent[attribute];
  });
}

function reasonOf(
  entry: unknown,
  clean: (text: string) => string,
): Pick<FailedIdentity, 'status' | 'message'> {
  const [status, message] = [memberOf(entry, 'status'), memberOf(entry, 'message')];
  return {
    status: Number.isSafeInteger(status) ? (status as number) : null,
    message: typeof message === 'string' ? clean(message) : '',
  };
}
