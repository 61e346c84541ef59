import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MAIN,
  measured,
  median,
  medianOf,
  TSX,
  type Measured,
  type Service,
} from './client/measure.js';
import { apply } from './client/apply.js';
import { clone } from './client/clone.js';
import { kill } from './client/kill.js';
import { limited } from './client/limited.js';
import { once } from './client/once.js';
import { segments } from './client/segments.js';
import { line, table, whole } from './client/table.js';
import { buildWorkspace, flagkeel, withService, type Workspace } from './client/workspace.js';

/**
 * Measures the client beside its floors, in turns within each round, so that what else the machine does meets both.
 * Ratios matter; milliseconds are those of this machine. `BENCH_BEFORE` names `dist/main.js` of another commit, which then runs
 * in sync in the same rounds.
 *
 * Usage: `npm run bench -- [PART]…`; default: all parts. `BENCH_SIZES=100,1000` and `BENCH_ROUNDS=1` make it quick.
 * Needs `npm run build`.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const SIZES = (process.env['BENCH_SIZES'] ?? '100,1000,10000').split(',').map(Number);
const BEFORE = process.env['BENCH_BEFORE'] ?? '';
const HERE = import.meta.dirname;

const PARTS = {
  startup,
  validate,
  clone,
  noop,
  strict,
  touched,
  once,
  segments,
  limited,
  apply,
  kill,
};
/** These have data of their own. */
const OWN_DATA: ReadonlySet<string> = new Set(['startup', 'segments', 'limited', 'apply', 'kill']);
type Part = keyof typeof PARTS;

/** What one round of a run against its floor gives. */
interface Round {
  readonly run: Measured;
  readonly floorMs: number;
  readonly requests: number;
  /** Of the program of the other commit; 0 where none was named. */
  readonly beforeMs: number;
}

async function startup(): Promise<void> {
  table('Start-up', ['command', 'ms', '`node -e 0`, ms', 'limit, ms']);
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-bench-'));
  const [own, bare] = [[] as number[], [] as number[]];
  for (let round = 0; round < ROUNDS; round += 1) {
    own.push((await measured([MAIN, '--version'], { folder })).wallMs);
    bare.push((await measured(['-e', '0'], { folder })).wallMs);
  }
  rmSync(folder, { recursive: true });
  const limit = 1.3 * median(bare) + 20;
  line(['`flagkeel --version`', ...[median(own), median(bare), limit].map(whole)]);
}

async function validate(workspaces: readonly Workspace[]): Promise<void> {
  table('`validate` beside reading and parsing the same files with `yaml` alone', [
    'flags',
    'ms',
    '`yaml`, ms',
    'ratio',
    'CPU, ms',
    '`yaml`, CPU, ms',
    'CPU, ratio',
    'peak, MiB',
  ]);
  for (const { flags, repository, folder } of workspaces) {
    const rounds: Record<'run' | 'bare', Measured>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await measured([MAIN, 'validate', repository], { folder });
      const bare = await measured([join(HERE, 'client/bare-yaml.mjs'), repository], { folder });
      rounds.push({ run, bare });
    }
    const of = medianOf(rounds);
    line([
      flags,
      whole(of(({ run }) => run.wallMs)),
      whole(of(({ bare }) => bare.wallMs)),
      of(({ run, bare }) => run.wallMs / bare.wallMs).toFixed(2),
      whole(of(({ run }) => run.cpuMs)),
      whole(of(({ bare }) => bare.cpuMs)),
      of(({ run, bare }) => run.cpuMs / bare.cpuMs).toFixed(2),
      whole(of(({ run }) => run.peakMiB)),
    ]);
  }
}

async function noop(workspaces: readonly Workspace[]): Promise<void> {
  await reconcileInSync('No-op `reconcile`, bulk lists available', workspaces, false);
}

async function strict(workspaces: readonly Workspace[]): Promise<void> {
  await reconcileInSync('No-op `reconcile` of a service without bulk lists', workspaces, true);
}

/** Floor: a bare client that makes the same requests, and `validate` of the same files. */
async function reconcileInSync(
  title: string,
  workspaces: readonly Workspace[],
  isStrict: boolean,
): Promise<void> {
  const columns = ['flags', 'ms', 'floor, ms', 'ratio', 'peak, MiB', 'CPU, ms', 'requests'];
  table(title, BEFORE === '' ? columns : [...columns, 'before, ms', 'ratio']);
  for (const workspace of workspaces) {
    await withService(workspace, isStrict, async (service) => {
      await flagkeel(workspace, service, 'reconcile');
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await service.requests();
        const run = await flagkeel(workspace, service, 'reconcile');
        const { lines, atOnce } = await service.requests();
        const floorMs = await floorOf(workspace, service, { lines, atOnce });
        const beforeMs = await runBefore(workspace, service);
        rounds.push({ run, floorMs, requests: lines.length, beforeMs });
      }
      row(workspace.flags, rounds);
    });
  }
}

