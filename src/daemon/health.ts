import { FlagkeelError, messageOf, type ErrorCode } from '../errors.js';
import type { CommitView, SourceView, Phase, RunRecord, RunResult, Trouble } from './view.js';
import type { ChangeDocument, PlanDocument } from '../report/json/plan.js';
import { placeOf } from './standings.js';
import { FORCED_GUARDS, isNotLookedAt } from '../model/plan.js';
import type { Environment, Verdict as WrittenVerdict } from '../generated/status.schema.d.js';
import type { Frozen } from '../model/json.js';
import type { UnsignedCommit } from '../git/signatures.js';
import type { StandingName } from '../model/verdict.js';
import { firstOf, plural, shortSha } from '../report/values.js';
import { headlineText, STANDING_WORDS, whyText } from '../report/view/verdict.js';

/** Why a source is not ready, one clause each. A replica that waits for the lease is ready without a sync of its own. */
export function missingFor({ firstSync, leader, troubles }: SourceView): string[] {
  return [
    ...troubles.map(({ what, why }) => `${TROUBLES[what].clause}: ${why}`),
    ...(firstSync || !leader ? [] : ['no run has come to an end since the start']),
  ];
}

export function isReady(source: SourceView): boolean {
  return missingFor(source).length === 0;
}

/** How urgently a person is needed, least urgent first. */
export const LEVELS = ['fine', 'busy', 'attention', 'trouble'] as const satisfies readonly Level[];

export type Level = Verdict['level'];

export type Verdict = Readonly<WrittenVerdict>;

/** Counts of objects that differ in one environment, by the newest plan. */
export interface EnvironmentHealth extends Frozen<Omit<Environment, 'lastChange'>> {
  readonly lastChange: RunRecord | null;
}

export interface SourceHealth {
  readonly verdict: Verdict;
  /** In the order of application. The workspace level comes first if something differs or was written there. */
  readonly environments: readonly EnvironmentHealth[];
}

export function healthOf(source: SourceView): SourceHealth {
  const environments = environmentsOf(source);
  const verdict =
    troubleOf(source) ?? overrideOf(source) ?? progressOf(source) ?? standingOf(source);
  return { verdict, environments };
}

/** Lists every known difference: each plan covers everything that was not equal before. */
export function newestPlan({ runs }: SourceView): PlanDocument | null {
  return newestPlanned(runs)?.plan ?? null;
}

export function newestPlanned(runs: readonly RunRecord[]): RunRecord | undefined {
  return runs.find(({ plan }) => plan !== null);
}

/** Results after which a commit has done all that it may do now without a person. */
export const APPLIED: ReadonlySet<RunResult> = new Set(['in-sync', 'applied', 'waiting']);

/** The newest run that looked at everything: it alone lists objects that no file declares. */
export function newestFull({ runs }: SourceView): RunRecord | undefined {
  return runs.find(({ plan }) => plan?.observed === 'full');
}

/** The hash by which the newest plan can be approved, and why a client with another one has nothing to approve. */
export function heldBy(source: SourceView): { heldHash: string | null; why: string } {
  const plan = newestPlan(source);
  if (plan?.heldHash === undefined) {
    return { heldHash: null, why: 'no guard and no window holds anything back now' };
  }
  const forced = plan.guards?.find(({ guard }) => FORCED_GUARDS.has(guard));
  if (forced) {
    const why = `${forced.guard} lets nothing pass without reconcile --force --approve`;
    return { heldHash: null, why };
  }
  return { heldHash: plan.heldHash, why: `what is held back is ${plan.heldHash} now` };
}

/** Ids of the objects that an adoption would write over now. A run of a suspended source adopts none. */
export function adoptable(source: SourceView): readonly string[] {
  const held = source.suspended === null ? newestPlan(source)?.withheld : [];
  return (held ?? []).flatMap(({ id, why }) => (why === 'adopt-needed' ? [id] : []));
}

/** The newest commit, while it is not applied. */
export function notApplied({ seen, applied }: SourceView): CommitView | null {
  return seen?.commit === applied?.commit ? null : seen;
}

export function endMs({ startedAt, durationMs }: RunRecord): number {
  return Date.parse(startedAt) + durationMs;
}

export function isApplied({ outcome }: ChangeDocument): boolean {
  return outcome === 'applied';
}

export function isDrift({ reason }: Pick<ChangeDocument, 'reason'>): boolean {
  return reason === 'drift' || reason === 'conflict';
}

export function verdictOver(sources: readonly { name: string; verdict: Verdict }[]): Verdict {
  const [only] = sources;
  if (only === undefined) return { level: 'busy', headline: 'No source yet', detail: null };
  if (sources.length === 1) return only.verdict;
  const levels = new Set(sources.map(({ verdict }) => verdict.level));
  const level = LEVELS.findLast((each) => levels.has(each)) ?? 'fine';
  const such = sources.filter(({ verdict }) => verdict.level === level);
  const detail = such
    .map(({ name, verdict }) => {
      // The reason of a single source has the names of its objects.
      const why = such.length > 1 || !verdict.detail ? '' : `: ${verdict.detail}`;
      return `${name}: ${verdict.headline}${why}`;
    })
    .join('; ');
  if (level === 'fine') {
    const headline = `All ${String(sources.length)} sources are ${STANDING_WORDS.live}`;
    return { level, headline, detail: null };
  }
  const headline = `${String(such.length)} of ${plural(sources.length, 'source')} ${MANY[level]}`;
  return { level, headline, detail };
}

