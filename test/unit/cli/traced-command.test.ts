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

/** A protected production in which somebody changed a share by hand. */
beforeEach(async () => {
  world = await pipelineWorld();
  const config = PIPELINE_CONFIG.replace('production: {}', 'production: { protected: true }');
  world.repository.commit('Add pay', {
    'flagkeel.yaml': config,
    'flags/pay.yaml': flagSpec('pay'),
  });
  await world.applied({ adopt: true });
  await changeByHand(70);
  spanExporter.reset();
});

async function changeByHand(on: number): Promise<void> {
  const { live } = world;
  const value = [
    { treatment: 'on', size: on },
    { treatment: 'off', size: 100 - on },
  ];
  const path = `/splits/ws/${live.id}/pay/environments/${live.production}`;
  await live.ok('PATCH', path, [{ op: 'replace', path: '/defaultRule', value }]);
}

async function resultOf(...args: readonly string[]): Promise<unknown> {
  await cliRun(['reconcile', ...args, world.repository.directory], {
    FLAGKEEL_API_KEY: world.service.key,
    FLAGKEEL_URL: world.service.origin,
  });
  const spans = spanExporter.getFinishedSpans();
  return spans.findLast(({ name }) => name === 'flagkeel reconcile')?.attributes['flagkeel.result'];
}

it('calls no run in sync that leaves drift, as the config says, or a conflict, whether or not that may be', async () => {
  expect(await resultOf()).toBe('waiting');
  expect(await resultOf('--revert-drift')).toBe('applied');
  expect(await resultOf()).toBe('in-sync');
  await changeByHand(60);
  world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });
  expect(await resultOf('--allow-held')).toBe('held');
  expect(await resultOf()).toBe('held');
});
