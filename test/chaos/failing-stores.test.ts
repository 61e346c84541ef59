import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CutLine } from '../support/cut-line.js';
import { startPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { DIRECTORY_FAULTS, faultCalled, POSTGRES_FAULTS } from '../support/store-faults.js';
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
      strike: async ({ pid }) => {
        const mend = await faultCalled(DIRECTORY_FAULTS, 'locked by another process').strike({
          path,
          pid,
        });
        await pause(LONGER_THAN_ANY_LIMIT_MS);
        return mend;
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

describe.skipIf(lacks('postgresql'))('under 32 clients, a service over PostgreSQL', () => {
  it('that is killed, and whose server is stopped, restarted and read-only, has all that it acknowledged and is well again', async () => {
    const postgres = await startPostgres();
    const line = await CutLine.open(postgres.port);
    const strike = async (fault: string, forMs: number) => {
      const mend = await faultCalled(POSTGRES_FAULTS, fault).strike({
        postgres,
        url: postgres.url,
        line,
      });
      await pause(forMs);
      return mend;
    };
    const silent: Outage = {
      cause: 'PostgreSQL stops (SIGSTOP) for 12 s and goes on',
      strike: async () => strike('server frozen (SIGSTOP)', LONGER_THAN_ANY_LIMIT_MS),
    };
    const restarted: Outage = {
      cause: 'PostgreSQL is ended at once (SIGQUIT) and started',
      strike: async () => strike('server killed (SIGQUIT)', 0),
    };
    const readOnly: Outage = {
      cause: 'PostgreSQL is read-only for 3 s',
      strike: async () => strike('read-only', 3_000),
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
      await line.close();
      await postgres.stop();
    }
  });
});
