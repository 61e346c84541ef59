import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EQUIVALENT } from './service-equivalents.js';

/*
 * Breaks the rules and routes of the administration service in every small way, and shows which of the ways the contract's tests notice.
 *
 * All mutants stand in the sources at once, behind switches; one process loads the service and the tests once, and turns one switch after the
 * other (`service-suite.test.ts`). Results are appended to a file, so that a second call goes on where the first one ended: what was noticed is
 * not run again until its file changes, what survived not until a test does.
 *
 * Usage: `test/mutation/service-mutants.ts [--report] [--survivors] [PART-OF-A-FILE-NAME…]`. It fails below 90 %, and where mutants are left
 * to run. With `--survivors` it runs again what survived before, and nothing else.
 */
const ROOT = join(import.meta.dirname, '../..');
const REPORTS = join(ROOT, 'test/mutation/reports');
const RESULTS = join(REPORTS, 'service.jsonl');
const PLAN = join(REPORTS, 'service-plan.json');
const FOLDERS = ['src/service/rules', 'src/service/routes'];
const TESTS = ['test/contract', 'test/support'];
const LEAST_SCORE = 90;
/** A mutant that is not done by then keeps the process busy for ever; no test's own limit ends that. */
const HANGS_AFTER_MS = 180_000;
const STARTS_WITHIN_MS = 60_000;
/** Lines on either side whose words tell which tests a mutant is about. */
const AROUND = 4;
/** One process runs so many: what is loaded for one is not forgotten before its end. */
const AT_ONCE = 250;

export interface Mutant {
  readonly id: string;
  /** The same in every run, as long as the file is: file, its hash, place, and what it becomes. */
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly original: string;
  readonly replacement: string;
  /** The line on which it begins. */
  readonly begin: string;
  /** The lines around it. */
  readonly around: string;
}

/** What `service-suite.test.ts` reads. */
export interface MutationPlan {
  /** Sources with all mutants, by path. */
  readonly sources: Readonly<Record<string, string>>;
  /** Those to run. */
  readonly mutants: readonly Mutant[];
  /** Ids of all mutants, by file. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly results: string;
  /** Of the tests, all of them. */
  readonly tests: string;
  /** What noticed which mutants before. */
  readonly noticed: readonly {
    readonly file: string;
    readonly line: number;
    readonly by: string;
  }[];
}

export type Status = 'noticed' | 'survived' | 'not reached' | 'ran for ever';

interface Result {
  readonly key: string;
  readonly status: Status | 'begun';
  /** The test that noticed it, or what runs before a suite's tests. */
  readonly by?: string;
  /** What that test said. */
  readonly error?: string;
  /** Of the tests that it survived; of all that there were. */
  readonly tests?: string;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.ts') && statSync(join(ROOT, path)).isFile())
    .sort();
}

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Instrumented {
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly mutants: readonly {
    readonly id: string;
    readonly fileName: string;
    readonly mutatorName: string;
    readonly replacement: string;
    readonly location: {
      readonly start: { readonly line: number; readonly column: number };
      readonly end: { readonly line: number; readonly column: number };
    };
  }[];
}

