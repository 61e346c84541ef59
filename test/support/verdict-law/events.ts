import { randomFrom } from '../../chaos/choices.js';
import { STEP_HOURS, type Block, type EnvironmentName, type FlagName, type Said } from './specs.js';

/** One step of a history, in words that `play` carries out. */
export interface Step {
  readonly kind: StepKind;
  readonly flag: FlagName;
  readonly environment: EnvironmentName;
  /** From 0 to below 100. */
  readonly number: number;
  /** Hours that pass before it. */
  readonly hours: number;
  /** The look that follows it. */
  readonly look: Look;
}

type Look = 'daemon' | 'command' | 'clone';

export interface History {
  readonly seed: number;
  readonly said: Omit<Said, 'workspace'>;
  readonly steps: readonly Step[];
}

export const COMMITS = [
  'share',
  'allocate',
  'order-kill',
  'list-kill',
  'window',
  'freeze',
  'suspend',
  'add-flag',
  'remove-flag',
  'remove-block',
  'break',
  'miss',
  'ramp',
] as const;
export const HAND_EDITS = [
  'hand-share',
  'hand-allocate',
  'hand-kill',
  'hand-restore',
  'hand-delete',
] as const;
export const ACTS = ['act-kill', 'act-restore'] as const;
/** Service away, key refused, checkout away: while the look is taken, and then for four hours. */
export const OUTAGES = ['away', 'key-refused', 'checkout-away'] as const;

type StepKind =
  | (typeof COMMITS)[number]
  | (typeof HAND_EDITS)[number]
  | (typeof ACTS)[number]
  | (typeof OUTAGES)[number]
  | 'nothing';

const THEMES: readonly (readonly StepKind[])[] = [
  ['share', 'share', 'allocate', 'hand-share', 'hand-share', 'hand-allocate', 'hand-delete'],
  ['order-kill', 'list-kill', 'hand-kill', 'hand-restore', 'act-kill', 'act-restore', 'share'],
  ['window', 'freeze', 'share', 'share', 'hand-share', 'suspend', 'nothing', 'list-kill'],
  ['ramp', 'nothing', 'nothing', 'share', 'hand-share', 'freeze'],
  ['away', 'key-refused', 'checkout-away', 'share', 'hand-share', 'nothing'],
  ['break', 'miss', 'share', 'list-kill', 'hand-kill', 'nothing', 'away'],
  ['add-flag', 'remove-flag', 'remove-block', 'share', 'hand-delete', 'window'],
];

const HOUR_MS = 3_600_000;

export function historyOf(seed: number): History {
  const random = randomFrom(seed);
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const isMixed = random() < 0.3;
  const kinds = isMixed ? THEMES.flat() : one(THEMES);
  const hasApprovals = random() < 0.2;
  const environments: EnvironmentName[] = [
    ...(['staging', 'production'] as const),
    ...(hasApprovals ? (['eu'] as const) : []),
  ];
  const blocks = (): Partial<Record<EnvironmentName, Block>> =>
    Object.fromEntries(environments.map((name) => [name, blockOf(Math.floor(random() * 90))]));
  const said = {
    environments,
    onDrift: one(['revert', 'report'] as const),
    onConflict: one(['apply', 'hold'] as const),
    prune: random() < 0.5,
    suspend: false,
    hasWindow: random() < 0.2,
    freeze: undefined,
    isMissing: false,
    isBroken: false,
    flags: { f0: blocks(), f1: blocks() },
    kills: [],
  };
  const focus = [one(['f0', 'f1'] as const), one(['staging', 'production'] as const)] as const;
  const steps = Array.from({ length: 1 + Math.floor(random() * 3) }, (): Step => {
    const isFocused = random() < 0.7;
    return {
      kind: one(kinds),
      flag: isFocused ? focus[0] : one(['f0', 'f1', 'f2']),
      environment: isFocused ? focus[1] : one(environments),
      number: Math.floor(random() * 90),
      hours: one([0, 0, 1, 5, 9]),
      look: one(['daemon', 'daemon', 'daemon', 'command', 'clone']),
    };
  });
  return { seed, said, steps };
}

function blockOf(share: number): Block {
  return { share, allocation: 100, killed: undefined, rampFrom: undefined };
}

/** What the next commit says. Where a step has nothing to change it says the same again. */
export function committed(said: Said, step: Step, nowMs: number): Said {
  const next = structuredClone(said);
  const { kind, flag, environment, number } = step;
  const block = next.flags[flag]?.[environment];
  switch (kind) {
    case 'share':
      if (block && block.rampFrom === undefined) block.share = number;
      break;
    case 'allocate':
      if (block) block.allocation = number + 1;
      break;
    case 'order-kill':
      if (block && block.rampFrom === undefined)
        block.killed = [undefined, true, false][number % 3];
      break;
    case 'list-kill':
      next.kills = next.kills.includes(flag)
        ? next.kills.filter((each) => each !== flag)
        : [...next.kills, flag];
      break;
    case 'window':
      next.hasWindow = !next.hasWindow;
      break;
    case 'freeze':
      next.freeze = [hourOf(nowMs), hourOf(nowMs) + (1 + (number % 9)) * HOUR_MS];
      break;
    case 'suspend':
      next.suspend = !next.suspend;
      break;
    case 'add-flag':
      next.flags[flag] ??= Object.fromEntries(
        next.environments.map((name) => [name, blockOf(number)]),
      );
      break;
    case 'remove-flag':
      if (flag !== 'f0') Reflect.deleteProperty(next.flags, flag);
      next.kills = next.kills.filter((each) => next.flags[each] !== undefined);
      break;
    case 'remove-block':
      if (environment === 'staging') delete next.flags[flag]?.staging;
      break;
    case 'break':
      next.isBroken = !next.isBroken;
      break;
    case 'miss':
      next.isMissing = !next.isMissing;
      break;
    case 'ramp':
      // The ramp law holds what an edit of a running ramp does.
      if (next.flags.f2?.staging?.rampFrom !== undefined) break;
      next.flags.f2 ??= {};
      next.flags.f2.staging = {
        ...blockOf(0),
        rampFrom: hourOf(nowMs) - (number % STEP_HOURS) * HOUR_MS,
      };
      break;
    default:
  }
  return next;
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS;
}

/** A step in words. */
export function wordsOf({ kind, flag, environment, number, hours, look }: Step): string {
  const by = { daemon: 'the daemon looks', command: 'reconcile', clone: 'reconcile in a clone' };
  return `${String(hours)} h later: ${kind} ${flag}@${environment} ${String(number)}; then ${by[look]}`;
}
