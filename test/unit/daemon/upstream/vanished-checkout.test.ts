import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { healthOf, isReady } from '../../../../src/daemon/health.js';
import { InProcessDaemon } from '../../../support/in-process-daemon.js';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../../support/pipeline-world.js';

describe('a checkout that is lost while the daemon runs is not in line with git, and not ready', () => {
  it.each<[string, (directory: string) => void]>([
    [
      'removed',
      (directory) => {
        rmSync(directory, { recursive: true });
      },
    ],
    [
      'emptied',
      (directory) => {
        rmSync(directory, { recursive: true });
        mkdirSync(directory);
      },
    ],
    [
      'left without its repository',
      (directory) => {
        rmSync(join(directory, '.git'), { recursive: true });
      },
    ],
  ])('%s', async (_, lose) => {
    const world = await pipelineWorld();
    const { directory } = world.repository;
    world.repository.commit('Add pay', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/pay.yaml': flagSpec('pay'),
    });
    const watched = new InProcessDaemon(directory, world.service);
    onTestFinished(async () => watched.daemon.stop('SIGTERM'));
    watched.daemon.start();
    await watched.rest(1);
    expect(healthOf(watched.view).verdict.headline).toMatch(/^In sync: /);

    lose(directory);
    watched.daemon.trigger(null, 'request');

    await watched.until(() => watched.runs.length > 1, 'the run after it was lost');
    expect(healthOf(watched.view).verdict.headline).toBe('The checkout is gone or cannot be read');
    expect(isReady(watched.view)).toBe(false);
    expect(watched.runs.at(-1)?.result).toBe('failed');
  });
});
