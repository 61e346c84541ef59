import type { StateEntry } from '../model/state.js';

/** Shapes of what a state file may hold. Members that are not named here are somebody else's and are left out of it. */
export type Shape = 'flag' | 'segment' | 'definition' | 'activation' | 'identities' | 'none';

type Check = (value: unknown) => boolean;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEntryIdentity(
  value: Record<string, unknown>,
): value is Record<string, unknown> & { kind: StateEntry['kind']; name: string } {
  const { kind, name } = value;
  return isKind(kind) && typeof name === 'string' && name !== '';
}

/** Whether this is a `Base` whose spec has the given shape. */
export function isBase(value: unknown, shape: Shape): boolean {
  return record({
    spec: optional(SPECS[shape]),
    commit: (commit) => commit === null || isCommit(commit),
    pending: optional(oneOf('create', 'delete')),
    killListed: optional(isFlagOfTruth),
    liveKillSeenAt: optional(isCommit),
  })(value);
}

function record(members: Readonly<Record<string, Check>>): Check {
  return (value) =>
    isObject(value) && Object.entries(members).every(([name, check]) => check(value[name]));
}

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const oneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);

const isText: Check = (value) => typeof value === 'string';
export const isTextMap = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every(isText);
const isFlagOfTruth: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isCommit: Check = (value) => typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);

const isKind = oneOf('flag', 'segment', 'identities');
const isBuckets = listOf(record({ treatment: isText, size: isCount }));
const isTargets: Check = (value) => isObject(value) && Object.values(value).every(listOf(isText));

const SPECS: Readonly<Record<Shape, Check>> = {
  flag: record({
    trafficType: isText,
    fields: record({
      description: optional(isText),
      tags: optional(listOf(isText)),
      rolloutStatus: optional(isText),
    }),
  }),
  segment: record({ trafficType: isText }),
  definition: record({
    treatments: optional(listOf(record({ name: isText, description: optional(isText) }))),
    targets: optional(isTargets),
    defaultTreatment: optional(isText),
    baselineTreatment: optional(isText),
    trafficAllocation: optional(isCount),
    rules: optional(
      listOf(record({ matchers: listOf(record({ type: isText })), buckets: isBuckets })),
    ),
    defaultRule: optional(isBuckets),
    killed: optional(isFlagOfTruth),
  }),
  identities: record({
    groups: listOf(record({ attributes: listOf(isText), keys: isTextMap })),
  }),
  // A base at a place where this kind has none.
  none: () => false,
  activation: record({ keys: optional(record({ count: isCount, sha256: isText })) }),
};
