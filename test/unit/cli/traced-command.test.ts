import { beforeEach, expect, it } from 'vitest';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { spanExporter } from '../../support/spans.js';
import { cliRun } from '../../support/terminal.js';

let world: PipelineWorld;

/** A protected production in which a commit meets a change by hand. */
beforeEach(async () => {
  world = await pipelineWorld();
  const { repository, live } = world;
  const config = PIPELINE_CONFIG.replace('production: {}', 'production: { protected: true }');
  repository.commit('Add pay', { 'flagkeel.yaml': config, 'flags/pay.yaml': flagSpec('pay') });
  await world.applied({ adopt: true });
  const path = `/splits/ws/${live.id}/pay/environments/${live.production}`;
  const value = [
    { treatment: 'on', size: 70 },
    { treatment: 'off', size: 30 },
  ];
  await live.ok('PATCH', path, [{ op: 'replace', path: '/defaultRule', value }]);
  spanExporter.reset();
});

async function resultOf(...args: readonly string[]): Promise<unknown> {
  await cliRun(['reconcile', ...args, world.repository.directory], {
    FLAGKEEL_API_KEY: world.service.key,
    FLAGKEEL_URL: world.service.origin,
  });
  const spans = spanExporter.getFinishedSpans();
  return spans.findLast(({ name }) => name === 'flagkeel reconcile')?.attributes['flagkeel.result'];
}

it('does not call a run in sync that leaves drift as the config says', async () => {
  expect(await resultOf()).toBe('waiting');
});

it('does not call a run in sync of which a conflict is held, whether or not that may be', async () => {
  world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });
  await resultOf();

  expect(await resultOf('--allow-held')).toBe('held');
  expect(await resultOf()).toBe('held');
});

it('calls a run in sync once nothing differs', async () => {
  await resultOf('--revert-drift');

  expect(await resultOf()).toBe('in-sync');
});
