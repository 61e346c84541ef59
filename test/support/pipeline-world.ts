import { onTestFinished } from 'vitest';
import { openRun, type Run, type RunFlags } from '../../src/compose/run.js';
import { operatorSettings } from '../../src/compose/settings.js';
import {
  RunCache,
  type Applied,
  type Planned,
  type RunContext,
} from '../../src/reconcile/context.js';
import type { ApplyOptions } from '../../src/reconcile/apply.js';
import { plan, reconcile } from '../../src/reconcile/reconcile.js';
import { reportOf } from '../../src/reconcile/result.js';
import type { PlanReport } from '../../src/report/plan-report.js';
import { planText } from '../../src/report/text/plan.js';
import type { ServiceOptions } from '../../src/service/service.js';
import { makeRepository, type Files, type TestRepository } from './git.js';
import { liveWorkspace, type LiveWorkspace } from './live-workspace.js';
import { startTestService, type RecordedRequest, type TestService } from './service.js';
import { SimulatedTime } from './simulated-time.js';
import { cliRun, type CliRun } from './terminal.js';

/** Flags of a run, and what runs before it left behind. */
export type RunSettings = Partial<RunFlags> & {
  readonly memory?: RunCache;
  /** Interrupts the run. */
  readonly signal?: AbortSignal;
};

/** A git repository of specs and a real service, and runs of the pipeline between them in this process. */
export interface PipelineWorld {
  readonly repository: TestRepository;
  readonly service: TestService;
  readonly live: LiveWorkspace;
  /** A dry run. */
  planned(settings?: RunSettings): Promise<Planned>;
  /** What a run of this world reports. */
  reportOf(result: Planned | Applied): PlanReport;
  /** What a dry run reports. */
  reported(settings?: RunSettings): Promise<PlanReport>;
  /**
   * A run that may write; by a clock that does not wait.
   *
   * @param change what the run works with instead.
   */
  reconciled(
    settings?: RunSettings,
    options?: Partial<ApplyOptions>,
    change?: (context: RunContext) => Partial<RunContext>,
  ): Promise<Planned | Applied>;
  /** The same, where no guard stands against it. */
  applied(...run: Parameters<PipelineWorld['reconciled']>): Promise<Applied>;
  /** A command over the repository and the service. */
  command(...words: readonly string[]): Promise<CliRun>;
  /** What a run works with; it is closed after the test. */
  opened(settings?: RunSettings): Promise<Run>;
  /** Requests that write, as `METHOD last/parts`, in the order in which they ended; of all since the last call. */
  writes(): readonly RecordedRequest[];
}

/**
 * Everything is taken down after the test.
 *
 * @param other a world whose service this one has too; its repository is another.
 * @param options of a service of its own.
 * @param environment variables of the operator.
 */
