import { beforeEach, expect, it } from 'vitest';
import {
  appliedWorld,
  flagSpec,
  PROTECTED_PIPELINE,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { spanExporter } from '../../support/spans.js';

let world: PipelineWorld;

/** A protected production in which somebody changed a share by hand. */
beforeEach(async () => {
  const files = { 'flagkeel.yaml': PROTECTED_PIPELINE, 'flags/pay.yaml': flagSpec('pay') };
  world = await appliedWorld(files);
  await changeByHand(70);
  spanExporter.reset();
});

const changeByHand = async (on: number): Promise<void> => world.live.set('pay', { on });

async function spanOf(command: string, ...args: readonly string[]) {
  await world.command(command, ...args);
  return spanExporter.getFinishedSpans().findLast(({ name }) => name === `flagkeel ${command}`);
}

async function resultOf(...args: readonly string[]): Promise<unknown> {
  return (await spanOf('reconcile', ...args))?.attributes['flagkeel.result'];
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

it('says of a plan and of a kill how they ended, and nothing that a person wrote', async () => {
  const words = ['pay', '--environment', 'production', '--reason', 'what-a-person-wrote'];
  const ended = [await spanOf('plan'), await spanOf('kill', ...words)];

  expect(ended.map((span) => span?.attributes['flagkeel.result'])).toEqual(['planned', 'done']);
  const all = spanExporter.getFinishedSpans().map(({ attributes }) => attributes);
  expect(JSON.stringify(all)).not.toContain('what-a-person-wrote');
});
