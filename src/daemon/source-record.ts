import type { CycleEnd } from './cycle.js';
import type { CommitView, Hold, RunRecord, RunResult, SourceView, Trouble } from './view.js';

const MAX_RUNS = 100;

/** Results after which the service is as git says, or as near as it may be. */
const SYNCED: readonly RunResult[] = ['in-sync', 'applied', 'degraded', 'suspended'];

/** What is known of a source: its commits, its last runs, its troubles. */
export class SourceRecord {
  readonly #now: () => number;
  readonly #troubles = new Map<Trouble['what'], Trouble>();
  #runs: readonly RunRecord[] = [];
  #seen: CommitView | null = null;
  #applied: CommitView | null = null;
  #service: string | null = null;
  #workspace: string | null = null;
  #environments: readonly string[] = [];
  #firstSync = false;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  view(): Pick<
    SourceView,
    | 'service'
    | 'workspace'
    | 'environments'
    | 'seen'
    | 'applied'
    | 'runs'
    | 'troubles'
    | 'firstSync'
  > {
    return {
      service: this.#service,
      workspace: this.#workspace,
      environments: this.#environments,
      seen: this.#seen,
      applied: this.#applied,
      runs: this.#runs,
      troubles: [...this.#troubles.values()],
      firstSync: this.#firstSync,
    };
  }

  /** `suspend: true` of the config, as the last run that came to a plan has seen it. */
  get suspendedByGit(): Hold | null {
    const last = this.#runs.find(({ plan }) => plan !== null);
    if (last?.result !== 'suspended') return null;
    return { reason: '`suspend: true` in flaghoist.yaml', until: null };
  }

  seen(commit: CommitView): void {
    this.#seen = commit;
  }

  why(what: Trouble['what']): string | null {
    return this.#troubles.get(what)?.why ?? null;
  }

  /** @param why null: there is none, or none any more. */
  trouble(what: Trouble['what'], why: string | null): { isNews: boolean } {
    const before = this.#troubles.get(what);
    if (why === null) return { isNews: this.#troubles.delete(what) };
    const since = before?.since ?? new Date(this.#now()).toISOString();
    this.#troubles.set(what, { what, why, since });
    return { isNews: before?.why !== why };
  }

  ended(
    run: RunRecord,
    commit: CommitView | null,
    { serviceTrouble, environments }: Pick<CycleEnd, 'serviceTrouble' | 'environments'>,
  ): void {
    this.#runs = [run, ...this.#runs].slice(0, MAX_RUNS);
    if (serviceTrouble !== undefined) this.trouble('service', serviceTrouble);
    if (environments !== undefined) this.#environments = environments;
    if (run.plan !== null) {
      this.#service = run.plan.origin;
      this.#workspace = run.plan.workspace.name;
    }
    if (SYNCED.includes(run.result)) this.#firstSync = true;
    if (run.result === 'in-sync' || run.result === 'applied') this.#applied = commit;
  }
}
