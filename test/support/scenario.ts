import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, onTestFinished } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import type { ServiceOptions } from '../../src/service/service.js';
import { flagkeel, startFlagkeel } from './cli.js';
import type { CliOptions, CliResult, RunningCli } from './cli.js';
import { ConfigRepository } from './git.js';
import { callsOf } from './service-calls.js';
import { startTestService, type TestService } from './service.js';
import { Watching } from './watching.js';

/** A service and a config repository that belong to the test that runs, and the commands that people run there. */
export interface Scenario {
  readonly service: TestService;
  readonly repository: ConfigRepository;
  /** What the command is told of the service: its key. */
  readonly env: Readonly<Record<string, string>>;
  /** Calls the service as a client would: the body of its answer, whatever the status. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Runs a command on the repository, against the service. */
  readonly run: (...args: readonly string[]) => Promise<CliResult>;
  /** The same with options of its own; where they name an environment, the key is not given. */
  readonly runWith: (options: CliOptions, ...args: readonly string[]) => Promise<CliResult>;
  /** The same on another directory. */
  readonly runAt: (directory: string, ...args: readonly string[]) => Promise<CliResult>;
  /** Starts a command on the repository in a process of its own. */
  readonly start: (...args: readonly string[]) => RunningCli;
  /** Starts a daemon over the repository, which ends with the test; `env` takes the place of the key. */
  readonly watch: (args: readonly string[], env?: Readonly<Record<string, string>>) => Watching;
  readonly reconcile: (...args: readonly string[]) => Promise<CliResult>;
  /** The plan of a dry run as JSON, with the exit code. */
  readonly dryRun: (...args: readonly string[]) => Promise<PlanDocument & Pick<CliResult, 'code'>>;
  /** Writes files and commits them. */
  readonly commit: (files: Readonly<Record<string, string>>, message: string) => string;
  /** The text of a file of the repository. */
  readonly text: (path: string) => string;
  /** Requests that were no reads, as `METHOD /path`, in the order in which they ended. */
  readonly writes: () => string[];
  /** Puts a new service, which knows nothing of before, in the place of the one that runs. */
  readonly restart: (options: Partial<ServiceOptions>) => Promise<void>;
}

/**
 * Gives every test of a file, or of a `describe`, a service and an empty repository of its own. What later `beforeEach`
 * hooks start is stopped before them.
 */
export function useScenario(options: Partial<ServiceOptions> = {}): Scenario {
  let service: TestService;
  let repository: ConfigRepository;

  beforeEach(async () => {
    repository = new ConfigRepository();
    service = await startTestService(options);
  });

  afterEach(async () => {
    service.release();
    await service.stop();
    repository[Symbol.dispose]();
  });

  const env = (): Record<string, string> => ({ FLAGKEEL_API_KEY: service.key });
  const wordsOf = (args: readonly string[], directory = repository.directory): string[] => {
    return [...args, '--url', service.origin, directory];
  };
  const runWith: Scenario['runWith'] = async (given, ...args) =>
    flagkeel(wordsOf(args), { env: env(), ...given });
  const run: Scenario['run'] = async (...args) => runWith({}, ...args);
  const reconcile: Scenario['reconcile'] = async (...args) => run('reconcile', ...args);
  return {
    get service() {
      return service;
    },
    get repository() {
      return repository;
    },
    get env() {
      return env();
    },
    call: async (...request) => (await callsOf(service).call(...request)).body,
    run,
    runWith,
    runAt: async (directory, ...args) => flagkeel(wordsOf(args, directory), { env: env() }),
    start: (...args) => startFlagkeel(wordsOf(args), { env: env() }),
    watch: (args, given = env()) => {
      const quick = ['--debounce', '50ms', '--schedule', 'off'];
      const watching = new Watching(wordsOf([...quick, ...args]), given);
      onTestFinished(async () => {
        await watching.stop('SIGKILL');
      });
      return watching;
    },
    reconcile,
    dryRun: async (...args) => {
      const { stdout, code } = await reconcile('--dry-run', '--format', 'json', ...args);
      return { ...(JSON.parse(stdout) as PlanDocument), code };
    },
    commit: (files, message) => repository.commit(message, files),
    text: (path) => readFileSync(join(repository.directory, path), 'utf8'),
    writes: () =>
      service.requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
    restart: async (other) => {
      await service.stop();
      service = await startTestService(other);
    },
  };
}
