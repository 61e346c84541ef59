import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { lacks } from '../support/requirements.js';
import { killNode, runChaos, type ChaosOptions, type ChaosReport, type Fault } from './run.js';
import { GROUNDS, type Ground, type Kept } from './stores/grounds.js';

/**
 * `CHAOS_SEED` repeats a run's choices, though not its timing; `CHAOS_REQUESTS` makes it shorter or longer, and
 * `CHAOS_SECONDS` is where sending ends on a slow machine.
 */
const SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
const REQUESTS = Number(process.env['CHAOS_REQUESTS'] ?? 50_000);
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 600);

/** The service answers within ten seconds, however long its store fails. */
const LONGER_THAN_ANY_LIMIT_MS = 12_000;

/** A run that must break no rule. */
async function run(
  what: string,
  { location }: Kept,
  options: Pick<ChaosOptions, 'faults' | 'forgivesErrors'> & Partial<ChaosOptions>,
): Promise<ChaosReport> {
  const bounds = { clients: 64, requests: REQUESTS, maxSeconds: SECONDS, seed: SEED };
  const report = await runChaos({ ...bounds, location, nodes: 1, ...options });
  const { violations, ...figures } = report;
  process.stdout.write(`${what}: ${JSON.stringify(figures)}, ${violations.length} violations\n`);
  expect(violations.slice(0, 10)).toEqual([]);
  return report;
}

/** What the store fails with from so many of the requests on, and for how long. */
const failing = (kept: Kept, fault: string, after: number, forMs = 0): Fault => ({
  after,
  strike: async ([node]) => {
    const mend = await kept.strike(fault, node?.pid ?? 0);
    await pause(forMs);
    await mend();
  },
});

const [DIRECTORY, POSTGRES] = GROUNDS;

describe('an embedded service', () => {
  it('that is killed under load has all that it acknowledged and breaks no rule', async () => {
    const kept = await (await DIRECTORY.open()).empty();
    const report = await run('embedded', kept, { faults: [killNode(0, 0.5)] });

    expect(report.unanswered).toBeGreaterThan(0);
    await kept.remove();
  });

  it('whose store is locked for longer than a request waits has all that it acknowledged', async () => {
    const kept = await (await DIRECTORY.open()).empty();
    const locked = failing(kept, 'locked by another process', 0.5, LONGER_THAN_ANY_LIMIT_MS);
    const requests = Math.min(REQUESTS, 10_000);
    const options = { clients: 32, requests, forgivesErrors: true, faults: [locked] };

    expect((await run('embedded, locked', kept, options)).unanswered).toBeGreaterThan(0);
    await kept.remove();
  });
});

describe.skipIf(lacks('postgresql'))('a service over PostgreSQL', () => {
  let ground: Ground;

  beforeAll(async () => {
    ground = await POSTGRES.open();
    return async () => ground.dispose();
  });

  it('that is killed under load has all that it acknowledged', async () => {
    const report = await run('postgres', await ground.empty(), { faults: [killNode(0, 0.5)] });

    expect(report.unanswered).toBeGreaterThan(0);
  });

  it('goes on when the other of two is killed, and answers everything', async () => {
    const faults = [killNode(0, 0.4)];
    const report = await run('postgres, two services', await ground.empty(), { nodes: 2, faults });

    expect(report.unanswered).toBeGreaterThan(0);
  });

  it('outlives the loss of all its connections', async () => {
    const kept = await ground.empty();
    const faults = [0.2, 0.4, 0.6].map((after) => failing(kept, 'refused', after));
    const report = await run('postgres, connections cut', kept, { forgivesErrors: true, faults });

    expect(report.kills).toBe(0);
  });

  it('two of it, each of which is killed, keep what they acknowledged through every failure of the database', async () => {
    const kept = await ground.empty();
    const report = await run('postgres, two services, each killed, and four failures', kept, {
      nodes: 2,
      clients: 32,
      requests: Math.min(REQUESTS, 10_000),
      forgivesErrors: true,
      faults: [
        killNode(0, 0.1),
        failing(kept, 'server killed (SIGQUIT)', 0.2),
        failing(kept, 'server frozen (SIGSTOP)', 0.35, LONGER_THAN_ANY_LIMIT_MS),
        killNode(1, 0.5),
        failing(kept, 'server killed (SIGQUIT)', 0.6),
        // Refusals come fast: many requests pass while it lasts.
        failing(kept, 'read-only', 0.75, 3_000),
      ],
    });

    expect(report.kills).toBe(2);
  });
});
