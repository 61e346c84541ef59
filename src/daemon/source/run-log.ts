import { FlagkeelError } from '../../errors.js';
import { byCodeUnits } from '../../model/json.js';
import { isAmong } from '../../model/ref.js';
import { SUSPENDED_BY_CONFIG } from '../../model/run.js';
import type { UnsignedCommit } from '../../git/signatures.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import type { Log } from '../../platform/log.js';
import { clean } from '../../report/sanitize.js';
import { APPLIED, causeOf, endMs, newestPlanned, RESULTS, type NewTrouble } from '../health.js';
import { ObjectStandings, standingsUnder, type Doubt } from '../standings.js';
import { observationFor, type CycleEnd } from './cycle.js';
import type { SharedRun } from './leadership.js';
import { withSeen } from './live-flags.js';
import type {
  RunRecord,
  RunResult,
  CommitView,
  LiveKillView,
  Override,
  SourceView,
  Trouble,
} from '../view.js';

/** Reports a repeated failure in full only once. */
export class RunLog {
  readonly #log: Log;
  #told = '';
  #unsigned: string | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The newest commit of the source, if no allowed signer signed it: names each such commit once. */
  unsigned(found: UnsignedCommit | null): void {
    if (found !== null && found.commit !== this.#unsigned) {
      const { commit: revision, committer, why } = found;
      const facts = { revision, committer: clean(committer), why: clean(why) };
      this.#log.warn(facts, 'no allowed signer signed the newest commit: it is not applied');
    }
    this.#unsigned = found?.commit ?? null;
  }

  ended(record: RunRecord, end: CycleEnd): void {
    const log = this.#log.child({ run: record.id, revision: record.commit });
    const level = RESULTS[record.result].log;
    const misfortune = level === 'info' ? '' : misfortuneOf(record, end);
    const isTold = misfortune !== '' && misfortune === this.#told;
    if (record.result !== 'interrupted') this.#told = misfortune;
    if (!isTold) details(log, record, end);
    const { result, durationMs, requests, triggers } = record;
    const trouble = end.accessTrouble && { what: end.accessTrouble.what };
    const summary = clean(record.summary);
    const facts = { result, durationMs, requests, triggers, summary, ...trouble };
    if (isTold) log.info({ ...facts, again: true }, 'run ended as the one before');
    else log[level](facts, 'run ended');
  }
}

/** Invalid specs count as the same failure, whatever else the run did. */
function misfortuneOf({ result, plan, text }: RunRecord, { diagnostics = [] }: CycleEnd): string {
  const found = diagnostics.map(({ code, location, message }) => [code, location, message]);
  const cause = plan === null ? causeOf(text) : text;
  return JSON.stringify([result, found.length > 0 ? found : cause]);
}

function details(log: Log, { plan }: RunRecord, { diagnostics = [], error }: CycleEnd): void {
  for (const { id, action, reason, outcome, error: failed } of plan?.changes ?? []) {
    if (!failed) continue;
    const facts = { object: clean(id), action, reason, outcome, code: failed.code };
    log.error({ ...facts, why: clean(failed.message) }, 'change failed');
  }
  for (const { severity, code, location, message } of diagnostics) {
    const { file, line, column } = location;
    const facts = { file: clean(file), line, column, code, message: clean(message) };
    log[severity === 'error' ? 'error' : 'warn'](facts, 'diagnostic');
  }
  for (const { id, why, wayOut } of plan?.withheld ?? []) {
    log.debug({ object: clean(id), why, wayOut }, 'withheld');
  }
  // Bugs are logged with their stack; other errors are sentences and are part of the summary.
  if (error !== undefined && !(error instanceof FlagkeelError)) log.error({ error }, 'bug');
}

const MOST_DETAILS = 50;

export function recordedEnd(end: CycleEnd) {
  const { result, exitCode, summary, text, plan, requests, open } = end;
  const { diagnostics = [], kills = [], unmanaged } = end;
  const shown = diagnostics.slice(0, MOST_DETAILS).map(({ severity, code, location, message }) => {
    return { severity, code, ...location, message };
  });
  return {
    result,
    exitCode,
    summary,
    text,
    plan,
    requests,
    ...(shown.length > 0 && { diagnostics: shown }),
    ...(kills.length > 0 && { kills: kills.slice(0, MOST_DETAILS) }),
    ...(open && { open }),
    ...(unmanaged && {
      unmanaged: {
        flags: unmanaged.flags.slice(0, MOST_DETAILS),
        segments: unmanaged.segments.slice(0, MOST_DETAILS),
      },
    }),
  };
}

const MAX_RUNS = 100;

/** Results of runs that did not come to an end. */
const CUT: ReadonlySet<RunResult> = new Set(['failed', 'interrupted']);

/** Failures in a row after which nothing that was known counts any more. */
const MAX_FAILURES = 3;
/** Full looks in a row that came to no end, after which nothing that was known counts any more. */
const MAX_MISSED = 2;
const MAX_CAUSES = 10;

const NOTHING_KNOWN = {
  service: null,
  workspace: null,
  seen: null,
  applied: null,
  appliedAt: null,
  environments: [],
  flags: [],
  liveKills: [],
  runs: [],
  confirmed: null,
  firstSync: false,
};

type Known = Pick<SourceView, keyof typeof NOTHING_KNOWN>;

const DOUBTS: Partial<Record<Trouble['what'], Doubt['why']>> = {
  checkout: 'checkout-away',
  remote: 'remote-away',
  service: 'service-away',
  'key-missing': 'key-missing',
  'key-refused': 'key-refused',
  place: 'place-missing',
};

/** Each has one trouble at most. */
type Part = 'source' | 'service' | 'database';

