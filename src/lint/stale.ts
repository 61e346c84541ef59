import type { ResolvedFlag } from '../specs/resolve/resolved-flag.js';
import { DAY_MS, type FileAge, type Finding, type LintedRepository } from './rule.js';

/** A flag and how old it is. */
export interface AgedFlag {
  readonly flag: ResolvedFlag;
  /** Absent: no commit has its files. */
  readonly age?: FileAge;
  /** Days since a commit touched one of its files; absent: none did. */
  readonly quietDays?: number;
  /** What everybody gets, in every environment that the flag is declared for; absent: not everybody gets the same. */
  readonly servedToAll?: string;
  readonly why: readonly StaleReason[];
}

/** `expired`: its day is past. `one-treatment`: everybody gets the same, and has for long. */
export type StaleReason = 'expired' | 'one-treatment';

/** When is it now, and what counts as long. */
export interface StaleBounds {
  /** UTC day, `YYYY-MM-DD`. */
  readonly today: string;
  readonly days: number;
}

/**
 * How old flags are, and what of them is stale. Serving the same for long is told by the files: what no commit touched for so
 * many days has served the same at least as long.
 *
 * @param ages by path; of a flag whose files have none, only its expiry is judged.
 */
export function agedFlags(
  flags: readonly ResolvedFlag[],
  ages: ReadonlyMap<string, FileAge>,
  bounds: StaleBounds,
): AgedFlag[] {
  return flags.map((flag) => agedFlag(flag, ageOf(flag, ages), bounds));
}

function agedFlag(
  flag: ResolvedFlag,
  age: FileAge | undefined,
  { today, days }: StaleBounds,
): AgedFlag {
  const served = servedToAll(flag);
  const quietDays = age && (Date.parse(today) - Date.parse(age.changedOn)) / DAY_MS;
  const { expires } = flag.spec;
  const isQuiet = quietDays !== undefined && quietDays >= days && served !== undefined;
  const why: StaleReason[] = [
    ...(expires !== undefined && expires < today ? ['expired' as const] : []),
    ...(isQuiet ? ['one-treatment' as const] : []),
  ];
  return {
    ...{ flag, why },
    ...(age && quietDays !== undefined && { age, quietDays }),
    ...(served !== undefined && { servedToAll: served }),
  };
}

/** Findings of the rule. Kinds that may be on for everybody may be so for ever. */
export function staleRollouts({ flags, settings, ages, today }: LintedRepository): Finding[] {
  const { staleAfter: days, fullRollout: lasting = [] } = settings;
  if (days === undefined) return [];
  return agedFlags(flags, ages, { today, days }).flatMap((aged) => {
    const { flag, why, servedToAll = '', quietDays = 0 } = aged;
    if (!why.includes('one-treatment') || lasting.includes(flag.spec.kind ?? '')) return [];
    const message = `everybody gets "${servedToAll}" everywhere, and has for ${quietDays} days at least`;
    return [{ place: { file: flag.file, path: ['flag'] }, message, allowedBy: flag.file }];
  });
}

/** Overlays count: the flag is as young as the youngest of its files. */
function ageOf(flag: ResolvedFlag, ages: ReadonlyMap<string, FileAge>): FileAge | undefined {
  const own = ages.get(flag.file.path);
  const paths = [...flag.environments.values()].flatMap(
    ({ definition }) => definition?.location.file ?? [],
  );
  const days = [...new Set(paths)].flatMap((path) => ages.get(path)?.changedOn ?? []);
  return own && { ...own, changedOn: [own.changedOn, ...days].sort().at(-1) ?? own.changedOn };
}

/** Whatever somebody matches. A kill is no end of a rollout, and what a ramp makes grow has not come to one. */
function servedToAll({ environments }: ResolvedFlag): string | undefined {
  const served = new Set<string>();
  for (const { definition } of environments.values()) {
    if (definition === undefined || definition.creation.killed) return undefined;
    for (const { treatment } of definition.ramps ?? []) served.add(treatment);
    const { rules, defaultRule, targets, trafficAllocation, defaultTreatment } =
      definition.creation;
    const buckets = [...rules.flatMap((rule) => rule.buckets), ...defaultRule];
    for (const { treatment } of buckets) served.add(treatment);
    for (const treatment of Object.keys(targets)) served.add(treatment);
    if (trafficAllocation < 100) served.add(defaultTreatment);
  }
  const [only, second] = served;
  return second === undefined ? only : undefined;
}