const MANY: Readonly<Record<Exclude<Level, 'fine'>, string>> = {
  busy: 'under way',
  attention: 'to look at',
  trouble: 'in trouble',
};

export const TROUBLES: Readonly<
  Record<Trouble['what'], { readonly headline: string; readonly clause: string }>
> = {
  checkout: {
    headline: 'The checkout is gone or cannot be read',
    clause: 'checkout gone or unreadable',
  },
  remote: { headline: 'The remote cannot be reached', clause: 'remote not reachable' },
  service: { headline: 'The service cannot be reached', clause: 'service not reachable' },
  'key-missing': {
    headline: 'There is no key for the service',
    clause: 'no key for the service',
  },
  'key-refused': { headline: 'The service refuses the key', clause: 'key refused by the service' },
  place: {
    headline: 'The service lacks the workspace or an environment',
    clause: 'workspace or environment missing',
  },
  database: { headline: 'The database cannot be reached', clause: 'database not reachable' },
};

/** `why` may contain text of the service. */
export type NewTrouble = Omit<Trouble, 'since'>;

const ACCESS: Partial<Record<ErrorCode, Trouble['what']>> = {
  UNREACHABLE: 'service',
  UNREADABLE: 'service',
  ORIGIN_NOT_ALLOWED: 'service',
  NO_KEY: 'key-missing',
  UNAUTHORISED: 'key-refused',
  NOT_ON_SERVICE: 'place',
};

export function accessTroubleOf(error: unknown): NewTrouble | undefined {
  const what = error instanceof FlagkeelError ? ACCESS[error.code] : undefined;
  return what && { what, why: messageOf(error) };
}

/** Equal for equal causes, whatever moments, counts and commits their texts have. */
export function causeOf(why: string): string {
  return why.replace(/\b[0-9a-f]{7,64}\b|\d+/g, '#');
}

export const RESULTS: Readonly<
  Record<
    RunResult,
    { readonly level: Level; readonly log: 'info' | 'warn' | 'error'; word: string }
  >
> = {
  'in-sync': { level: 'fine', log: 'info', word: STANDING_WORDS.live },
  applied: { level: 'fine', log: 'info', word: 'applied' },
  waiting: { level: 'attention', log: 'info', word: 'waiting' },
  held: { level: 'attention', log: 'warn', word: 'waiting for a person' },
  suspended: { level: 'attention', log: 'info', word: 'suspended' },
  degraded: { level: 'attention', log: 'warn', word: 'degraded' },
  interrupted: { level: 'attention', log: 'info', word: 'interrupted' },
  refused: { level: 'trouble', log: 'warn', word: 'refused' },
  invalid: { level: 'trouble', log: 'error', word: 'invalid' },
  partial: { level: 'trouble', log: 'error', word: 'partly applied' },
  failed: { level: 'trouble', log: 'error', word: 'failed' },
};

const FAILURES: Partial<Record<RunResult, string>> = {
  refused: 'Refused: nothing is written',
  invalid: 'The specs are invalid: nothing is written',
  partial: 'Some changes failed',
  failed: 'The last run failed',
};

function troubleOf({ troubles, runs: [newest], standings }: SourceView): Verdict | undefined {
  const [trouble] = troubles;
  if (trouble !== undefined) {
    return { level: 'trouble', headline: TROUBLES[trouble.what].headline, detail: trouble.why };
  }
  const headline = newest && FAILURES[newest.result];
  if (newest === undefined || headline === undefined) return undefined;
  // The summary of a run that wrote nothing or a part counts objects and does not name them.
  const named = newest.plan === null ? null : namedText(standings);
  return { level: 'trouble', headline, detail: named ?? newest.summary };
}

function overrideOf(source: SourceView): Verdict | undefined {
  const { suspended, pinned, unsigned, seen, runs } = source;
  const level = 'attention';
  if (suspended !== null) {
    const headline = 'Suspended: nothing but kills is written';
    return { level, headline, detail: suspended.reason };
  }
  if (pinned !== null) {
    return { level, headline: `Pinned to ${shortSha(pinned.commit)}`, detail: pinned.reason };
  }
  if (unsigned !== null) return { level, ...unsignedVerdict(unsigned, seen) };
  if (runs[0]?.result === 'interrupted') {
    return { level, headline: 'The last run was interrupted', detail: runs[0].summary };
  }
  return undefined;
}

export function unsignedVerdict(
  { commit, committer, why }: UnsignedCommit,
  seen: SourceView['seen'],
): { readonly headline: string; readonly detail: string } {
  const enforced = seen === null ? '' : `; ${shortSha(seen.commit)} stays enforced`;
  return {
    headline: `${shortSha(commit)} is not signed: it is not applied`,
    detail: `${committer} committed it: ${why}${enforced}`,
  };
}

