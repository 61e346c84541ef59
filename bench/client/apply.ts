import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measured, median } from './measure.js';
import { line, table } from './table.js';
import { commit, flaghoist, withService, type Workspace } from './workspace.js';

const FLAGS = Number(process.env['BENCH_APPLY_FLAGS'] ?? 1_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CLIENT = join(import.meta.dirname, 'bare-client.ts');

/**
 * The first apply of flags with three environments into an empty service that takes 30 ms for every answer. Floor: a bare
 * client that waits for as many answers of the same service, as many at once; it only reads.
 */
export async function apply(): Promise<void> {
  table('A first apply into a service that answers in 30 ms', [
    'flags',
    'at once',
    'requests',
    's',
    'bare client, s',
    'ratio',
  ]);
  for (const atOnce of [1, 8]) {
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await firstApply(atOnce));
    const of = (pick: (each: Round) => number): number => median(rounds.map(pick));
    const cells = [
      of(({ requests }) => requests),
      seconds(of(({ runMs }) => runMs)),
      seconds(of(({ floorMs }) => floorMs)),
      of(({ runMs, floorMs }) => runMs / floorMs).toFixed(2),
    ];
    line([FLAGS, atOnce, ...cells]);
  }
}

interface Round {
  readonly requests: number;
  readonly runMs: number;
  readonly floorMs: number;
}

async function firstApply(atOnce: number): Promise<Round> {
  const workspace = newWorkspace('flag', FLAGS);
  try {
    return await withService(workspace, false, async (service) => {
      await fetch(`${service.origin}/bench/slow`);
      await service.requests();
      const concurrency = ['--concurrency', String(atOnce)];
      const run = await flaghoist(workspace, service, 'reconcile', ...concurrency);
      const { lines } = await service.requests();
      const { folder } = workspace;
      const file = join(folder, 'paths.txt');
      // The same path for all: what is measured is the waiting.
      writeFileSync(file, lines.map(() => '/internal/api/v2/workspaces').join('\n'));
      const script = ['--import', 'tsx', CLIENT, service.origin, service.key, file, String(atOnce)];
      const bare = await measured(script, { folder });
      return { requests: lines.length, runMs: run.wallMs, floorMs: bare.wallMs };
    });
  } finally {
    rmSync(workspace.folder, { recursive: true, force: true });
  }
}

const PLACES = ['dev', 'staging', 'production'];

/** Specs of so many flags, of which the service has nothing yet. */
export function newWorkspace(prefix: string, flags: number): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'flaghoist-bench-'));
  const [store, repository] = [join(folder, 'store'), join(folder, 'repository')];
  mkdirSync(store);
  mkdirSync(join(repository, 'flags'), { recursive: true });
  writeFileSync(
    join(repository, 'flaghoist.yaml'),
    `workspace: Default\nenvironments: { ${PLACES.map((place) => `${place}: {}`).join(', ')} }\ndefaults: { trafficType: user }\n`,
  );
  writeFlags(repository, prefix, flags);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main'], { cwd: repository });
  commit(repository, 'Write flags');
  return { flags, folder, store, repository };
}

export function writeFlags(repository: string, prefix: string, count: number): void {
  const rule = '{ defaultRule: { "on": 10, "off": rest } }';
  const environments = PLACES.map((place) => `${place}: ${rule}`).join(', ');
  for (let index = 0; index < count; index += 1) {
    const name = `${prefix}-${String(index)}`;
    writeFileSync(
      join(repository, 'flags', `${name}.yaml`),
      `flag: ${name}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { ${environments} }\n`,
    );
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
