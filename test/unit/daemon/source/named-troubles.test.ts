import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { operatorSettings } from '../../../../src/compose/settings.js';
import type { WatchedSource } from '../../../../src/compose/watch.js';
import { healthOf, missingFor } from '../../../../src/daemon/health.js';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import type { Trouble } from '../../../../src/daemon/view.js';
import { InProcessDaemon } from '../../../support/in-process-daemon.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../../support/pipeline-world.js';

const INTERVAL_MS = 100;

interface Case {
  readonly options?: (world: PipelineWorld) => Partial<WatchedSource>;
  /** Done after the first run. */
  readonly then?: (world: PipelineWorld) => unknown;
  readonly headline: string;
  readonly missing: string;
}

const CASES: Readonly<Record<Exclude<Trouble['what'], 'database'>, Case>> = {
  checkout: {
    then: ({ repository }) => {
      rmSync(repository.directory, { recursive: true, force: true });
    },
    headline: 'The checkout is gone or cannot be read',
    missing: 'checkout gone or unreadable: ',
  },
  remote: {
    options: ({ repository }) => ({
      place: { repo: 'https://127.0.0.1:1/flags.git', branch: undefined, path: undefined },
      settings: operatorSettings({ FLAGKEEL_STATE_DIR: `${repository.directory}-state` }),
    }),
    headline: 'The remote cannot be reached',
    missing: 'remote not reachable: ',
  },
  service: {
    then: async ({ service }) => service.stop(),
    headline: 'The service cannot be reached',
    missing: 'service not reachable: ',
  },
  'key-missing': {
    options: () => ({ settings: operatorSettings({}) }),
    headline: 'There is no key for the service',
    missing: 'no key for the service: ',
  },
  'key-refused': {
    options: () => ({ settings: operatorSettings({ FLAGKEEL_API_KEY: 'another-key' }) }),
    headline: 'The service refuses the key',
    missing: 'key refused by the service: ',
  },
  place: {
    then: ({ repository }) =>
      repository.commit('Name an environment that is not there', {
        'flagkeel.yaml': PIPELINE_CONFIG.replace('staging', 'elsewhere'),
      }),
    headline: 'The service lacks the workspace or an environment',
    missing: 'workspace or environment missing: ',
  },
};

describe('a part that is away', () => {
  let world: PipelineWorld;

  beforeEach(async () => {
    world = await pipelineWorld();
    world.repository.commit('Add pay', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/pay.yaml': flagSpec('pay'),
    });
  });

  it.each(Object.entries(CASES))(
    'is named alike by page, readiness, metrics and log: %s',
    async (name, { options, then, headline, missing }) => {
      const watched = new InProcessDaemon(world.repository.directory, world.service, {
        intervalMs: INTERVAL_MS,
        ...options?.(world),
      });
      onTestFinished(async () => watched.daemon.stop('SIGTERM'));
      watched.daemon.start();
      await watched.until(() => watched.runs.length > 0, 'a run');
      await then?.(world);

      await watched.until(
        () => watched.view.troubles.some(({ what }) => what === name),
        `the trouble of ${name}: ${JSON.stringify(watched.view.troubles)}`,
      );

      expect(healthOf(watched.view).verdict.headline).toBe(headline);
      expect(missingFor(watched.view)).toEqual([
        expect.stringContaining(missing),
        ...(watched.view.firstSync ? [] : ['no run has come to an end since the start']),
      ]);
      const page = statusPage(watched.daemon, { now: Date.now(), takesRequests: false });
      expect(page).toContain(`<p>${headline}, since `);
      expect(watched.log.join('')).toContain(`"what":"${name}"`);
      const metrics = await new Metrics().text(watched.daemon, Date.now());
      expect(metrics.match(/flagkeel_trouble\{.*\} 1/g)).toEqual([
        `flagkeel_trouble{source="default",what="${name}"} 1`,
      ]);
      expect(metrics).toContain('flagkeel_ready{source="default"} 0');
    },
  );
});