const BUSY: ReadonlySet<Phase> = new Set(['debouncing', 'running', 'queued', 'backing-off']);

function progressOf(source: SourceView): Verdict | undefined {
  const { runs, phase, leader } = source;
  if (runs.length === 0) {
    const headline = leader ? 'The first run is under way' : 'Another replica keeps this source';
    return { level: 'busy', headline, detail: null };
  }
  const next = notApplied(source);
  // The phase is that of this replica. Where another one leads, a commit without a run is ahead.
  const isUnderWay = BUSY.has(phase) || (!leader && runs[0]?.commit !== next?.commit);
  if (next !== null && isUnderWay) {
    const headline = `${shortSha(next.commit)} is being applied`;
    return { level: 'busy', headline, detail: next.subject };
  }
  const { notCompared = [] } = newestPlanned(runs)?.plan ?? {};
  const owed = notCompared.filter(isNotLookedAt);
  if (owed.length === 0) return undefined;
  const headline = `${plural(owed.length, 'definition')} not looked at since an interrupted run`;
  return { level: 'busy', headline, detail: null };
}

export const LEVEL_OF: Readonly<Record<StandingName, Level>> = {
  live: 'fine',
  waits: 'attention',
  held: 'attention',
  unknown: 'attention',
  failed: 'trouble',
};

const MAX_NAMED = 3;

function standingOf(source: SourceView): Verdict {
  const { standings } = source;
  if (standings === null) {
    return { level: 'busy', headline: 'No run has made a plan yet', detail: null };
  }
  const level = LEVEL_OF[standings.whole];
  const errors = specErrors(source);
  // A list of kills is wrong without an object that is: which flags it kills is unknown.
  if (level === 'fine' && errors.length > 0) {
    const detail = fewOf(errors, ({ file, line, message }) => `${file}:${String(line)} ${message}`);
    return { level: 'attention', headline: 'Part of the specs is invalid', detail };
  }
  return { level, headline: headlineText(standings), detail: namedText(standings) };
}

function specErrors({ runs: [newest] }: SourceView): NonNullable<RunRecord['diagnostics']> {
  return newest?.diagnostics?.filter(({ severity }) => severity === 'error') ?? [];
}

function namedText(standings: SourceView['standings']): string | null {
  const { whole, objects } = standings ?? { whole: 'live', objects: [] };
  const worst = objects.filter(({ standing }) => standing.is === whole);
  return fewOf(worst, ({ id, standing }) => `${id} ${whyText(standing)}`) || null;
}

function fewOf<T>(all: readonly T[], show: (each: T) => string): string {
  return firstOf(all, MAX_NAMED, show, (more) => `and ${String(more)} more`).join('; ');
}

/** Start of the run that the figures come from; null while they are current or no run has planned yet. */
function staleSince({ runs, troubles }: SourceView): string | null {
  const known = newestPlanned(runs);
  if (known === undefined) return null;
  const isCut = troubles.some(({ what }) => what !== 'database');
  return isCut || runs[0] !== known ? known.startedAt : null;
}

function environmentsOf(source: SourceView): EnvironmentHealth[] {
  const plan = newestPlan(source);
  const named = plan === null ? [] : [...plan.changes, ...plan.withheld];
  const asOf = staleSince(source);
  const invalid = specErrors(source).length > 0;
  const order = new Set([null, ...source.environments, ...named.map((each) => each.environment)]);
  return [...order]
    .map((name) => ({ ...environmentOf(name, plan, source), invalid, asOf }))
    .filter(({ name, failed, waiting, drift, withheld, lastChange, standing }) => {
      const isOpen = failed + waiting + drift + withheld > 0 || (standing ?? 'live') !== 'live';
      return name !== null || isOpen || lastChange !== null;
    });
}

function environmentOf(
  name: string | null,
  plan: PlanDocument | null,
  { runs, liveKills, standings }: SourceView,
): Omit<EnvironmentHealth, 'asOf' | 'invalid'> {
  const isHere = ({ environment }: ChangeDocument): boolean => environment === name;
  const open = plan?.changes.filter(isHere).filter((change) => !isApplied(change)) ?? [];
  const withheld = plan?.withheld.filter(isHere).filter(({ why }) => why !== 'immutable') ?? [];
  const drifted = [...open, ...withheld].filter(isDrift);
  const place = standings?.environments.find((each) => each.name === name);
  return {
    name,
    failed: open.filter(({ outcome }) => outcome === 'failed').length,
    waiting: open.filter(({ outcome }) => outcome !== 'failed').length,
    drift: new Set(drifted.map(({ id }) => id)).size,
    withheld: withheld.length,
    liveKills: liveKills.filter(({ id }) => placeOf(id) === name).length,
    lastChange:
      runs.find((run) => run.plan?.changes.some((each) => isHere(each) && isApplied(each))) ?? null,
    standing: place?.whole ?? null,
    counts: place?.counts ?? null,
  };
}
