import { expect, it } from 'vitest';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

async function ok(...args: string[]): Promise<string> {
  const ended = await scenario.run(...args);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  return ended.stdout;
}

const text = (form: RegExp) => expect.stringMatching(form) as string;

it('history has each drift correction, kill and restore with its words, and what each field was', async () => {
  const whole = { staging: 'trafficAllocation: 100, ', production: 'trafficAllocation: 100, ' };
  scenario.commit(
    { 'flagkeel.yaml': PROTECTED_CONFIG, 'flags/pay.yaml': flagText('pay', 10, whole) },
    'Add pay for a tenth',
  );
  await ok('reconcile');
  const live = await liveWorkspace(scenario.service);
  const byHand = async (path: string, value: unknown, environment?: 'staging'): Promise<void> => {
    await live.ok('PATCH', live.at('pay', environment), [{ op: 'replace', path, value }]);
  };
  await byHand('/trafficAllocation', 40, 'staging');
  await ok('reconcile');
  await ok('kill', 'pay', '--environment', 'production', '--reason', 'INC-1');
  await ok('restore', 'pay', '--environment', 'production');
  // It is seen and remembered, and nothing is written.
  await byHand('/killed', true);
  await ok('reconcile');

  const { applies } = JSON.parse(await ok('history', '--format', 'json', 'flag/pay')) as {
    applies: { changes: object[] }[];
  };
  const added = { outcome: 'applied', action: 'create' };
  expect(applies.map(({ changes }) => changes)).toMatchObject([
    [{ action: 'restore', id: 'flag/pay@production' }],
    [
      {
        ...{ outcome: 'applied', action: 'kill', id: 'flag/pay@production' },
        ...{ title: 'Kill pay in production', comment: 'INC-1' },
      },
    ],
    [
      {
        id: 'flag/pay@staging',
        title: text(/^Correct drift of flag\/pay@staging, as of /),
        comment: text(/^Drift correction: /),
        fields: [{ path: '/trafficAllocation', before: 40, after: 100 }],
      },
    ],
    [added, added, added],
  ]);
  // A kill is sent before anything is looked at, so what was there before is not known.
  expect(applies[1]?.changes).toEqual([
    expect.objectContaining({ fields: [{ path: '/killed', after: true }] }),
  ]);

  const inText = await ok('history', 'flag/pay', '-n', '3', '--since', '24h');
  expect(inText).toContain('/trafficAllocation: 40 → 100');
  expect(inText).toContain('INC-1');
  expect(inText).not.toContain('applied create');
});
