import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readStatuses } from '../../../../src/compose/operations.js';
import { createLog } from '../../../../src/platform/log.js';
import { aRun, aSource, DaemonInMemory } from '../../../support/daemon-view.js';
import { startTestForge, type TestForge } from '../../../support/forge.js';
import { listen } from '../../../support/loopback.js';
import { aReport, aWithheld } from '../../../support/plan-builder.js';

const COMMITS: Readonly<Record<string, string>> = { A: 'a'.repeat(40), B: 'b'.repeat(40) };
const WHOLE = 'flagkeel-watch';
const TOKEN = 'FLAGKEEL_FORGE_TOKEN';

/** A change in each environment waits for its window. */
const WAITING = aReport({
  withheld: ['flag/a@staging', 'flag/a@production'].map((id) =>
    aWithheld(id, 'update', 'window-closed'),
  ),
});

describe('statuses on commits', () => {
  let forge: TestForge;
  let daemon: DaemonInMemory;
  let logged: string;

  beforeEach(async () => {
    forge = await startTestForge('github');
    daemon = new DaemonInMemory(aSource({ name: 'default' }));
    logged = '';
  });

  afterEach(async () => forge.close());

  function open(members: { forgeUrl?: string; environment?: Record<string, string> } = {}) {
    const { forgeUrl = forge.url, environment = { [TOKEN]: forge.token } } = members;
    const openStatuses = readStatuses(
      { statuses: 'github', forgeUrl, publicUrl: 'https://flags.example.com/' },
      [{ name: 'default', place: { repo: `${forge.url}/acme/flags.git` } as never }],
      environment,
    );
    const stream = { write: (line: string) => (logged += line) };
    const log = createLog({ level: 'debug', format: 'json', stream });
    return openStatuses(daemon, log);
  }

  /** @param told how many statuses were sent, or refused, since the beginning. */
  async function settled(told: number): Promise<void> {
    const count = (): number => (logged.match(/"msg":"commit status/g) ?? []).length;
    await expect.poll(count, { timeout: 10_000 }).toBe(told);
  }

  /** Runs by the letter of their commit. */
  async function play(step: string): Promise<void> {
    const [what, letter = '', result = 'in-sync'] = step.split(' ');
    const commit = COMMITS[letter] ?? '';
    if (what === 'begin') daemon.begin({ id: 'run', commit });
    const report = result === 'waiting' ? WAITING : aReport();
    if (what === 'end')
      daemon.end(aRun(report, { commit, result: result as 'failed', id: '20260101-7' }));
    if (what === 'without-production')
      daemon.show(aSource({ name: 'default', environments: ['staging'] }));
    if (what === 'standby') daemon.show(aSource({ name: 'default', leader: false }));
    if (what === 'forbid') forge.isReadOnly = true;
    if (what === 'allow') forge.isReadOnly = false;
    if (what === 'told') await settled(Number(letter));
  }

  it.each<[string, string, string, string?]>([
    [
      'pending from the beginning of a run, and closed at its end',
      'begin A,told 3,end A',
      'pending success',
    ],
    [
      'sent again only where the end is another',
      'begin A,told 3,end A,told 6,begin A,end A,begin A,end A failed,told 9,begin A,end A,told 12',
      'pending success error success',
    ],
    [
      'open where a window holds the change of a commit whose first run failed',
      'begin A,told 3,end A failed,told 6,begin A,end A waiting,told 9,begin A,end A,told 12',
      'pending error pending success',
    ],
    [
      'open in the words of the end where the first run already waits for a window',
      'begin A,told 3,end A waiting,told 6,begin A,end A waiting',
      'pending pending',
    ],
    [
      'closed when the daemon stops, though the run never told its end',
      'begin A,told 3',
      'pending error',
    ],
    [
      'closed when the next run begins, where the run broke off',
      'begin A,told 3,begin B,told 9',
      'pending error',
      'pending error',
    ],
    [
      'closed of an environment that the commit takes away',
      'begin A,told 3,without-production,end A',
      'pending success',
    ],
    [
      'left to the replica that keeps the source now',
      'begin A,told 3,standby,end A interrupted',
      'pending',
    ],
    [
      'sent with the next run where the forge did not take them at the end',
      'begin A,told 3,forbid,end A,told 6,allow,begin B,told 12,end B,told 15',
      'pending success',
      'pending success',
    ],
  ])('are %s', async (_, steps, ofA, ofB = '') => {
    const statuses = open();
    for (const step of steps.split(',')) await play(step);
    await statuses.close();

    for (const context of [WHOLE, `${WHOLE}/staging`, `${WHOLE}/production`]) {
      const states = ['A', 'B'].map((letter) =>
        forge.statuses
          .filter((each) => each.sha === COMMITS[letter] && each.context === context)
          .map(({ state }) => state)
          .join(' '),
      );
      expect([context, ...states]).toEqual([context, ofA, ofB]);
    }
    expect(daemon.listeners).toBe(0);
    expect(logged).not.toContain(forge.token);
    for (const { link } of forge.statuses.filter(({ state }) => state === 'success'))
      expect(link).toBe('https://flags.example.com/runs/20260101-7');
  });

  it('end as the last run says, which ends while the status before it is being sent', async () => {
    const statuses = open();
    for (const step of ['begin A', 'told 3', 'end A', 'told 6']) await play(step);
    await Promise.all(['end A failed', 'end A'].map(play));
    await statuses.close();

    const shown = new Map(forge.statuses.map(({ context, state }) => [context, state]));
    expect([...shown.values()]).toEqual(['success', 'success', 'success']);
  });

  it('of a forge that never answers wait in bounds, and are given up when the daemon stops', async () => {
    const silent = await listen(createServer(() => undefined));
    const statuses = open({ forgeUrl: silent.url });
    for (let run = 0; run < 100; run += 1) {
      const commit = String(run).padStart(40, '0');
      daemon.begin({ id: 'run', commit });
      daemon.end(aRun(aReport(), { commit }));
    }

    await statuses.close();

    expect(logged).toContain('too many are waiting');
    expect(/"untold":(\d+)/.exec(logged)?.[1]).toBe('200');
    await silent.close();
  });

  it('are refused without a token, or where one would go in the clear', () => {
    expect(() => open({ environment: {} })).toThrow(TOKEN);
    expect(() => open({ forgeUrl: 'http://forge.example.com' })).toThrow('https only');
  });
});
