import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { ServiceOptions } from '../../src/service/service.js';
import { flagkeel, type CliOptions, type CliResult } from './cli.js';
import { ConfigRepository } from './git.js';
import { callsOf } from './service-calls.js';
import { startTestService, type TestService } from './service.js';

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
  /** The same from within the repository, which the command has to find by itself. */
  readonly runInside: (...args: readonly string[]) => Promise<CliResult>;
  readonly reconcile: (...args: readonly string[]) => Promise<CliResult>;
  /** The plan of a dry run as JSON, with the exit code. */
  readonly dryRun: <Plan>(...args: readonly string[]) => Promise<Plan & Pick<CliResult, 'code'>>;
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
  const runWith: Scenario['runWith'] = async (given, ...args) =>
    flagkeel([...args, '--url', service.origin, repository.directory], { env: env(), ...given });
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
    runInside: async (...args) =>
      flagkeel([...args, '--url', service.origin], { cwd: repository.directory, env: env() }),
    reconcile,
    dryRun: async <Plan>(...args: readonly string[]) => {
      const { stdout, code } = await reconcile('--dry-run', '--format', 'json', ...args);
      return { ...(JSON.parse(stdout) as Plan), code };
    },
    commit: (files, message) => {
      repository.write(files);
      return repository.commit(message);
    },
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
