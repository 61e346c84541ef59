import { isContainer, memberOf } from '../model/json.js';
import type { FailedIdentity, IdentitiesAnswer } from '../model/outcome.js';
import { list, orEmpty, record } from './decode.js';
import type { WireIdentity } from './wire.js';
import { assertFits, written, type Writes } from './write-call.js';

export const IDENTITY_WRITES = {
  /** The service creates or updates each identity by itself, so that repeating is safe. */
  'write-identities': async ({ trafficType, trafficTypeId, identities: sent }, call) => {
    assertFits(sent);
    const identities = await written(call, {
      kind: 'write',
      method: 'POST',
      route: 'trafficTypes/:trafficType/environments/:environment/identities',
      at: { trafficType: trafficTypeId, environment: call.place.environmentId },
      body: sent,
      what: `write identities of ${JSON.stringify(trafficType)}`,
      check: (json) => identitiesAnswer(json, sent, (text) => call.client.clean(text)),
    });
    return { identities };
  },
} satisfies Partial<Writes>;

/** The contract does not define the shape of `failed`. */
const answered = record<{
  readonly objects: readonly unknown[];
  readonly failed: readonly unknown[];
}>({ objects: orEmpty(anything), failed: list(anything) });

/**
 * A key failed if `failed` has an entry for it, or if its identity came back with another value than was sent. If an
 * entry names none of the keys, only identities that the service returned as objects count as written.
 *
 * @throws ShapeError
 */
function identitiesAnswer(
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

function keyOf(value: unknown): string | undefined {
  const key = typeof value === 'string' ? value : memberOf(value, 'key');
  return typeof key === 'string' ? key : undefined;
}

/** Compares values as texts, because the service returns texts. An answer without values counts as equal. */
function otherAttribute(
  sent: Readonly<Record<string, string>>,
  answer: unknown,
): string | undefined {
  if (!isContainer(answer)) return undefined;
  return Object.keys(sent).find((attribute) => {
    const value = memberOf(answer, attribute);
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    return text !== sent[attribute];
  });
}

function reasonOf(
  entry: unknown,
  clean: (text: string) => string,
): Pick<FailedIdentity, 'status' | 'message'> {
  const status = memberOf(entry, 'status');
  const message = memberOf(entry, 'message');
  return {
    status: Number.isSafeInteger(status) ? (status as number) : null,
    message: typeof message === 'string' ? clean(message) : '',
  };
}
