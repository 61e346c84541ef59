import { isDeepStrictEqual } from 'node:util';

/** One member that a change touched. An absent side did not have it. */
export interface MemberChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What an audit row tells of a change to a list of keys: numbers, and the first of them. */
export interface KeysChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly sample: readonly string[];
}

const SAMPLE_SIZE = 20;

/** Members at the top of two objects that differ, in code-unit order; null stands for an object that is not there. */
export function differenceOf(before: object | null, after: object | null): MemberChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].sort().flatMap((name) => {
    const change = {
      path: `/${name}`,
      ...member('before', before, name),
      ...member('after', after, name),
    };
    return isDeepStrictEqual(change.before, change.after) ? [] : [change];
  });
}

function member<S extends 'before' | 'after'>(
  side: S,
  holder: object | null,
  name: string,
): Partial<Record<S, unknown>> {
  if (holder === null || !Object.hasOwn(holder, name)) return {};
  const result: Partial<Record<S, unknown>> = {};
  result[side] = (holder as Record<string, unknown>)[name];
  return result;
}

export function keysDifference(
  added: readonly string[],
  removed: readonly string[],
  path = '/keys',
): KeysChange {
  return {
    path,
    added: added.length,
    removed: removed.length,
    sample: [...added, ...removed].slice(0, SAMPLE_SIZE),
  };
}

/** A definition, as far as its difference goes into its parts. */
interface WithTreatments {
  readonly treatments: readonly { readonly name: string; readonly keys?: readonly string[] }[];
}

/** The same, but for individual targets: by treatment, and told as keys are. */
export function definitionDifference(
  before: WithTreatments | null,
  after: WithTreatments | null,
): (MemberChange | KeysChange)[] {
  return [
    ...differenceOf(before && withoutTargets(before), after && withoutTargets(after)),
    ...targetsDifference(targetsOf(before), targetsOf(after)),
  ];
}

function withoutTargets(definition: WithTreatments): object {
  const treatments = definition.treatments.map((treatment) =>
    Object.fromEntries(Object.entries(treatment).filter(([name]) => name !== 'keys')),
  );
  return { ...definition, treatments };
}

type Targets = ReadonlyMap<string, ReadonlySet<string>>;

function targetsOf(definition: WithTreatments | null): Targets {
  return new Map(definition?.treatments.map(({ name, keys = [] }) => [name, new Set(keys)]));
}

function targetsDifference(before: Targets, after: Targets): KeysChange[] {
  const none: ReadonlySet<string> = new Set();
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const had = before.get(name) ?? none;
    const has = after.get(name) ?? none;
    const added = [...has].filter((key) => !had.has(key));
    const removed = [...had].filter((key) => !has.has(key));
    if (added.length === 0 && removed.length === 0) return [];
    return [keysDifference(added, removed, `/targets/${name}`)];
  });
}
