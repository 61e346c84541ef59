import { randomFrom } from '../../chaos/choices.js';

/** One thing that happens, and the numbers that decide the rest: which flag, what value. From 0 to below 1. */
export interface Event {
  readonly kind: EventKind;
  readonly numbers: readonly [number, number, number];
  /** What is run after it, in this order. */
  readonly runs: readonly RunKind[];
}

/** What is committed. */
export const COMMITS = [
  'ramp',
  'allocate',
  'target',
  'rule',
  'describe',
  'order-kill',
  'list-kill',
  'lose-list',
  'keys',
  'mode',
  'add-flag',
  'remove-flag',
  'remove-block',
  'add-segment',
  'remove-segment',
  'revert',
  'break',
  'touch',
] as const;

/** What somebody does on the service by hand. */
export const HAND_EDITS = [
  'hand-ramp',
  'hand-allocate',
  'hand-target',
  'hand-rule',
  'hand-describe',
  'hand-rollback',
  'hand-kill',
  'hand-restore',
  'hand-swap',
  'hand-keys',
  'hand-delete',
  'hand-create',
  'hand-deactivate',
] as const;

/** What somebody does with the command, at once. */
export const ACTS = ['act-kill', 'act-restore'] as const;

export type CommitKind = (typeof COMMITS)[number];
export type HandEditKind = (typeof HAND_EDITS)[number];
export type ActKind = (typeof ACTS)[number];
type EventKind = CommitKind | HandEditKind | ActKind;

export const RUNS = {
  full: [],
  'dry run': ['--dry-run'],
  'dry run by exit code': ['--dry-run', '--detailed-exitcode'],
  touched: ['--touched'],
  only: [],
  'counted keys': ['--count-keys'],
  'reverting drift': ['--revert-drift'],
  adopting: ['--adopt'],
} as const;
export type RunKind = keyof typeof RUNS;

/** What may happen in a story. Some are about few things: what needs several in order is seldom met by all of them. */
const THEMES: readonly (readonly EventKind[])[] = [
  [...COMMITS, ...HAND_EDITS, ...ACTS],
  ['ramp', 'allocate', 'target', 'hand-ramp', 'hand-allocate', 'hand-rollback', 'hand-rollback'],
  ['order-kill', 'list-kill', 'lose-list', 'revert', 'hand-kill', 'hand-restore', ...ACTS],
  ['keys', 'mode', 'rule', 'remove-segment', 'hand-swap', 'hand-keys', 'hand-deactivate', 'revert'],
  ['add-flag', 'remove-flag', 'remove-block', 'revert', 'ramp', 'hand-delete', 'hand-create'],
];

const FOCUSED = 0.75;
/** The second number is for no environment. */
const ANYWHERE: ReadonlySet<EventKind> = new Set(['describe', 'add-flag', 'add-segment']);

/** What happens in the story of a seed, and when it is run. */
export function eventsOf(seed: number): readonly Event[] {
  const random = randomFrom(seed ^ 0x5eed);
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const kinds = random() < 0.4 ? (THEMES[0] ?? []) : one(THEMES.slice(1));
  const runs = (Object.keys(RUNS) as RunKind[]).map((kind) => [kind] as const);
  // Most of what happens is about one object: there commits and edits meet.
  const focus = [random(), random()] as const;
  return Array.from({ length: 4 + Math.floor(random() * 5) }, () => {
    const kind = one(kinds);
    const [which, where] = random() < FOCUSED ? focus : [random(), random()];
    const numbers = [which, ANYWHERE.has(kind) ? random() : where, random()] as const;
    const chance = random();
    return { kind, numbers, runs: chance < 0.2 ? [] : chance < 0.7 ? ['full'] : one(runs) };
  });
}
