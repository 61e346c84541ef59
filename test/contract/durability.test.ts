import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { killNode, runChaos } from '../chaos/run.js';
import { startPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { callsOf } from '../support/service-calls.js';
import { startTestService } from '../support/service.js';

/** A sample of the long runs (`npm run test:chaos`). */
const SAMPLE = { clients: 16, requests: 400, seed: 4711 } as const;

describe('a service that is killed while many clients change things', () => {
  it('has on disk all that it acknowledged, and breaks no rule', async () => {
    const path = mkdtempSync(join(tmpdir(), 'service-durability-'));
    try {
      const location = { kind: 'directory', path } as const;
      const faults = [killNode(0, 0.5)];
      const report = await runChaos({ ...SAMPLE, location, nodes: 1, faults });

      expect(report.violations).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(100);
      expect(report.kills).toBe(1);
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });

  it.skipIf(lacks('postgresql'))('leaves the other over the same database at work', async () => {
    const postgres = await startPostgres();
    try {
      const location = { kind: 'postgres', url: postgres.url } as const;
      const faults = [killNode(0, 0.5)];
      const report = await runChaos({ ...SAMPLE, location, nodes: 2, faults });

      expect(report.violations).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(100);
    } finally {
      await postgres.stop();
    }
  });
});

describe.skipIf(lacks('postgresql'))('a service whose database connections break', () => {
  it('fails the requests under way and answers the next', async () => {
    const postgres = await startPostgres();
    const service = await startTestService({ store: { kind: 'postgres', url: postgres.url } });
    const admin = new pg.Client({ connectionString: postgres.url });
    try {
      const client = callsOf(service);
      await admin.connect();
      const lock = 'select pg_advisory_lock(72616771)';
      const others = 'pid <> pg_backend_pid() and datname = current_database()';
      await admin.query(lock);
      const underWay = client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'f' });
      const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
      while ((await admin.query(waiting)).rowCount === 0) continue;

      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);

      expect((await underWay).status).toBe(500);
      await admin.query('select pg_advisory_unlock_all()');
      expect((await client.call('GET', '/splits/ws/Default/f')).status).toBe(404);
    } finally {
      await admin.end();
      await service.stop();
      await postgres.stop();
    }
  });
});