/** Puts every mutant behind a switch. The library is installed below `test/mutation/` alone. */
async function instrument(paths: readonly string[]): Promise<Instrumented> {
  const modules = join(ROOT, 'test/mutation/node_modules');
  const { createInstrumenter } = await import(
    join(modules, '@stryker-mutator/instrumenter/dist/src/index.js')
  );
  const { createInjector } = await import(join(modules, 'typed-inject/dist/src/index.js'));
  const quiet = Object.fromEntries(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, () => undefined]),
  );
  const logger = { ...quiet, isDebugEnabled: () => false, isTraceEnabled: () => false };
  const instrumenter = createInjector()
    .provideValue('logger', logger)
    .injectFunction(createInstrumenter);
  return instrumenter.instrument(
    paths.map((name) => ({ name, content: textOf(name), mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [] },
  );
}

function mutantsOf({ mutants }: Instrumented): Mutant[] {
  const hashes = new Map<string, string>();
  return mutants.map(({ id, fileName, mutatorName, replacement, location: { start, end } }) => {
    const text = textOf(fileName);
    const own = hashes.get(fileName) ?? hash(text);
    hashes.set(fileName, own);
    const all = text.split('\n');
    const lines = all.slice(start.line, end.line + 1);
    const last = lines.length - 1;
    lines[last] = (lines[last] ?? '').slice(0, end.column);
    lines[0] = (lines[0] ?? '').slice(start.column);
    const place = `${start.line}:${start.column}-${end.line}:${end.column}`;
    return {
      id,
      key: `${fileName}#${own}#${place}#${mutatorName}#${replacement}`,
      file: fileName,
      line: start.line + 1,
      kind: mutatorName,
      original: lines.join(' ').replaceAll(/\s+/g, ' ').trim(),
      replacement: replacement.replaceAll(/\s+/g, ' ').trim(),
      begin: all[start.line] ?? '',
      around: all.slice(Math.max(0, start.line - AROUND), start.line + AROUND + 1).join('\n'),
    };
  });
}

/** The last word on each mutant, the newest last. One that was begun and never ended also ended its process. */
function resultsOf(): Map<string, Result> {
  const results = new Map<string, Result>();
  if (!existsSync(RESULTS)) return results;
  for (const line of readFileSync(RESULTS, 'utf8').split('\n').filter(Boolean)) {
    const result = JSON.parse(line) as Result;
    results.delete(result.key);
    results.set(result.key, result);
  }
  return results;
}

const isNoticed = (status: string | undefined): boolean =>
  status === 'noticed' || status === 'ran for ever';

/** Runs what is left, in one process after the other: one ends when all is done, or when a mutant keeps it busy. */
async function run(
  { sources, ids, tests }: Pick<MutationPlan, 'sources' | 'ids' | 'tests'>,
  mutants: readonly Mutant[],
) {
  const isLeft = (results: Map<string, Result>, { key }: Mutant): boolean => {
    const result = results.get(key);
    return !isNoticed(result?.status) && (result?.tests !== tests || result.status === 'begun');
  };
  const known = process.argv.includes('--survivors') ? resultsOf() : undefined;
  for (;;) {
    const results = resultsOf();
    // In no order of theirs: whatever is done when somebody ends this is a fair sample of all.
    const left = mutants
      .filter((mutant) => isLeft(results, mutant) && (known?.has(mutant.key) ?? true))
      .toSorted((a, b) => (hash(a.key) < hash(b.key) ? -1 : 1));
    if (left.length === 0) return;
    process.stdout.write(`${left.length} mutants to run\n`);
    const next = left.slice(0, AT_ONCE);
    const noticed = mutants.flatMap((mutant) => {
      const { status, by } = results.get(mutant.key) ?? {};
      return status === 'noticed' && by !== undefined ? [{ ...mutant, by }] : [];
    });
    const plan: MutationPlan = { sources, mutants: next, ids, results: RESULTS, tests, noticed };
    writeFileSync(PLAN, JSON.stringify(plan));
    await runProcess();
    // It kept its process busy for ever, or took all of its memory. Others that were begun are of processes that somebody ended.
    const last = [...resultsOf().values()].at(-1);
    if (last?.status === 'begun') append({ ...last, status: 'ran for ever' });
  }
}

function append(result: Result): void {
  writeFileSync(RESULTS, `${JSON.stringify(result)}\n`, { flag: 'a' });
}

async function runProcess(): Promise<void> {
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutation/vitest.service.config.ts'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
      env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
    },
  );
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const stop = (): void => {
    end();
    process.exit(1);
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  let hangs = false;
  const started = Date.now();
  const watch = setInterval(() => {
    const alive = statSync(RESULTS, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    hangs = Date.now() - Math.max(alive, started + STARTS_WITHIN_MS) > HANGS_AFTER_MS;
    if (hangs) end();
  }, 1_000);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watch);
  process.off('SIGTERM', stop).off('SIGINT', stop);
  if (code !== 0 && !hangs) throw new Error(`the tests could not be run (${String(code)})`);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : ((100 * part) / whole).toFixed(1);
}

/** A line for each file and for all; then those that survived. */
function report(mutants: readonly Mutant[]): { score: number; left: number } {
  const results = resultsOf();
  const statusOf = ({ key }: Mutant) => results.get(key)?.status;
  const files = [...new Set(mutants.map(({ file }) => file))];
  const row = (name: string, of: readonly Mutant[]): string => {
    const counted = of.filter((mutant) => statusOf(mutant) !== undefined);
    const noticed = counted.filter((mutant) => isNoticed(statusOf(mutant)));
    const same = counted.filter((mutant) => !isNoticed(statusOf(mutant)) && EQUIVALENT(mutant));
    const score = percent(noticed.length, counted.length - same.length);
    return `| \`${name}\` | ${counted.length} | ${noticed.length} | ${same.length} | ${score} |`;
  };
  const survivors = mutants.filter(
    (each) => statusOf(each) !== undefined && !isNoticed(statusOf(each)),
  );
  const open = survivors.filter((mutant) => EQUIVALENT(mutant) === undefined);
  process.stdout.write(
    [
      ...open.map(
        (each) =>
          `${each.file}:${each.line} ${each.kind} ${statusOf(each)}: ${each.original.slice(0, 90)} → ${each.replacement.slice(0, 60)}`,
      ),
      '| file | mutants | noticed | equivalent | score % |',
      ...files.map((file) =>
        row(
          file.replace('src/service/', ''),
          mutants.filter((mutant) => mutant.file === file),
        ),
      ),
      row('all', mutants),
      '',
    ].join('\n'),
  );
  const isLate = ({ status, error }: Partial<Result> = {}): boolean =>
    status === 'ran for ever' || (error?.includes('timed out') ?? false);
  const late = mutants.filter(({ key }) => isLate(results.get(key)));
  process.stdout.write(`${late.length} of the noticed ran into a limit of time\n`);
  const counted = mutants.filter((mutant) => statusOf(mutant) !== undefined);
  const equivalent = survivors.length - open.length;
  const noticed = counted.length - survivors.length;
  return {
    score: (100 * noticed) / (counted.length - equivalent),
    left: mutants.length - counted.length,
  };
}

const [...chosen] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const paths = FOLDERS.flatMap(filesBelow);
mkdirSync(REPORTS, { recursive: true });
const instrumented = await instrument(paths);
const all = mutantsOf(instrumented);
const mutants = all.filter(
  ({ file }) => chosen.length === 0 || chosen.some((part) => file.includes(part)),
);
if (!process.argv.includes('--report')) {
  const sources = Object.fromEntries(
    instrumented.files.map(({ name, content }) => [join(ROOT, name), content]),
  );
  const ids = Object.fromEntries(
    paths.map((path) => [path, all.filter(({ file }) => file === path).map(({ id }) => id)]),
  );
  const tests = hash(TESTS.flatMap(filesBelow).map(textOf).join(''));
  await run({ sources, ids, tests }, mutants);
}
const { score, left } = report(mutants);
process.exitCode = left === 0 && score >= LEAST_SCORE ? 0 : 1;
