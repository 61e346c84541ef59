import { present } from '../model/collections.js';
import { isKillListed } from '../plan/kills/orders.js';
import type { SpecParts } from '../specs/read-specs.js';
import type { ResolvedFlag } from '../specs/resolve/flags.js';
import { DAY_MS, type FileAge, type LintedRepository, type Report } from './rule.js';

export interface AgedFlag {
  readonly flag: ResolvedFlag;
  /** Unset if no commit has its files. */
  readonly age?: FileAge;
  /** Days since a commit touched one of its files; unset if none did. */
  readonly quietDays?: number;
  /** The treatment that all keys get in every environment of the flag; unset if there is no such treatment. */
  readonly servedToAll?: string;
  /** UTC day of the newest traffic in any environment; null before the first. Unset if the traffic is unknown. */
  readonly lastTraffic?: string | null;
  /**
   * - `expired`: its day is past;
   * - `settled`: all keys get the same treatment, and have for long;
   * - `unused`: it has had no traffic for long;
   * - `unread`: no code names it, and no commit has touched it for long.
   */
  readonly why: readonly ('expired' | 'settled' | 'unused' | 'unread')[];
}

/** Beside their files; each set only if it was looked at. */
export interface FlagUse {
  /** Names that no code has. */
  readonly unread?: ReadonlySet<string>;
  /** UTC day of the newest traffic by flag; null before the first traffic. Of a flag without an entry it is unknown. */
  readonly traffic?: ReadonlyMap<string, string | null>;
}

interface StaleBounds extends FlagUse {
  /** UTC day, `YYYY-MM-DD`. */
  readonly today: string;
  /** The limit for "long". */
  readonly days: number;
}

/** If no commit touched the files of a flag for some days, it served the same. Flags without an age are judged by expiry only. */
export function agedFlags(
  parts: Pick<SpecParts, 'flags' | 'kills'>,
  ages: ReadonlyMap<string, FileAge>,
  { today, days, unread, traffic }: StaleBounds,
): AgedFlag[] {
  const daysSince = (day: string): number => (Date.parse(today) - Date.parse(day)) / DAY_MS;
  return parts.flags.map((flag) => {
    const age = ageOf(flag, ages);
    const served = servedToAll(flag, parts);
    const quietDays = age && daysSince(age.changedOn);
    const { expires } = flag.spec;
    const isQuiet = quietDays !== undefined && quietDays >= days;
    const lastTraffic = traffic?.get(flag.name);
    const hasTraffic = lastTraffic != null && daysSince(lastTraffic) < days;
    const why: AgedFlag['why'] = [
      ...(expires !== undefined && expires < today ? (['expired'] as const) : []),
      ...(isQuiet && served !== undefined ? (['settled'] as const) : []),
      ...(isQuiet && lastTraffic !== undefined && !hasTraffic ? (['unused'] as const) : []),
      ...(isQuiet && unread?.has(flag.name) === true ? (['unread'] as const) : []),
    ];
    return { flag, why, ...present({ lastTraffic, age, quietDays, servedToAll: served }) };
  });
}

/** Some kinds of flags may stay on for all keys for ever. */
export function staleRollouts(repository: LintedRepository, report: Report): void {
  const { settings, ages, today } = repository;
  const { staleAfter: days, fullRollout: lasting = [] } = settings;
  if (days === undefined) return;
  const flags = agedFlags(repository, ages, { today, days });
  for (const { flag, why, servedToAll = '', quietDays = 0 } of flags) {
    if (!why.includes('settled') || lasting.includes(flag.spec.kind ?? '')) continue;
    const message = `everybody gets "${servedToAll}" everywhere, and has for ${quietDays} days at least`;
    report({ file: flag.file, path: ['flag'] }, message);
  }
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

/** Counts every rule and target. A kill does not end a rollout, a growing ramp has not ended, and what people own is unknown. */
function servedToAll(flag: ResolvedFlag, parts: Pick<SpecParts, 'kills'>): string | undefined {
  const { name, environments } = flag;
  const served = new Set<string>();
  for (const [environment, { definition }] of environments) {
    if (definition === undefined) return undefined;
    const { killed, defaultTreatment } = definition.creation;
    const { rules, defaultRule, targets, trafficAllocation } = definition.fields;
    const isOwned = !rules || !defaultRule || !targets || trafficAllocation === undefined;
    if (isOwned || killed || isKillListed(parts, name, environment)) return undefined;
    for (const { treatment } of definition.ramps ?? []) served.add(treatment);
    const buckets = [...rules.flatMap((rule) => rule.buckets), ...defaultRule];
    for (const { treatment } of buckets) served.add(treatment);
    for (const treatment of Object.keys(targets)) served.add(treatment);
    if (trafficAllocation < 100) served.add(defaultTreatment);
  }
  const [only, second] = served;
  return second === undefined ? only : undefined;
}
