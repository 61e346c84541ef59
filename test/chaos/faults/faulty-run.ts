import { flagkeel, type CliResult } from '../../support/cli.js';
import { ConfigRepository } from '../../support/git.js';
import { startTestService, type Fault, type TestService } from '../../support/service.js';
import { randomFrom } from '../choices.js';
import { rawState } from '../live-world.js';
import { makeTheirs } from '../matrix/world.js';
import { specsOf, type Step } from './stories.js';

const FAULTS: readonly Fault[] = [429, 500, 503, 'reset-before', 'reset-after', 'truncate', 'slow'];
const FAULTY_SHARE = 0.2;
const MOST_INVOCATIONS = 3;

export interface FaultyRun {
  readonly seed: number;
  /** Invocations that each of the commits took. */
  readonly invocations: readonly number[];
  readonly requests: number;
  readonly faults: number;
  /** Must be empty. */
  readonly violations: readonly string[];
}

/**
 * Applies a story of commits by the built program to a service of which one request in five goes wrong, and looks at
 * what is there in the end without faults.
 */
export async function faultyRun(seed: number): Promise<FaultyRun> {
  const service = await startTestService();
  using repository = new ConfigRepository();
  try {
    await makeTheirs(service);
    const made = service.requests.length;
    const chance = countingChance(seed);
    const invocations: number[] = [];
    const violations: string[] = [];
    for (const step of specsOf(seed)) {
      commit(repository, step);
      service.failAtRandom(chance.fault);
      invocations.push(await applied(repository, service, violations));
      service.failAtRandom(() => undefined);
      violations.push(...(await leftOver(repository, service)));
    }
    const requests = service.requests.length - made;
    for (const { method, path } of service.requests.slice(made)) {
      const isWrite = method !== 'GET' && path.includes('/theirs');
      if (isWrite) violations.push(`${method} ${path}: that flag is not ours`);
    }
    violations.push(...(await madeTwice(service)));
    return { seed, invocations, requests, faults: chance.count(), violations };
  } finally {
    await service.stop();
  }
}

function countingChance(seed: number): { fault: () => Fault | undefined; count: () => number } {
  const random = randomFrom(seed);
  let faults = 0;
  const fault = (): Fault | undefined => {
    if (random() >= FAULTY_SHARE) return undefined;
    faults += 1;
    return FAULTS[Math.floor(random() * FAULTS.length)];
  };
  return { fault, count: () => faults };
}

function commit(repository: ConfigRepository, { files, gone, message }: Step): void {
  for (const path of gone) repository.remove(path);
  repository.write(files);
  repository.commit(message);
}

/** @returns how often the program had to be started until it said that all is applied. */
async function applied(
  repository: ConfigRepository,
  service: TestService,
  violations: string[],
): Promise<number> {
  const tries: CliResult[] = [];
  while (tries.length < MOST_INVOCATIONS) {
    const result = await run(repository, service, []);
    tries.push(result);
    if (result.code === 0) return tries.length;
  }
  const last = tries.at(-1);
  violations.push(
    `not applied after ${String(tries.length)} invocations: ${last?.stdout ?? ''}${last?.stderr ?? ''}`,
  );
  return tries.length;
}

async function leftOver(repository: ConfigRepository, service: TestService): Promise<string[]> {
  const { code, stdout } = await run(repository, service, ['--dry-run', '--detailed-exitcode']);
  return code === 0 ? [] : [`left to do: ${stdout}`];
}

async function run(
  repository: ConfigRepository,
  service: TestService,
  more: readonly string[],
): Promise<CliResult> {
  return flagkeel(['reconcile', '--url', service.origin, '--no-color', ...more], {
    cwd: repository.directory,
    env: { FLAGKEEL_API_KEY: service.key },
  });
}

interface Named {
  readonly name: string;
  readonly treatments?: readonly { readonly keys?: readonly string[] }[];
}

/** Names and listed keys that are there more than once. */
async function madeTwice(service: TestService): Promise<string[]> {
  const state = JSON.parse(await rawState(service)) as Record<string, (Named | string)[]>;
  const lists = Object.values(state);
  const names = lists.map((list) =>
    list.map((each) => (typeof each === 'string' ? each : each.name)),
  );
  const keys = lists
    .flat()
    .flatMap((each) => (typeof each === 'string' ? [] : (each.treatments ?? [])))
    .map((treatment) => treatment.keys ?? []);
  return [...names, ...keys]
    .flatMap((all) => all.filter((name, at) => all.indexOf(name) !== at))
    .map((name) => `${name} is there twice`);
}