export async function pipelineWorld(
  other?: PipelineWorld,
  options: Partial<ServiceOptions> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<PipelineWorld> {
  const repository = makeRepository();
  const service = other?.service ?? (await startTestService(options));
  if (!other) {
    onTestFinished(async () => {
      service.release();
      await service.stop();
    });
  }
  const open = async ({
    memory = new RunCache(),
    signal = new AbortController().signal,
    ...flags
  }: RunSettings): Promise<Run> =>
    openRun(
      repository.directory,
      { environment: [], only: [], lockTimeout: 0, url: service.origin, ...flags },
      {
        settings: operatorSettings({ FLAGKEEL_API_KEY: service.key, ...environment }),
        signal,
        note: () => undefined,
        memory,
      },
    );
  const contexts = new WeakMap<Planned | Applied, RunContext>();
  const noted = <Result extends Planned | Applied>(context: RunContext, result: Result): Result => {
    contexts.set(result, context);
    return result;
  };
  const reconciled: PipelineWorld['reconciled'] = async (settings = {}, options = {}, change) => {
    await using run = await open(settings);
    const time = new SimulatedTime();
    const context = { ...run.context, ...change?.(run.context) };
    const work = reconcile(context, {
      openWriter: run.openWriter,
      now: () => time.now(),
      signal: settings.signal ?? new AbortController().signal,
      time,
      progress: {},
      note: {},
      onKill: () => undefined,
      ...options,
    });
    return noted(context, await time.runUntil(work, () => service.requests.length));
  };
  const planned: PipelineWorld['planned'] = async (settings = {}) => {
    await using run = await open({ dryRun: true, ...settings });
    return noted(run.context, await plan(run.context));
  };
  const resultReport = (result: Planned | Applied): PlanReport => {
    const context = contexts.get(result);
    if (!context) throw new Error('no run of this world had that result');
    return reportOf(result, { context });
  };
  return {
    repository,
    service,
    live: await liveWorkspace(service),
    reconciled,
    planned,
    reportOf: resultReport,
    reported: async (settings) => resultReport(await planned(settings)),
    applied: async (...asked) => {
      const result = await reconciled(...asked);
      if ('outcomes' in result) return result;
      throw new Error(`a guard stood against it: ${JSON.stringify(result.guardFindings)}`);
    },
    command: async (...words) =>
      cliRun([...words, repository.directory, '--url', service.origin], {
        FLAGKEEL_API_KEY: service.key,
      }),
    opened: async (settings = {}) => {
      const run = await open(settings);
      onTestFinished(async () => run[Symbol.asyncDispose]());
      return run;
    },
    writes: () => service.requests.splice(0).filter(({ method }) => method !== 'GET'),
  };
}

/**
 * A world whose first commit was applied, and whose writes of that are forgotten.
 *
 * @param files beside the config. Default: `pay`.
 */
export async function appliedWorld(
  files: Files = { 'flags/pay.yaml': flagSpec('pay') },
  options?: Partial<ServiceOptions>,
  environment?: Readonly<Record<string, string>>,
): Promise<PipelineWorld> {
  const world = await pipelineWorld(undefined, options, environment);
  world.repository.commit('Begin', { 'flagkeel.yaml': PIPELINE_CONFIG, ...files });
  const { converged } = await world.applied();
  if (!converged) throw new Error('the first commit was not applied');
  world.writes();
  return world;
}

/** The break-glass list of an environment. */
export function killList(entries: string, environment = 'production'): Files {
  return { [`kills/${environment}.yaml`]: `kills: ${entries}\n` };
}

/** The ref of the state, on which no run is under way. */
export function stateRef({ repository }: Pick<PipelineWorld, 'repository'>): string {
  return (
    repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel').split('\n')[0] ?? ''
  );
}

/** Takes the memory of all runs away. */
export function forget({ repository }: Pick<PipelineWorld, 'repository'>): void {
  const refs = repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel').split('\n');
  for (const ref of refs.filter((each) => each !== '')) repository.git('update-ref', '-d', ref);
}

/** The text of a report as a wide pipe gets it. */
export function textOf(report: PlanReport): string {
  return planText(report, { color: false, width: 300, showKeys: false });
}

/** What is held back, by its cause. */
export function withheldIn({ plan }: Planned): string[] {
  return plan.withheld.map(({ id, why }) => `${id} ${why}`);
}

/** What became of each change, and what was held back. */
export function toldOf(done: Applied): string[] {
  const { plan, outcomes } = done;
  const changes = plan.changes.map(({ id, archive, action }) => {
    return `${archive ? 'archive' : action} ${id} ${outcomes.get(id)?.status ?? ''}`;
  });
  return [...changes, ...withheldIn(done).map((line) => `withheld ${line}`)];
}

export const PIPELINE_CONFIG = `workspace: Default
environments:
  staging: {}
  production: {}
defaults: { trafficType: user }
`;

export const PROTECTED_PIPELINE = PIPELINE_CONFIG.replace(
  'production: {}',
  'production: { protected: true }',
);

/** A flag that both environments have, with a share of `on`; lines of its definitions may be added. */
export function flagSpec(name: string, { on = 10, staging = '', production = '' } = {}): string {
  const rule = `defaultRule: { "on": ${on}, "off": rest }`;
  return `flag: ${name}
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { ${[rule, staging].filter(Boolean).join(', ')} }
  production: { ${[rule, production].filter(Boolean).join(', ')} }
`;
}
