import type { PlanDocument } from '../../report/json/plan.js';
import { STANDING_WORDS } from '../../report/view/verdict.js';
import type { EnvironmentFlags, LiveFlag, SourceView } from '../view.js';
import { newestPlan } from '../health.js';
import type { StandingView } from '../standings.js';

export type RampView = NonNullable<PlanDocument['ramps']>[number];

/** The most urgent first. A symbol says as much as its colour. */
export const STATES = {
  failed: { symbol: '✗', word: STANDING_WORDS.failed },
  unknown: { symbol: '?', word: STANDING_WORDS.unknown },
  killed: { symbol: '⊘', word: 'killed' },
  held: { symbol: '!', word: STANDING_WORDS.held },
  waits: { symbol: '◷', word: STANDING_WORDS.waits },
  ramping: { symbol: '↗', word: 'ramping' },
} as const;

export type FlagState = keyof typeof STATES;

export const ALL_STATES = Object.keys(STATES) as FlagState[];

/** A flag in one environment. */
export interface FlagPlace {
  readonly environment: string;
  /** null if no run saw a definition that git declares here. */
  readonly live: LiveFlag | null;
  /** Set if the object is not as git has it. */
  readonly standing: StandingView | null;
  /** The ramps that have not ended. */
  readonly ramps: readonly RampView[];
  /** Killed on the service while git does not order it. */
  readonly isKilledByHand: boolean;
  /** The most urgent first; empty if the flag is in sync and nothing is special. */
  readonly states: readonly FlagState[];
}

/** A flag in the environments of its source, the protected ones first. */
export interface FlagRow {
  readonly name: string;
  readonly places: readonly FlagPlace[];
}

/** The flags that runs have seen, by name. */
export function flagRows(source: SourceView): FlagRow[] {
  const columns = shownColumns(source).map((column) => ({
    environment: column.environment,
    flags: new Map(column.flags.map((flag) => [flag.name, flag])),
  }));
  const names = new Set(columns.flatMap(({ flags }) => [...flags.keys()]));
  const placeOf = placesIn(source);
  return [...names].sort().map((name) => ({
    name,
    places: columns.map(({ environment, flags }) =>
      placeOf(name, environment, flags.get(name) ?? null),
    ),
  }));
}

/** Environments with flags, the protected ones first. */
export function shownColumns({ flags, environments }: SourceView): EnvironmentFlags[] {
  const order = new Map(environments.map((name, at) => [name, at]));
  const placeOf = ({ environment }: EnvironmentFlags): number => order.get(environment) ?? 0;
  return flags.filter(({ total }) => total > 0).toSorted((a, b) => placeOf(a) - placeOf(b));
}

function placesIn(
  source: SourceView,
): (name: string, environment: string, live: LiveFlag | null) => FlagPlace {
  const { standings, liveKills } = source;
  const notLive = new Map((standings?.objects ?? []).map((each) => [each.id, each]));
  const byHand = new Set(liveKills.map(({ id }) => id));
  const ramps = new Map<string, RampView[]>();
  for (const ramp of (newestPlan(source)?.ramps ?? []).filter(isUnderWay)) {
    ramps.set(ramp.id, [...(ramps.get(ramp.id) ?? []), ramp]);
  }
  const isUnknown = standings?.doubt != null;
  return (name, environment, live) => {
    const id = `flag/${name}@${environment}` as const;
    const standing = notLive.get(id) ?? null;
    const own = ramps.get(id) ?? [];
    const states = new Set<FlagState>([
      ...(isUnknown ? (['unknown'] as const) : []),
      ...(standing === null ? [] : [standing.standing.is]),
      ...(live?.serves?.killed === true ? (['killed'] as const) : []),
      ...(own.length > 0 ? (['ramping'] as const) : []),
    ]);
    return {
      ...{ environment, live, standing, ramps: own, isKilledByHand: byHand.has(id) },
      states:
        live === null && standing === null ? [] : ALL_STATES.filter((each) => states.has(each)),
    };
  };
}

function isUnderWay({ steps, served }: RampView): boolean {
  return served !== steps.at(-1)?.percent;
}
