import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { killNode, runChaos } from '../chaos/run.js';
import { startPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';

/** A sample of the long runs (`npm run test:chaos`). */
const SAMPLE = { clients: 16, requests: 600, seed: 4711 } as const;

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
