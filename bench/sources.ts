import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ConfigRepository } from '../test/support/git.js';
import { liveWorkspace } from '../test/support/live-workspace.js';
import { startPostgres } from '../test/support/postgres.js';
import { startTestService } from '../test/support/service.js';
import { Watching } from '../test/support/watching.js';
import { usageOf } from './client/measure.js';
import { line, table } from './client/table.js';

/**
 * What one replica with many sources asks of the database and of the machine while nothing happens: a clone, a flag and a run for each
 * source, then `REST_MS` in which nothing changes. `BENCH_SOURCES=10,100` are the sizes, `BENCH_INTERVAL=1h` how often git is looked at.
 */
const SIZES = (process.env['BENCH_SOURCES'] ?? '10,100').split(',').map(Number);
const INTERVAL = process.env['BENCH_INTERVAL'] ?? '1h';
const REST_MS = 30_000;

interface AtRest {
  readonly transactions: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
  readonly databaseMiB: number;
  readonly connections: number;
}

async function measured(sources: number): Promise<AtRest> {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-bench-'));
  const postgres = await startPostgres();
  const service = await startTestService({ store: { kind: 'memory' } });
  await liveWorkspace(service);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const config = writeSources(folder, sources);
  const args = ['--interval', INTERVAL, '--schedule', 'off', '--config', config];
  const daemon = new Watching([...args, '--url', service.origin], {
    FLAGKEEL_API_KEY: service.key,
    FLAGKEEL_DATABASE: postgres.url,
    FLAGKEEL_STATE_DIR: join(folder, 'state.git'),
  });
  try {
    while (daemon.runs.length < sources) await sleep(500);
    // What the last run leaves to be told.
    await sleep(10_000);
    const before = { transactions: await transactions(client), cpuMs: cpuMsOf(daemon.pid) };
    await sleep(REST_MS);
    const [row] = (await client.query<{ bytes: string; connections: string }>(COUNTED)).rows;
    return {
      transactions: ((await transactions(client)) - before.transactions) / (REST_MS / 1_000),
      cpuMs: (cpuMsOf(daemon.pid) - before.cpuMs) / (REST_MS / 1_000),
      rssMiB: usageOf(daemon.pid).memoryMiB,
      databaseMiB: Number(row?.bytes) / 2 ** 20,
      connections: Number(row?.connections),
    };
  } finally {
    await daemon.stop('SIGKILL');
    await client.end();
    await service.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

const COUNTED = `select pg_database_size(current_database()) as bytes,
  (select count(*) from pg_stat_activity where application_name = 'flagkeel') as connections`;

/** A folder of one repository for each source. @returns the file of sources. */
function writeSources(folder: string, sources: number): string {
  using repository = new ConfigRepository();
  const names = Array.from({ length: sources }, (_, index) => `source-${String(index)}`);
  for (const name of names) {
    repository.write({
      [`${name}/flagkeel.yaml`]: 'workspace: Default\nenvironments:\n  staging: {}\n',
      [`${name}/flags/${name}.yaml`]: `flag: ${name}\ntrafficType: user\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { staging: { defaultRule: "on" } }\n`,
    });
  }
  repository.commit('Write flags');
  const origin = join(folder, 'flags.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
  repository.git('push', '--quiet', origin, 'HEAD:refs/heads/main');
  const lines = names.map((name) => `  - { name: ${name}, repo: ${origin}, path: ${name} }\n`);
  const file = join(folder, 'sources.yaml');
  writeFileSync(file, `sources:\n${lines.join('')}`);
  return file;
}

async function transactions(client: Client): Promise<number> {
  // Its own counters come with a delay of up to a second.
  const { rows } = await client.query<{ count: string }>(
    `select sum(xact_commit) as count from pg_stat_database`,
  );
  return Number(rows[0]?.count);
}

/** With that of the processes of git that it has started and that have ended. */
function cpuMsOf(pid: number): number {
  const { cpuMs, childrenCpuMs } = usageOf(pid);
  return cpuMs + childrenCpuMs;
}

table('One replica with many sources, at rest', [
  ...['sources', 'transactions a second', 'CPU, ms a second'],
  ...['memory, MiB', 'database, MiB', 'connections'],
]);
for (const sources of SIZES) {
  const at = await measured(sources);
  const cells = [at.transactions, at.cpuMs, at.rssMiB, at.databaseMiB, at.connections];
  line([sources, ...cells.map((each) => Math.round(each))]);
}
