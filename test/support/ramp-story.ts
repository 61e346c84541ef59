import { onTestFinished } from 'vitest';
import type { PlanReport } from '../../src/report/plan-report.js';
import { rampText } from '../../src/report/view/sentences.js';
import { startScripted, type Script } from './http.js';
import { appliedWorld, flagSpec, PIPELINE_CONFIG, type PipelineWorld } from './pipeline-world.js';

/** What a report says of its ramps. */
export function laddersIn({ ramps = [] }: PlanReport): string {
  return ramps.map(rampText).join(' ');
}

const HOUR_MS = 3_600_000;
export const STEPS = `ramp: "10, 6h, 25, 12h, 50, 1d, 100"`;

/** Hours since the ramp began → the settings of a run. */
export type Clock = (hours: number) => { now: () => number };

/** A flag with a ramp in production, whose share of `on` was zero on the service before the commit that brought it. */
export async function storyOf(
  production = STEPS,
  config = PIPELINE_CONFIG,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ world: PipelineWorld; after: Clock }> {
  const files = { 'flagkeel.yaml': config, 'flags/shop.yaml': flagSpec('shop', { on: 0 }) };
  const world = await appliedWorld(files, {}, environment);
  return { world, after: ramp(world, production) };
}

/** A ramp whose check `slo` asks a server, and passes while at least 0.2 is left. */
export async function checkedStory(
  production: string,
  script: Script,
  { config = PIPELINE_CONFIG, origins }: { config?: string; origins?: string } = {},
) {
  const server = await startScripted(script);
  onTestFinished(server.close);
  const checked = `${config}checks: { slo: { url: "${server.url}/slo", value: /left, atLeast: 0.2 } }\n`;
  const story = await storyOf(production, checked, { FLAGKEEL_ORIGINS: origins ?? server.url });
  return { ...story, server, config: checked };
}

/** Commits the ramp. */
export function ramp(
  { repository }: PipelineWorld,
  production: string,
  message = 'Ramp the shop',
): Clock {
  repository.commit(message, { 'flags/shop.yaml': flagSpec('shop', { on: 0, production }) });
  return since(repository);
}

export function since(repository: PipelineWorld['repository']): Clock {
  const startMs = Number(repository.git('show', '-s', '--format=%ct')) * 1_000;
  return (hours) => ({ now: () => startMs + hours * HOUR_MS });
}
