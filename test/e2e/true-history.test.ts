import { beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

interface Words {
  readonly title: string;
  readonly comment: string;
}

interface Run {
  readonly head: string | null;
  readonly changes: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly action: string;
    readonly title: string;
    readonly comment?: string;
    readonly fields?: readonly object[];
  }[];
}

describe('the history of what was written', () => {
  const scenario = useScenario();
  const { reconcile } = scenario;
  let live: LiveWorkspace;

  beforeEach(async () => {
    scenario.commit(
      { 'flagkeel.yaml': PROTECTED_CONFIG, 'flags/pay.yaml': pay(10) },
      'Add pay for a tenth',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    live = await liveWorkspace(scenario.service);
  });

  function pay(on: number, allocation = 100): string {
    const members = `trafficAllocation: ${String(allocation)}, `;
    return flagText('pay', on, { staging: members, production: members });
  }

  async function changeByHand(
    path: string,
    value: unknown,
    environment?: 'staging',
  ): Promise<void> {
    const place = live.at('pay', environment);
    const operation = { op: 'replace', path, value };
    await live.ok('PATCH', `${place}?title=By%20hand&comment=By%20hand`, [operation]);
  }

  /** What the service took with a title, in the order in which it took it. */
  function written(): Words[] {
    return scenario.service.requests
      .filter(({ method, status }) => method !== 'GET' && status === 200)
      .map(({ query: { title = '', comment = '' } }) => ({ title, comment }))
      .filter(({ title }) => title !== '' && title !== 'By hand');
  }

  async function history(...args: string[]): Promise<Run[]> {
    const { stdout } = await scenario.run('history', '--format', 'json', ...args);
    return (JSON.parse(stdout) as { applies: Run[] }).applies;
  }

  /** The words of what was written in these runs. */
  function told(runs: readonly (Run | undefined)[]): Words[] {
    return runs
      .flatMap((run) => run?.changes ?? [])
      .filter(({ comment }) => comment !== undefined)
      .map(({ title, comment = '' }) => ({ title, comment }));
  }

  it('has a drift correction, a kill and its restore, each with the words that it carried', async () => {
    await changeByHand('/trafficAllocation', 40, 'staging');
    expect(await reconcile()).toMatchObject({ code: 0 });
    const inProduction = ['pay', '--environment', 'production'];
    expect(await scenario.run('kill', ...inProduction, '--reason', 'INC-1')).toMatchObject({
      code: 0,
    });
    expect(await scenario.run('restore', ...inProduction)).toMatchObject({ code: 0 });
    // It is seen and remembered, and nothing is written.
    await changeByHand('/killed', true);
    expect(await reconcile()).toMatchObject({ code: 0 });

    const [restored, killed, corrected, added, ...more] = await history('flag/pay');

    expect(more).toEqual([]);
    expect(added?.changes.map(({ outcome, action }) => `${outcome} ${action}`)).toEqual(
      Array.from({ length: 3 }, () => 'applied create'),
    );
    expect(corrected?.changes).toMatchObject([
      {
        id: 'flag/pay@staging',
        title: expect.stringMatching(/^Correct drift of flag\/pay@staging, as of /) as string,
        comment: expect.stringMatching(/^Drift correction: /) as string,
        fields: [{ path: '/trafficAllocation', before: 40, after: 100 }],
      },
    ]);
    expect(killed?.changes).toMatchObject([
      {
        outcome: 'applied',
        action: 'kill',
        id: 'flag/pay@production',
        title: 'Kill pay in production',
        comment: 'INC-1',
        // A kill is sent before anything is looked at, so what was there before is not known.
        fields: [{ path: '/killed', after: true }],
      },
    ]);
    expect(killed?.changes[0]?.fields?.[0]).not.toHaveProperty('before');
    expect(restored?.changes).toMatchObject([{ action: 'restore', id: 'flag/pay@production' }]);
    expect(new Set(told([restored, killed, corrected, added]))).toEqual(new Set(written()));
    const inText = await scenario.run('history', 'flag/pay', '-n', '3', '--since', '24h');
    expect(inText.stdout).toContain('/trafficAllocation: 40 → 100');
    expect(inText.stdout).toContain('INC-1');
    expect(inText.stdout).not.toContain('applied create');
  });
});