/** The commits of a source, its last runs, its troubles. */
export class SourceRecord {
  readonly #now: () => number;
  /** The oldest first. Runs and confirmations meet different causes of one trouble in turn. */
  readonly #troubles = new Map<Part, Trouble & { failures: number; causes: Map<string, true> }>();
  #known: Known = NOTHING_KNOWN;
  #isSuspendedByConfig = false;
  readonly #standings = new ObjectStandings();
  #polled: string | null = null;
  #missedLooks = 0;
  /** The newest leader of whose runs one is known, and the number of runs since then. */
  #newest = { term: 0, runs: 0 };

  constructor(now: () => number) {
    this.#now = now;
  }

  view(): Known & Pick<SourceView, 'troubles' | 'standings'> {
    const standings = this.#standings.view(this.#known.environments);
    return {
      ...this.#known,
      troubles: [...this.#troubles.values()].map(({ what, why, since }) => ({ what, why, since })),
      standings: standings && standingsUnder(standings, this.#doubt(standings.lookedAt)),
    };
  }

  #doubt(lookedAt: string | null): Doubt | null {
    const answered = { service: this.#known.confirmed, source: this.#polled };
    for (const part of ['service', 'source'] as const) {
      const { what, failures = 0 } = this.#troubles.get(part) ?? {};
      const why = what && DOUBTS[what];
      if (why && failures >= MAX_FAILURES) return { why, since: answered[part] };
    }
    return this.#missedLooks < MAX_MISSED ? null : { why: 'not-confirmed', since: lookedAt };
  }

  /** `suspend: true` in the config, as the last run with a plan saw it. */
  get suspendedByGit(): Override | null {
    return this.#isSuspendedByConfig ? SUSPENDED_BY_CONFIG : null;
  }

  /** Whether the newest plan is of this commit, so that a person's confirmation of that plan still holds. */
  isOfNewestPlan(commit: string | null): boolean {
    return newestPlanned(this.#known.runs)?.commit === commit;
  }

  seen(commit: CommitView): void {
    this.#known = { ...this.#known, seen: commit };
  }

  why(part: Part): string | null {
    return this.#troubles.get(part)?.why ?? null;
  }

  /** @param trouble null if the part has answered. @returns whether that is news. */
  note(part: Part, trouble: NewTrouble | null): boolean {
    const before = this.#troubles.get(part);
    const now = new Date(this.#now()).toISOString();
    if (trouble === null) {
      if (part === 'source') this.#polled = now;
      if (part === 'service') this.#known = { ...this.#known, confirmed: now };
      return this.#troubles.delete(part);
    }
    const isSame = before?.what === trouble.what;
    if (!isSame) this.#troubles.delete(part);
    const since = isSame ? before.since : now;
    const causes = isSame ? before.causes : new BoundedMap<string, true>(MAX_CAUSES);
    const cause = causeOf(trouble.why);
    const isNews = !causes.has(cause);
    causes.set(cause, true);
    this.#troubles.set(part, { ...trouble, since, causes, failures: (before?.failures ?? 0) + 1 });
    return isNews;
  }

  /** @returns false for a run of an earlier leader: it came late, so that its facts are old by now. */
  ended(
    run: RunRecord,
    commit: CommitView | null,
    found: Omit<SharedRun, 'run' | 'at'> & Pick<CycleEnd, 'accessTrouble' | 'judged'>,
  ): boolean {
    const { term = 0 } = found;
    const newest = this.#newest;
    if (term !== 0 && term < newest.term) {
      const runs = this.#known.runs.toSpliced(newest.runs, 0, run).slice(0, MAX_RUNS);
      this.#known = { ...this.#known, runs };
      return false;
    }
    this.#newest = term > newest.term ? { term, runs: 1 } : { ...newest, runs: newest.runs + 1 };
    const { accessTrouble, judged, standings, environments, flags, suspendedByConfig } = found;
    if (accessTrouble !== undefined) this.note('service', accessTrouble);
    if (standings !== undefined) this.#standings.share(standings);
    if (judged !== undefined) this.#standings.add(judged.verdict, judged.plan, run.startedAt);
    if (run.plan?.observed === 'full') this.#missedLooks = 0;
    else if (run.plan === null && observationFor(run.triggers) === 'full') this.#missedLooks += 1;
    if (suspendedByConfig !== undefined) this.#isSuspendedByConfig = suspendedByConfig;
    const before = this.#known;
    const { plan, startedAt: seenAt } = run;
    const invalid = new Set(plan?.held);
    const isNewCommit = before.appliedAt === null || commit?.commit !== before.applied?.commit;
    this.#known = {
      ...before,
      runs: [run, ...before.runs].slice(0, MAX_RUNS),
      ...(environments && { environments }),
      ...(flags && { flags: withSeen(before.flags, flags, { seenAt, invalid }) }),
      ...(plan && {
        service: plan.origin,
        workspace: plan.workspace.name,
        liveKills: liveKillsWith(plan.liveKills ?? [], before.liveKills, invalid),
      }),
      firstSync: before.firstSync || !CUT.has(run.result),
      ...(APPLIED.has(run.result) && {
        applied: commit,
        ...(isNewCommit && { appliedAt: new Date(endMs(run)).toISOString() }),
      }),
    };
    return true;
  }
}

/** The live kills of a plan, and those that were known of flags whose files are invalid, which no plan looks at. */
function liveKillsWith(
  found: readonly LiveKillView[],
  known: readonly LiveKillView[],
  invalid: ReadonlySet<string>,
): readonly LiveKillView[] {
  const kept = known
    .filter(({ id }) => isAmong(invalid, id))
    .map((kill) => ({ ...kill, invalid: true as const }));
  return [...found, ...kept].sort((a, b) => byCodeUnits(a.id, b.id));
}
