import { aDefinition, callsOf, type ServiceCalls } from '../../support/service-calls.js';
import { flagkeel, type CliResult } from '../../support/cli.js';
import { ConfigRepository } from '../../support/git.js';
import { startTestService, type Fault, type TestService } from '../../support/service.js';
import { randomFrom } from '../choices.js';
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
    const calls = callsOf(service);
    const theirs = await makeTheirs(calls);
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
    violations.push(...(await changedTheirs(calls, theirs)), ...(await madeTwice(calls)));
    const { length: requests } = service.requests;
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

const THEIRS = 'made-by-hand';

async function makeTheirs(calls: ServiceCalls): Promise<string> {
  const { id, environments } = await place(calls);
  await calls.ok('POST', `/splits/ws/${id}/trafficTypes/user`, {
    name: THEIRS,
    description: 'ours not',
  });
  for (const environment of environments) {
    await calls.ok('POST', `/splits/ws/${id}/${THEIRS}/environments/${environment}`, aDefinition());
  }
  return theirs(calls);
}

async function theirs(calls: ServiceCalls): Promise<string> {
  const { id, environments } = await place(calls);
  const each = environments.map(async (environment) =>
    calls.ok('GET', `/splits/ws/${id}/${THEIRS}/environments/${environment}`),
  );
  return JSON.stringify(await Promise.all(each));
}

async function changedTheirs(calls: ServiceCalls, before: string): Promise<string[]> {
  return (await theirs(calls)) === before ? [] : [`${THEIRS} is not what it was`];
}

async function place(calls: ServiceCalls): Promise<{ id: string; environments: string[] }> {
  const { objects } = await calls.ok<{ objects: { id: string }[] }>('GET', '/workspaces');
  const id = objects[0]?.id ?? '';
  const all = await calls.ok<{ id: string }[]>('GET', `/environments/ws/${id}`);
  return { id, environments: all.map((each) => each.id) };
}

/** Names and listed keys that are there more than once. */
async function madeTwice(calls: ServiceCalls): Promise<string[]> {
  const { id, environments } = await place(calls);
  const flags = await calls.ok<Listed>('GET', `/splits/ws/${id}?limit=50`);
  const segments = await calls.ok<Listed>('GET', `/segments/ws/${id}?limit=50`);
  const definitions = await Promise.all(
    environments.map(async (each) =>
      calls.ok<{ objects: { treatments: { keys?: string[] }[] }[] }>(
        'GET',
        `/splits/ws/${id}/environments/${each}?limit=50`,
      ),
    ),
  );
  const keys = definitions
    .flatMap(({ objects }) => objects)
    .flatMap(({ treatments }) => treatments.map((treatment) => treatment.keys ?? []));
  const lists = [flags, segments].map(({ objects }) => objects.map(({ name }) => name));
  return [...lists, ...keys].flatMap(repeated).map((name) => `${name} is there twice`);
}

interface Listed {
  readonly objects: readonly { readonly name: string }[];
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, i) => names.indexOf(name) !== i);
}
