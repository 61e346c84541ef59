import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operatorSettings } from '../../../../src/compose/settings.js';
import type { WatchedSource } from '../../../../src/compose/watch.js';
import { healthOf, missingFor } from '../../../../src/daemon/health.js';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import type { Trouble } from '../../../../src/daemon/view.js';
import { watchedWorld } from '../../../support/in-process-daemon.js';
import { PIPELINE_CONFIG, type PipelineWorld } from '../../../support/pipeline-world.js';

interface Case {
  readonly options?: (world: PipelineWorld) => Partial<WatchedSource>;
  /** Done after the first run. */
  readonly then?: (world: PipelineWorld) => unknown;
  readonly headline: string;
  readonly missing: string;
}

const CHECKOUT = {
  headline: 'The checkout is gone or cannot be read',
  missing: 'checkout gone or unreadable: ',
};

const remove = (path: string): void => {
  rmSync(path, { recursive: true, force: true });
};

type What = Exclude<Trouble['what'], 'database'>;

const CASES: Readonly<Record<What | `checkout, ${string}`, Case>> = {
  checkout: {
    ...CHECKOUT,
    then: ({ repository: { directory } }) => {
      remove(directory);
    },
  },
  'checkout, emptied': {
    ...CHECKOUT,
    then: ({ repository: { directory } }) => {
      remove(directory);
      mkdirSync(directory);
    },
  },
  'checkout, without its repository': {
    ...CHECKOUT,
    then: ({ repository: { directory } }) => {
      remove(join(directory, '.git'));
    },
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

it.each(Object.entries(CASES))(
  'a part that is away is named alike by page, readiness, metrics and log: %s',
  async (name, { options, then, headline, missing }) => {
    const [what = ''] = name.split(',');
    const { world, watched } = await watchedWorld(['pay'], {
      options: (made) => ({ intervalMs: 100, ...options?.(made) }),
    });
    await then?.(world);

    await watched.until(
      () => watched.view.troubles.some((trouble) => trouble.what === what),
      `the trouble of ${name}: ${JSON.stringify(watched.view.troubles)}`,
    );

    expect(healthOf(watched.view).verdict.headline).toBe(headline);
    expect(missingFor(watched.view)).toEqual([
      expect.stringContaining(missing),
      ...(watched.view.firstSync ? [] : ['no run has come to an end since the start']),
    ]);
    const page = statusPage(watched.daemon, { now: Date.now(), takesRequests: false });
    expect(page).toContain(`<p>${headline}, since `);
    expect(watched.log.join('')).toContain(`"what":"${what}"`);
    const metrics = await new Metrics().text(watched.daemon, Date.now());
    expect(metrics.match(/flagkeel_trouble\{.*\} 1/g)).toEqual([
      `flagkeel_trouble{source="default",what="${what}"} 1`,
    ]);
    expect(metrics).toContain('flagkeel_ready{source="default"} 0');
    if (what !== 'checkout') return;
    watched.daemon.trigger(null, 'request');
    await watched.until(() => watched.runs.length > 1, 'the run after it was lost');
    expect(watched.runs.at(-1)?.result).toBe('failed');
  },
);