async function runBefore(
  { folder, repository }: Workspace,
  { origin, key }: Service,
): Promise<number> {
  if (BEFORE === '') return 0;
  const args = [BEFORE, 'reconcile', '--url', origin, repository];
  return (await measured(args, { folder, env: { FLAGKEEL_API_KEY: key } })).wallMs;
}

async function floorOf(
  { folder, repository }: Workspace,
  { origin, key }: Service,
  { lines, atOnce }: { lines: readonly string[]; atOnce: number },
): Promise<number> {
  const file = join(folder, 'paths.txt');
  writeFileSync(file, lines.map((line) => line.replace(/^GET /, '')).join('\n'));
  const script = join(HERE, 'client/bare-client.mjs');
  const client = await measured([script, origin, key, file, String(atOnce)], { folder });
  const read = await measured([MAIN, 'validate', repository], { folder });
  return client.wallMs + read.wallMs;
}

/** What one cycle of `client/cycle.ts` cost. */
interface CycleCost {
  readonly cpuMs: number;
  readonly gitCpuMs: number;
  readonly gitProcesses: number;
  readonly rssMiB: number;
  readonly lookCpuMs: number;
}

const cpuOf = ({ cpuMs }: CycleCost): number => cpuMs;
const cpuWithGitOf = ({ cpuMs, gitCpuMs }: CycleCost): number => cpuMs + gitCpuMs;

async function touched(workspaces: readonly Workspace[]): Promise<void> {
  table('A cycle of a process that goes on, after a commit that touches one flag', [
    'flags',
    'CPU, ms',
    'full cycle, CPU ms',
    'ratio',
    'with git, CPU ms',
    'full, with git',
    'ratio',
    'git processes',
    'requests before the write',
    'look, CPU ms',
    'memory, MiB, first to last',
  ]);
  for (const workspace of workspaces) {
    await withService(workspace, false, async (service) => {
      const { folder, repository } = workspace;
      const script = join(HERE, 'client/cycle.ts');
      const args = [...TSX, script, repository, service.origin, service.key, String(ROUNDS)];
      const { stdout } = await measured(args, { folder });
      const { full, touched: cycles } = JSON.parse(stdout) as Record<
        'full' | 'touched',
        readonly CycleCost[]
      >;
      const { lines } = await service.requests();
      const reads = lines.findIndex((line) => !line.startsWith('GET'));
      const of = (costs: readonly CycleCost[], pick: (cost: CycleCost) => number): number =>
        median(costs.map(pick));
      const pairs = [cpuOf, cpuWithGitOf].flatMap((pick) => {
        const [own, whole_] = [of(cycles, pick), of(full, pick)];
        return [whole(own), whole(whole_), (own / whole_).toFixed(3)];
      });
      const memory = [cycles.at(0), cycles.at(-1)].map((cost) => whole(cost?.rssMiB ?? 0));
      const processes = of(cycles, ({ gitProcesses }) => gitProcesses);
      const look = whole(of(cycles, ({ lookCpuMs }) => lookCpuMs));
      line([workspace.flags, ...pairs, processes, reads, look, memory.join(' → ')]);
    });
  }
}

function row(flags: number, rounds: readonly Round[]): void {
  const of = medianOf(rounds);
  const cells = [
    flags,
    whole(of(({ run }) => run.wallMs)),
    whole(of(({ floorMs }) => floorMs)),
    of(({ run, floorMs }) => run.wallMs / floorMs).toFixed(2),
    whole(of(({ run }) => run.peakMiB)),
    whole(of(({ run }) => run.cpuMs)),
    of(({ requests }) => requests),
    ...(BEFORE === ''
      ? []
      : [
          whole(of(({ beforeMs }) => beforeMs)),
          of(({ run, beforeMs }) => run.wallMs / beforeMs).toFixed(2),
        ]),
  ];
  line(cells);
}

const wanted = process.argv.slice(2);
const names = Object.keys(PARTS).filter((name) => wanted.length === 0 || wanted.includes(name));
const sizes = names.some((name) => !OWN_DATA.has(name)) ? SIZES : [];
const workspaces: Workspace[] = [];
try {
  // One after the other: each fills a store and starts a service.
  for (const size of sizes) workspaces.push(await buildWorkspace(size));
  for (const name of names) await PARTS[name as Part](workspaces);
} finally {
  for (const { folder } of workspaces) rmSync(folder, { recursive: true, force: true });
}
