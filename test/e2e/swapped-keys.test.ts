import { expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';

const [BETA, BULK] = ['segment/beta@production', 'segment/bulk@production'];
/** One more than are listed without being asked for. */
const LARGE = Array.from({ length: 2_001 }, (_, index) => `user-${10_000 + index}`);

const scenario = useScenario();

/** As many keys as before, and one of them another one. */
async function swapByHand(live: LiveWorkspace, segment: string, key: string): Promise<void> {
  const path = `/segments/${live.production}/${segment}`;
  await live.ok('PUT', `${path}/removeKeys?title=t&comment=c`, {
    keys: [key],
    title: 't',
    comment: 'c',
  });
  await live.ok('PUT', `${path}/upload?title=t&comment=c`, ['somebody-else']);
}

const heldIn = ({ withheld }: PlanDocument): string[] =>
  withheld.map(({ id, why, keys }) => `${id} ${why} ${String(keys?.added)}`);

it('a key that was swapped for another outside git is seen by every one-shot run that says "In sync"', async () => {
  scenario.commit(
    {
      'flagkeel.yaml':
        'workspace: Default\nenvironments: { production: {} }\ndefaults: { trafficType: user }\n',
      'segments/beta.yaml':
        'segment: beta\nenvironments: { production: { keys: [ana, ben, eva] } }\n',
      'segments/bulk.yaml':
        'segment: bulk\nenvironments: { production: { keysFile: bulk.keys } }\n',
      'segments/bulk.keys': LARGE.map((key) => `${key}\n`).join(''),
    },
    'Add beta and bulk',
  );
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  const live = await liveWorkspace(scenario.service);
  await swapByHand(live, 'beta', 'ben');
  await swapByHand(live, 'bulk', 'user-10007');
  const counted = (id: string) => ({ id, what: 'keys', why: 'counted' });

  const usual = await scenario.dryRun();
  expect(heldIn(usual)).toEqual([`${BETA} drift-reported 1`]);
  expect(usual.notCompared).toEqual([counted(BULK)]);
  expect(heldIn(await scenario.dryRun('--only', 'segment/beta'))).toEqual([
    `${BETA} drift-reported 1`,
  ]);

  const every = await scenario.dryRun('--every-key');
  expect(heldIn(every)).toEqual([`${BETA} drift-reported 1`, `${BULK} drift-reported 1`]);
  expect(every.notCompared).toEqual([]);

  const count = await scenario.dryRun('--count-keys');
  expect(heldIn(count)).toEqual([]);
  expect(count.notCompared).toEqual([counted(BETA), counted(BULK)]);

  const reverted = await scenario.reconcile('--revert-drift');
  expect(reverted, reverted.stderr).toMatchObject({ code: 0 });
  expect(reverted.stdout).toContain(`Keys were counted and not compared: ${BULK}`);
  expect(reverted.stdout).toContain('In sync as far as was compared: ');
  const path = `/segments/${live.production}/beta/keys`;
  const { keys } = await live.ok<{ keys: { key: string }[] }>('GET', path);
  expect(keys.map(({ key }) => key).sort()).toEqual(['ana', 'ben', 'eva']);
});
