import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN, measured, medianOf } from './measure.js';
import { line, table } from './table.js';
import { commit, emptyWorkspace, withService, type Workspace } from './workspace.js';

const FLAGS = Number(process.env['BENCH_APPLY_FLAGS'] ?? 1_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const AT_ONCE = (process.env['BENCH_APPLY_AT_ONCE'] ?? '1,8').split(',').map(Number);
const CLIENT = join(import.meta.dirname, 'bare-client.mjs');
const RECORDED = join(import.meta.dirname, 'recorded.mjs');

/**
 * The first apply of flags with three environments into an empty service that takes 30 ms for every answer. Floor: a bare
 * client that makes the same requests, as many at once, of such a service that is empty too.
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
  for (const atOnce of AT_ONCE) {
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await firstApply(atOnce));
    const of = medianOf(rounds);
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
  const { folder, store, repository } = workspace;
  try {
    // Both begin with the same ids, which stand in paths.
    await withService(workspace, false, async () => Promise.resolve());
    const twin = { ...workspace, store: join(folder, 'twin') };
    cpSync(store, twin.store, { recursive: true });
    const file = join(folder, 'requests.jsonl');
    const ran = await withService(workspace, false, async ({ origin, key }) => {
      await fetch(`${origin}/bench/slow`);
      const args = ['reconcile', '--concurrency', String(atOnce), '--url', origin, repository];
      const env = { FLAGKEEL_API_KEY: key, BENCH_REQUESTS: file };
      return measured(['--import', RECORDED, MAIN, ...args], { folder, env });
    });
    const bare = await withService(twin, false, async ({ origin, key }) => {
      await fetch(`${origin}/bench/slow`);
      const script = [CLIENT, origin, key, file, String(atOnce)];
      return measured(script, { folder });
    });
    // One that overtook another on which it depends may be refused; it was answered as slowly.
    const requests = readFileSync(file, 'utf8').split('\n').length;
    if (Number(bare.stdout) > requests / 100) throw new Error(`${bare.stdout} were refused`);
    return { requests, runMs: ran.wallMs, floorMs: bare.wallMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PLACES = ['dev', 'staging', 'production'];

/** Specs of so many flags, of which the service has nothing yet. */
export function newWorkspace(prefix: string, flags: number): Workspace {
  const workspace = emptyWorkspace(flags);
  const { repository } = workspace;
  mkdirSync(join(repository, 'flags'));
  writeFileSync(
    join(repository, 'flagkeel.yaml'),
    `workspace: Default\nenvironments: { ${PLACES.map((place) => `${place}: {}`).join(', ')} }\ndefaults: { trafficType: user }\n`,
  );
  writeFlags(repository, prefix, flags);
  commit(repository, 'Write flags');
  return workspace;
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
