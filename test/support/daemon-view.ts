import { EventEmitter } from 'node:events';
import type {
  DaemonControls,
  DaemonEvents,
  DaemonView,
  RunBegin,
  RunRecord,
  SourceView,
} from '../../src/daemon/view.js';
import { ObjectStandings, type StandingsView } from '../../src/daemon/standings.js';
import type { RampStanding } from '../../src/model/flag/ramp.js';
import type { Outcome } from '../../src/model/outcome.js';
import { planDocument } from '../../src/report/json/plan.js';
import type { PlanReport } from '../../src/report/plan-report.js';
import { planText, summaryLine } from '../../src/report/text/plan.js';
import { openRows, planView } from '../../src/report/view/plan-view.js';
import { aReport, COMMIT, judged } from './plan-builder.js';

/** A minute past which nothing moves, for pages whose times a test compares. */
export const NOW = Date.parse('2026-10-03T14:05:00Z');

export const minutesAgo = (minutes: number): string =>
  new Date(NOW - minutes * 60_000).toISOString();

export const APPLIED: Outcome = { status: 'applied' };

const VIEW = { showKeys: false, verbose: true };

const REPORTS = new WeakMap<object, PlanReport>();

let nextRun = 1;

/** A run as the daemon would keep it after this report; in sync where the report is empty. */
export function aRun(report: PlanReport | null, members: Partial<RunRecord> = {}): RunRecord {
  const id = `run-${String(nextRun).padStart(4, '0')}`;
  nextRun += 1;
  const layout = { color: false, width: 100, showKeys: false };
  const isBusy = report !== null && report.plan.changes.length > 0;
  const plan = report === null ? null : planDocument(report);
  if (report && plan) REPORTS.set(plan, report);
  return {
    id,
    triggers: ['commit'],
    startedAt: minutesAgo(2),
    durationMs: 1_240,
    result: isBusy ? 'applied' : 'in-sync',
    exitCode: 0,
    commit: COMMIT,
    subject: 'Ramp checkout to 25 %',
    summary: report === null ? '' : summaryLine(report),
    text: report === null ? '' : planText(report, layout),
    plan,
    ...(report !== null && { open: openRows(report, planView(report, VIEW)) }),
    requests: 12,
    ...members,
  };
}

/** Every change of the report as one that succeeded. */
export function appliedReport(report: PlanReport): PlanReport {
  const outcomes = new Map(report.plan.changes.map(({ id }) => [id, APPLIED]));
  return judged({ ...report, outcomes, converged: true });
}

const HEAD = { commit: COMMIT, subject: 'Ramp checkout to 25 %', committedAt: minutesAgo(3) };

/** What a source knows of its objects after these runs, the newest first. */
export function standingsAfter(runs: readonly RunRecord[]): StandingsView | null {
  const known = new ObjectStandings();
  for (const { plan, startedAt } of runs.toReversed()) {
    const report = plan && REPORTS.get(plan);
    if (!report) continue;
    known.add(judged(report).verdict, { ...report.plan, observed: 'full' }, startedAt);
  }
  return known.view(['production', 'staging']);
}

/** In sync since two minutes ago. */
export function aSource(members: Partial<SourceView> = {}): SourceView {
  const runs = members.runs ?? [aRun(aReport())];
  return {
    standings: standingsAfter(runs),
    confirmed: minutesAgo(1),
    name: 'shop-flags',
    location: 'https://git.example.com/shop/flags.git',
    branch: 'main',
    phase: 'idle',
    progress: null,
    service: 'https://admin.example.com',
    workspace: 'Default',
    environments: ['production', 'staging'],
    flags: [],
    seen: HEAD,
    applied: HEAD,
    appliedAt: minutesAgo(2),
    liveKills: runs.find(({ plan }) => plan !== null)?.plan?.liveKills ?? [],
    runs,
    unsigned: null,
    suspended: null,
    pinned: null,
    approved: null,
    troubles: [],
    firstSync: true,
    nextSchedule: minutesAgo(-10),
    nextRetry: null,
    nextDue: null,
    leader: true,
    ...members,
  };
}

/** The ramp of a flag, as the report of a run has it. */
export function aRampStanding(id: string, held: string | null): RampStanding {
  const steps = [{ percent: 5, dueMs: null, due: null, dueText: null }];
  return { id, rule: null, treatment: 'on', step: 0, served: 5, steps, held };
}

/** A source whose only run had this report. */
export function sourceAfter(
  plan: Parameters<typeof aReport>[0],
  members?: Parameters<typeof aReport>[1],
  run?: Partial<RunRecord>,
): SourceView {
  return aSource({ runs: [aRun(aReport(plan, members), run)] });
}

/** A daemon in memory: it shows what it is told to, and remembers what was asked of it. */
export class DaemonInMemory implements DaemonView, DaemonControls {
  readonly version = '0.1.0';
  readonly startedAt = minutesAgo(600);
  /** `trigger shop-flags webhook`, one line for each call. */
  readonly asked: string[] = [];
  readonly events = new EventEmitter<DaemonEvents>();
  #sources: readonly SourceView[];

  constructor(...sources: readonly SourceView[]) {
    this.#sources = sources;
  }

  readonly sources = (): readonly SourceView[] => this.#sources;

  /** Another state of the source of that name, or a further one. */
  show(source: SourceView): void {
    const others = this.#sources.filter(({ name }) => name !== source.name);
    this.#sources =
      others.length === this.#sources.length
        ? [...this.#sources, source]
        : this.#sources.map((each) => (each.name === source.name ? source : each));
    this.events.emit('change');
  }

  /** The beginning of a run, of the first source. */
  begin(run: RunBegin): void {
    const [source] = this.#sources;
    if (source === undefined) throw new Error('no source');
    this.events.emit('begin', source, run);
  }

  /** The end of a run, as its source then stands. */
  end(run: RunRecord, name = this.#sources[0]?.name): SourceView {
    const before = this.#sources.find((source) => source.name === name);
    if (before === undefined) throw new Error(`no source ${String(name)}`);
    const runs = [run, ...before.runs].slice(0, 100);
    const source = { ...before, runs, standings: standingsAfter(runs) };
    this.show(source);
    this.events.emit('end', source, run);
    return source;
  }

  /** Of changes, beginnings and ends together. */
  get listeners(): number {
    const names = ['change', 'begin', 'end'] as const;
    return names.reduce((sum, name) => sum + this.events.listenerCount(name), 0);
  }

  readonly trigger: DaemonControls['trigger'] = (source, trigger) => {
    this.asked.push(`trigger ${source ?? 'all'} ${trigger}`);
  };

  readonly override: DaemonControls['override'] = (source, { suspension, pin, approval }) => {
    const whom = source ?? 'all';
    if (suspension === null) this.asked.push(`resume ${whom}`);
    if (suspension)
      this.asked.push(`suspend ${whom} until ${suspension.until}: ${suspension.reason}`);
    if (pin === null) this.asked.push(`unpin ${whom}`);
    if (pin) this.asked.push(`pin ${whom} to ${pin.commit} until ${pin.until}: ${pin.reason}`);
    if (approval) {
      const { hash, by, until, reason } = approval;
      this.asked.push(`approve ${whom} ${hash} by ${by} until ${until}: ${reason}`);
    }
  };
}
