import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/platform/sqlite.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { runOutages, type Outage } from './outages.js';

const CLIENTS = 32;

/** The service answers within ten seconds, however long its store fails. */
const LONGER_THAN_ANY_LIMIT_MS = 12_000;

const kill: Outage = {
  cause: '`kill -9` of the service',
  strike: async (node) => {
    await node.kill();
    return async () => node.start();
  },
};

const KILLS = Array.from({ length: 5 }, () => kill);

describe('under 32 clients, a service over a directory', () => {
  it('that is killed, and whose store is locked, has all that it acknowledged and is well again', async () => {
    const path = mkdtempSync(join(tmpdir(), 'flagkeel-outages-'));
    const locked: Outage = {
      cause: 'another process locks the store for 12 s',
      strike: async () => {
        const other = openSqlite(join(path, 'service.sqlite'));
        await expect.poll(() => begins(other)).toBe(true);
        await pause(LONGER_THAN_ANY_LIMIT_MS);
        return () => {
          other.exec('rollback');
          other.close();
        };
      },
    };
    try {
      const report = await runOutages('directory', {
        location: { kind: 'directory', path },
        clients: CLIENTS,
        outages: [...KILLS, locked],
      });

      expect(report.lost).toEqual([]);
      expect(report.refusedIn(locked)).toBeGreaterThan(0);
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});

/** The lock is free between two writes of the service alone. */
function begins(database: ReturnType<typeof openSqlite>): boolean {
  try {
    database.exec('begin immediate');
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(lacks('postgresql'))('under 32 clients, a service over PostgreSQL', () => {
  it('that is killed, and whose server is stopped, restarted and read-only, has all that it acknowledged and is well again', async () => {
    const postgres = await startPostgres();
    const silent: Outage = {
      cause: 'PostgreSQL stops (SIGSTOP) for 12 s and goes on',
      strike: async () => {
        const pids = processesOf(postgres);
        for (const pid of pids) process.kill(pid, 'SIGSTOP');
        await pause(LONGER_THAN_ANY_LIMIT_MS);
        return () => {
          for (const pid of pids) process.kill(pid, 'SIGCONT');
        };
      },
    };
    const restarted: Outage = {
      cause: 'PostgreSQL is ended at once (SIGQUIT) and started',
      strike: async () => postgres.crash(),
    };
    const readOnly: Outage = {
      cause: 'PostgreSQL is read-only for 3 s',
      strike: async () => {
        await becomeReadOnly(postgres, 'on');
        await pause(3_000);
        return async () => becomeReadOnly(postgres, 'off');
      },
    };
    try {
      const report = await runOutages('PostgreSQL', {
        location: { kind: 'postgres', url: postgres.url },
        clients: CLIENTS,
        outages: [...KILLS, silent, restarted, readOnly],
      });

      expect(report.lost).toEqual([]);
      for (const outage of [silent, restarted, readOnly]) {
        expect(report.refusedIn(outage), outage.cause).toBeGreaterThan(0);
      }
    } finally {
      await postgres.stop();
    }
  });
});

/** The server and all processes of it. */
function processesOf({ directory }: TestPostgres): number[] {
  const [server = ''] = readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8');
  return [server, ...children.trim().split(' ')].map(Number);
}

async function becomeReadOnly({ url }: TestPostgres, how: 'on' | 'off'): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`alter system set default_transaction_read_only = ${how}`);
  await client.query('select pg_reload_conf()');
  await client.end();
}
