import { appendFileSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import {
  describe,
  it,
  TestRunner,
  vi,
  type RunnerTask,
  type RunnerTestCase,
  type RunnerTestSuite,
} from 'vitest';
import type { Mutant, MutationPlan, Status } from './service-mutants.js';

/** What the mutants' switches look at. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: {
    readonly static: Readonly<Record<string, number>>;
    readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
}

const scope = globalThis as unknown as { __stryker__: Switches; serviceUnderTest: unknown };
scope.__stryker__ = {};
const switches = scope.__stryker__;

const { getTestFn: getFn, getSuiteHooks: getHooks } = TestRunner;

const plan = JSON.parse(
  readFileSync(join(import.meta.dirname, 'reports/service-plan.json'), 'utf8'),
) as MutationPlan & { readonly tests: string };

/** By what they cost, the cheapest first: the rules by themselves, then the contract over HTTP. */
const FILES = [
  '../unit/service/definition',
  '../unit/service/json-patch',
  '../unit/service/small-rules',
  'bodies',
  'operations',
  'statements',
  'beyond-bodies',
  'access',
  'beyond',
  'integrity',
  'habits',
  'clients-habits',
  'keys-file',
  'contract',
  'methods',
  'description',
  'bounded-work',
  'members',
  'traces',
  'change-requests',
];

scope.serviceUnderTest = await import('../src/service/service.js');
for (const name of FILES) {
  describe(name, async () => {
    await import(`../test/contract/${name}.test.ts`);
  });
}

/** The process that watches this one ends it where nothing is written for long. */
function showLife(): void {
  appendFileSync(plan.results, '');
  const now = new Date();
  utimesSync(plan.results, now, now);
}

const suitesOf = (tasks: readonly RunnerTask[]): RunnerTestSuite[] =>
  tasks.filter((task) => task.type === 'suite');
const testsBelow = (task: RunnerTask): RunnerTestCase[] =>
  task.type === 'suite' ? task.tasks.flatMap(testsBelow) : [task];

/** Runs the chosen tests of a suite, in their order, until one fails; gives the name of that one. */
async function runSuite(
  suite: RunnerTestSuite,
  chosen: ReadonlySet<string>,
  around: readonly RunnerTestSuite[] = [],
): Promise<string | undefined> {
  if (!testsBelow(suite).some(({ id }) => chosen.has(id))) return undefined;
  const hooks = getHooks(suite);
  const call = async (each: readonly unknown[], given: unknown): Promise<void> => {
    for (const hook of each) await (hook as (given: unknown) => Promise<unknown>)(given);
  };
  try {
    switches.currentTestId = `before ${suite.id}`;
    await call(hooks.beforeAll, suite);
    for (const task of suite.tasks) {
      if (task.type === 'suite') {
        const failed = await runSuite(task, chosen, [...around, suite]);
        if (failed !== undefined) return failed;
        continue;
      }
      if (!chosen.has(task.id)) continue;
      try {
        switches.currentTestId = task.id;
        for (const each of [...around, suite]) await call(getHooks(each).beforeEach, task.context);
        const start = performance.now();
        await getFn(task)();
        durations.set(task.id, performance.now() - start);
        showLife();
        for (const each of [...around, suite]) await call(getHooks(each).afterEach, task.context);
      } catch (error) {
        return `${task.fullName}: ${String(error).slice(0, 200)}`;
      }
    }
    return undefined;
  } catch (error) {
    return `before ${suite.name}: ${String(error).slice(0, 200)}`;
  } finally {
    switches.currentTestId = undefined;
    await call(hooks.afterAll, suite).catch(() => undefined);
  }
}

/** Who reaches what, and how often, from one run in which all is as it should be. */
interface Coverage {
  /** Ids of tests that reach a mutant, by its id; those for which something ran before them, too. */
  readonly testsOf: ReadonlyMap<string, ReadonlySet<string>>;
  readonly isLoaded: (mutantId: string) => boolean;
  readonly hits: (mutantId: string) => number;
}

async function coverageOf(suites: readonly RunnerTestSuite[]): Promise<Coverage> {
  const all = new Set(suites.flatMap(testsBelow).map(({ id }) => id));
  for (const suite of suites) {
    const failed = await runSuite(suite, all);
    if (failed !== undefined) throw new Error(`fails without a mutant: ${failed}`);
  }
  const { static: loaded = {}, perTest = {} } = switches.mutantCoverage ?? {};
  const below = new Map(
    everySuite(suites).map((suite) => [`before ${suite.id}`, testsBelow(suite)]),
  );
  const testsOf = new Map<string, Set<string>>();
  const hits = new Map<string, number>();
  for (const [test, counts] of Object.entries(perTest)) {
    for (const [mutant, count] of Object.entries(counts)) {
      const known = testsOf.get(mutant) ?? new Set();
      for (const id of below.get(test)?.map((each) => each.id) ?? [test]) known.add(id);
      testsOf.set(mutant, known);
      hits.set(mutant, (hits.get(mutant) ?? 0) + count);
    }
  }
  return {
    testsOf,
    isLoaded: (id) => loaded[id] !== undefined,
    hits: (id) => hits.get(id) ?? 0,
  };
}

function everySuite(suites: readonly RunnerTestSuite[]): RunnerTestSuite[] {
  return suites.flatMap((suite) => [suite, ...everySuite(suitesOf(suite.tasks))]);
}

/** Tests that take longer are run last: few mutants are noticed by them alone. In milliseconds. */
const SLOW_MS = 250;
const durations = new Map<string, number>();

/** What a mutant that works while modules are loaded changes is seen by a service that is loaded with it. */
async function loadService(): Promise<void> {
  vi.resetModules();
  scope.serviceUnderTest = await import('../src/service/service.js');
}

class Runner {
  readonly #suites: readonly RunnerTestSuite[];
  readonly #coverage: Coverage;
  /** How often a test was the one that noticed. */
  readonly #noticed = new Map<string, number>();
  #isLoadedWithMutant = false;

  constructor(suites: readonly RunnerTestSuite[], coverage: Coverage) {
    this.#suites = suites;
    this.#coverage = coverage;
  }

  async run(mutant: Mutant): Promise<{ status: Status; by?: string }> {
    const isLoaded = this.#coverage.isLoaded(mutant.id);
    const chosen = isLoaded
      ? this.#testsOfFile(mutant.file)
      : this.#coverage.testsOf.get(mutant.id);
    if (chosen === undefined) return { status: 'not reached' };
    switches.activeMutant = mutant.id;
    switches.hitCount = 0;
    switches.hitLimit = isLoaded ? undefined : 1_000 + 100 * this.#coverage.hits(mutant.id);
    try {
      if (isLoaded || this.#isLoadedWithMutant) await loadService();
      this.#isLoadedWithMutant = isLoaded;
      const isSlow = (id: string): boolean => (durations.get(id) ?? 0) > SLOW_MS;
      const quick = new Set([...chosen].filter((id) => !isSlow(id)));
      const first = await this.#runTests(mutant.file, quick);
      if (first.status === 'noticed') return first;
      return await this.#runTests(mutant.file, new Set([...chosen].filter(isSlow)));
    } catch (error) {
      return { status: 'noticed', by: `loading: ${String(error).slice(0, 200)}` };
    } finally {
      switches.activeMutant = undefined;
      switches.hitCount = undefined;
      switches.hitLimit = undefined;
    }
  }

  async #runTests(
    file: string,
    chosen: ReadonlySet<string>,
  ): Promise<{ status: Status; by?: string }> {
    const rank = (suite: RunnerTestSuite): number =>
      this.#noticed.get(`${file} ${suite.name}`) ?? 0;
    for (const suite of this.#suites.toSorted((a, b) => rank(b) - rank(a))) {
      const by = await runSuite(suite, chosen);
      if (by === undefined) continue;
      this.#noticed.set(`${file} ${suite.name}`, rank(suite) + 1);
      return { status: 'noticed', by };
    }
    return { status: 'survived' };
  }

  /** The tests that reach anything of a file; all where nothing of it runs but its loading. */
  #testsOfFile(file: string): ReadonlySet<string> {
    const found = new Set<string>();
    for (const { id } of plan.mutants.filter((each) => each.file === file)) {
      for (const test of this.#coverage.testsOf.get(id) ?? []) found.add(test);
    }
    const all = this.#suites.flatMap(testsBelow);
    return found.size > 0
      ? new Set([...found, ...DESCRIBING(all)])
      : new Set(all.map(({ id }) => id));
  }
}

/** What the service says of itself is made of what is loaded. */
const DESCRIBING = (tests: readonly RunnerTestCase[]): string[] =>
  tests.filter(({ fullName }) => fullName.includes('describ')).map(({ id }) => id);

it('mutants', { timeout: 24 * 3_600_000 }, async ({ task }) => {
  const suites = suitesOf(task.file.tasks);
  const coverage = await coverageOf(suites);
  const runner = new Runner(suites, coverage);
  const write = (result: object): void => {
    appendFileSync(plan.results, `${JSON.stringify(result)}\n`);
  };
  for (const mutant of plan.mutants) {
    write({ key: mutant.key, status: 'begun', tests: plan.tests });
    const result = await runner.run(mutant);
    write({ key: mutant.key, ...result, tests: plan.tests });
  }
});
