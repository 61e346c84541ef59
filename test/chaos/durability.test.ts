import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { killNode, runChaos, type ChaosOptions, type ChaosReport } from './run.js';

/**
 * `CHAOS_SEED` repeats a run's choices, though not its timing; `CHAOS_REQUESTS` makes it shorter or longer, and
 * `CHAOS_SECONDS` is where sending ends on a slow machine.
 */
const SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
const REQUESTS = Number(process.env['CHAOS_REQUESTS'] ?? 50_000);
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 600);

/** A run that must break no rule. */
async function run(
  what: string,
  options: Pick<ChaosOptions, 'location' | 'nodes' | 'faults' | 'forgivesErrors'> &
    Partial<Pick<ChaosOptions, 'clients' | 'requests'>>,
): Promise<ChaosReport> {
  const bounds = { clients: 64, requests: REQUESTS, maxSeconds: SECONDS, seed: SEED };
  const report = await runChaos({ ...bounds, ...options });
  const { violations, ...figures } = report;
  process.stdout.write(`${what}: ${JSON.stringify(figures)}, ${violations.length} violations\n`);
  expect(violations.slice(0, 10)).toEqual([]);
  return report;
}

describe('an embedded service that is killed under load', () => {
  it('has all that it acknowledged and breaks no rule', async () => {
    const path = mkdtempSync(join(tmpdir(), 'flagkeel-chaos-'));
    try {
      const location = { kind: 'directory', path } as const;
      const report = await run('embedded', { location, nodes: 1, faults: [killNode(0, 0.5)] });

      expect(report.unanswered).toBeGreaterThan(0);
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});

describe.skipIf(lacks('postgresql'))('a service over PostgreSQL', () => {
  let postgres: TestPostgres;

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(async () => {
    await postgres.stop();
  });

  async function createDatabase(): Promise<{ kind: 'postgres'; url: string }> {
    return { kind: 'postgres', url: await postgres.createDatabase() };
  }

  it('that is killed under load has all that it acknowledged', async () => {
    const location = await createDatabase();
    const report = await run('postgres', { location, nodes: 1, faults: [killNode(0, 0.5)] });

    expect(report.unanswered).toBeGreaterThan(0);
  });

  it('goes on when the other of two is killed, and answers everything', async () => {
    const location = await createDatabase();
    const report = await run('postgres, two services', {
      location,
      nodes: 2,
      faults: [killNode(0, 0.4)],
    });

    expect(report.unanswered).toBeGreaterThan(0);
  });

  it('outlives the loss of all its connections', async () => {
    const location = await createDatabase();
    const cut = async (): Promise<void> => {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
        [new URL(location.url).pathname.slice(1)],
      );
      await client.end();
    };
    const report = await run('postgres, connections cut', {
      location,
      nodes: 1,
      forgivesErrors: true,
      faults: [0.2, 0.4, 0.6].map((after) => ({ after, strike: cut })),
    });

    expect(report.kills).toBe(0);
  });

  it('two of it, each of which is killed, keep what they acknowledged through crashes of the database', async () => {
    const location = await createDatabase();
    const report = await run('postgres, two services, each killed, and two crashes', {
      location,
      nodes: 2,
      clients: 32,
      requests: Math.min(REQUESTS, 10_000),
      forgivesErrors: true,
      faults: [
        killNode(0, 0.2),
        { after: 0.4, strike: crash },
        killNode(1, 0.6),
        { after: 0.8, strike: crash },
      ],
    });

    expect(report.kills).toBe(2);
  });

  /** `kill -9` of one of its processes: the server ends all others, and recovers from its log before it answers again. */
  async function crash(): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const gone = new Promise((resolve) => client.once('end', resolve));
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
    await gone;
  }
});
