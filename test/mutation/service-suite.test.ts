import { appendFileSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
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
import { POSTGRES_ONLY } from '../support/contract-projects.js';
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
) as MutationPlan;

/** They start processes of their own, look into the store, or are about what has other tests. */
const LEFT_OUT = [
  ...['backup', 'command', 'console', 'console-sessions', 'durability', 'faults', 'memory'],
  ...['metrics', 'served-specs', 'store'],
];

const FILES = readdirSync(join(import.meta.dirname, '../contract'))
  .filter((file) => !file.endsWith('.slow.test.ts') && !POSTGRES_ONLY.includes(file))
  .map((file) => file.replace(/\.test\.ts$/, ''))
  .filter((name) => !LEFT_OUT.includes(name))
  .sort();

scope.serviceUnderTest = await import('../../src/service/service.js');
for (const name of FILES) {
  describe(name, async () => {
    await import(`../contract/${name}.test.ts`);
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

/** Milliseconds of work of this process, whatever else the machine does. */
const worked = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** What noticed a mutant: a test, or what runs before the tests of a suite. */
interface Failure {
  readonly by: string;
  readonly error: string;
  /** Of the test. */
  readonly id?: string;
}

const failureOf = (by: string, error: unknown): Failure => ({
  by,
  error: String(error).slice(0, 200),
});

/** Runs the chosen tests of a suite, in their order, until one fails, or no time is left. */
async function runSuite(
  suite: RunnerTestSuite,
  chosen: ReadonlySet<string>,
  until = Infinity,
  around: readonly RunnerTestSuite[] = [],
): Promise<Failure | undefined> {
  if (worked() > until || !testsBelow(suite).some(({ id }) => chosen.has(id))) return undefined;
  const hooks = getHooks(suite);
  const call = async (each: readonly unknown[], given: unknown): Promise<void> => {
    for (const hook of each) await (hook as (given: unknown) => Promise<unknown>)(given);
  };
  try {
    switches.currentTestId = `before ${suite.id}`;
    await call(hooks.beforeAll, suite);
    for (const task of suite.tasks) {
      if (task.type === 'suite') {
        const failed = await runSuite(task, chosen, until, [...around, suite]);
        if (failed !== undefined) return failed;
        continue;
      }
      if (!chosen.has(task.id) || worked() > until) continue;
      try {
        switches.currentTestId = task.id;
        for (const each of [...around, suite]) await call(getHooks(each).beforeEach, task.context);
        const start = worked();
        await getFn(task)();
        durations.set(task.id, worked() - start);
        showLife();
        for (const each of [...around, suite]) await call(getHooks(each).afterEach, task.context);
      } catch (error) {
        return { ...failureOf(task.fullName, error), id: task.id };
      }
    }
    return undefined;
  } catch (error) {
    return failureOf(`before ${suite.fullName}`, error);
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
    if (failed !== undefined)
      throw new Error(`fails without a mutant: ${failed.by}: ${failed.error}`);
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

/** What each test takes, in milliseconds of work. */
const durations = new Map<string, number>();

/** What a mutant that works while modules are loaded changes is seen by a service that is loaded with it. */
async function loadService(): Promise<void> {
  vi.resetModules();
  scope.serviceUnderTest = await import('../../src/service/service.js');
}

/**
 * Whatever has not noticed a mutant by then, the likeliest first, seldom does. The score is the lower for it, never higher. In milliseconds
 * of work.
 */
const ENOUGH_MS = 3_000;
/** How many tests, the likeliest, are tried before all others; two of them before the rest. */
const LIKELIEST = 12;
/** Tests that take longer are tried last. */
const SLOW_MS = 60;
/** Within so many lines, what noticed one mutant is likely to notice another. */
const NEAR_LINES = 4;

/** What the names of tests have in common with the lines around a mutant. */
class Words {
  readonly #count = new Map<string, number>();

  constructor(tests: readonly RunnerTestCase[]) {
    for (const { fullName } of tests) {
      for (const word of Words.of(fullName))
        this.#count.set(word, (this.#count.get(word) ?? 0) + 1);
    }
  }

  /** The beginnings of all words: `deletes` and `deletion` are about the same. */
  static of(text: string): ReadonlySet<string> {
    const words = text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
    return new Set([...words.matchAll(/[a-z]{4,}/g)].map(([word]) => word.slice(0, 5)));
  }

  /** The fewer tests have a word, the more it says. */
  shared({ around }: Mutant, { fullName }: RunnerTestCase): number {
    const own = Words.of(fullName);
    const common = [...Words.of(around)].filter((word) => own.has(word));
    return common.reduce((sum, word) => sum + 1 / (this.#count.get(word) ?? 1), 0);
  }
}

class Runner {
  readonly #suites: readonly RunnerTestSuite[];
  readonly #coverage: Coverage;
  readonly #words: Words;
  /** Where each test, or what runs before a suite, noticed mutants, by its name. */
  readonly #noticed = new Map<string, { readonly file: string; readonly line: number }[]>();
  /** Tests that fail without those before them; they are left out. */
  readonly #dependent = new Set<string>();
  /** Whether tests pass without a mutant, by their ids. */
  readonly #passes = new Map<string, boolean>();
  #isLoadedWithMutant = false;

  constructor(suites: readonly RunnerTestSuite[], coverage: Coverage) {
    this.#suites = suites;
    this.#coverage = coverage;
    this.#words = new Words(suites.flatMap(testsBelow));
  }

  /** Learns from what was noticed. */
  learn({ file, line }: Pick<Mutant, 'file' | 'line'>, by: string): void {
    this.#noticed.set(by, [...(this.#noticed.get(by) ?? []), { file, line }]);
  }

  async run(mutant: Mutant): Promise<{ status: Status } & Partial<Failure>> {
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
      return await this.#runTests(this.#stagesOf(mutant, chosen, isLoaded), mutant);
    } catch (error) {
      return { status: 'noticed', ...failureOf('loading', error) };
    } finally {
      switches.activeMutant = undefined;
      switches.hitCount = undefined;
      switches.hitLimit = undefined;
    }
  }

  async #runTests(
    stages: readonly ReadonlySet<string>[],
    mutant: Mutant,
  ): Promise<{ status: Status } & Partial<Failure>> {
    let until = worked() + ENOUGH_MS;
    for (const stage of stages) {
      for (const suite of this.#suites) {
        const chosen = new Set([...stage].filter((id) => !this.#dependent.has(id)));
        for (;;) {
          const failure = await runSuite(suite, chosen, until);
          if (failure === undefined) break;
          const start = worked();
          if (await this.#isCausedBy(mutant, failure, suite, chosen)) {
            this.learn(mutant, failure.by);
            return { status: 'noticed', by: failure.by, error: failure.error };
          }
          until += worked() - start;
          this.#dependent.add(failure.id ?? '');
          chosen.delete(failure.id ?? '');
        }
      }
    }
    return { status: 'survived' };
  }

  /** Whether the same tests pass without the mutant: one that needs what another left behind fails by itself. */
  async #isCausedBy(
    mutant: Mutant,
    { id }: Failure,
    suite: RunnerTestSuite,
    chosen: ReadonlySet<string>,
  ): Promise<boolean> {
    if (id === undefined) return true;
    const ids = testsBelow(suite).map((each) => each.id);
    const tests = ids.slice(0, ids.indexOf(id) + 1).filter((each) => chosen.has(each));
    const known = this.#passes.get(tests.join());
    if (known !== undefined) return known;
    switches.activeMutant = undefined;
    if (this.#isLoadedWithMutant) await loadService();
    const passes = (await runSuite(suite, new Set(tests))) === undefined;
    this.#passes.set(tests.join(), passes);
    switches.activeMutant = mutant.id;
    if (this.#isLoadedWithMutant && !passes) await loadService();
    return passes;
  }

  /** The likeliest, then the edges of rules, then the others, those that take long at the end. */
  #stagesOf(mutant: Mutant, chosen: ReadonlySet<string>, isLoaded: boolean): ReadonlySet<string>[] {
    const likelihood = new Map<string, number>();
    const words = this.#words;
    for (const suite of everySuite(this.#suites)) {
      const before = this.#likelihood(mutant, `before ${suite.fullName}`);
      for (const task of suite.tasks) {
        if (task.type !== 'test' || !chosen.has(task.id)) continue;
        const known = before + this.#likelihood(mutant, task.fullName);
        const isFirst = isLoaded && DESCRIBES_ALL.test(task.fullName);
        likelihood.set(task.id, known + words.shared(mutant, task) + (isFirst ? 100 : 0));
      }
    }
    const costOf = (id: string): number => durations.get(id) ?? 0;
    const sorted = [...likelihood]
      .toSorted(([a, one], [b, other]) => other - one || costOf(a) - costOf(b))
      .map(([id]) => id);
    const likeliest = sorted.slice(0, LIKELIEST);
    const edges = new Set(
      this.#suites
        .filter(({ name }) => name === 'edges')
        .flatMap(testsBelow)
        .map(({ id }) => id),
    );
    const others = sorted.slice(LIKELIEST).filter((id) => !edges.has(id));
    return [
      likeliest.slice(0, 2),
      likeliest.slice(2),
      sorted.slice(LIKELIEST).filter((id) => edges.has(id)),
      others.filter((id) => costOf(id) <= SLOW_MS),
      others.filter((id) => costOf(id) > SLOW_MS),
    ].map((ids) => new Set(ids));
  }

  /** More where a test noticed mutants nearby. */
  #likelihood({ file, line }: Mutant, by: string): number {
    return (this.#noticed.get(by) ?? [])
      .filter((each) => each.file === file)
      .reduce((sum, each) => sum + 1 / (1 + Math.abs(each.line - line) / NEAR_LINES), 0);
  }

  /** The tests that reach anything of a file; all where nothing of it runs but its loading. */
  #testsOfFile(file: string): ReadonlySet<string> {
    const found = new Set<string>();
    for (const id of plan.ids[file] ?? []) {
      for (const test of this.#coverage.testsOf.get(id) ?? []) found.add(test);
    }
    const all = this.#suites.flatMap(testsBelow);
    return found.size > 0
      ? new Set([...found, ...all.filter(isDescribing).map(({ id }) => id)])
      : new Set(all.map(({ id }) => id));
  }
}

/** They look at the whole of what the service says of itself. */
const DESCRIBES_ALL =
  /what clients are made by|the description of the service|have the parameters and members of the contract/;

/** What is loaded shows in what the service says of itself. */
const isDescribing = ({ fullName }: RunnerTestCase): boolean =>
  /> description >|the description of the service/.test(fullName);

it('mutants', { timeout: 24 * 3_600_000 }, async ({ task }) => {
  const suites = suitesOf(task.file.tasks);
  const coverage = await coverageOf(suites);
  const runner = new Runner(suites, coverage);
  for (const { by, ...place } of plan.noticed) runner.learn(place, by);
  const write = (result: object): void => {
    appendFileSync(plan.results, `${JSON.stringify(result)}\n`);
  };
  for (const mutant of plan.mutants) {
    write({ key: mutant.key, status: 'begun', tests: plan.tests });
    const start = worked();
    const result = await runner.run(mutant);
    const ms = Math.round(worked() - start);
    write({ key: mutant.key, ...result, ms, tests: plan.tests });
  }
});
