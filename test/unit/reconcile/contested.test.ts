import { expect, it } from 'vitest';
import type { Applied } from '../../../src/reconcile/context.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const START_MS = Date.UTC(2026, 9, 3, 10);
const MINUTE_MS = 60_000;

it('does not revert for ever what another repository writes', async () => {
  const one = await pipelineWorld();
  const other = await pipelineWorld(one);
  one.repository.commit('Ten', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': flagSpec('shop'),
  });
  other.repository.commit('Twenty', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': flagSpec('shop', { on: 20 }),
  });
  let minutes = 0;
  const run = async (world: PipelineWorld, flags = {}): Promise<Applied> => {
    minutes += 5;
    const now = (): number => START_MS + minutes * MINUTE_MS;
    return world.applied({ environment: ['staging'], ...flags }, { now });
  };
  const heldBy = ({ plan: { withheld } }: Applied): string[] =>
    withheld.map(({ id, why, fields }) => `${id} ${why} ${fields.map(({ path }) => path).join()}`);
  await run(one);
  await run(other);

  let corrections = 0;
  let last = await run(one);
  while (last.plan.changes.length > 0 && corrections < 10) {
    corrections += 1;
    await run(other);
    last = await run(one);
  }

  expect(corrections).toBe(3);
  expect(heldBy(last)).toEqual(['flag/shop@staging contested /defaultRule']);
  expect(last.plan.withheld[0]?.because).toMatch(/^corrected at 2026-10-03T10:15:00.000Z, /);
  minutes += 600;
  expect(heldBy(await run(one))).toEqual(['flag/shop@staging contested /defaultRule']);
  const asked = await run(one, { revertDrift: true });
  expect(asked.plan.changes.map(({ id }) => id)).toEqual(['flag/shop@staging']);
});
