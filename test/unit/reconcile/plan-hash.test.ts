import { beforeEach, describe, expect, it } from 'vitest';
import { plan } from '../../../src/reconcile/reconcile.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
  type RunSettings,
} from '../../support/pipeline-world.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

let world: PipelineWorld;
let start: string;

const ramped = (ramp: string, more = ''): string =>
  flagSpec('pay', { production: `ramp: '${ramp}'${more}` });

beforeEach(async () => {
  world = await pipelineWorld();
  start = world.repository.commit('Add pay and cart', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
    'flags/cart.yaml': flagSpec('cart'),
  });
  await world.applied();
});

const hashOf = async (settings?: RunSettings): Promise<string> =>
  (await world.planned(settings)).planHash;

async function printedHash(command: string, ...args: readonly string[]): Promise<string> {
  const { directory } = world.repository;
  const { stdout, stderr } = await cliRun([command, directory, ...args], {});
  const [, hash] = /sha256(?::|&#58;)([0-9a-f]{64})/.exec(stdout) ?? [];
  if (hash === undefined) throw new Error(stdout + stderr);
  return hash;
}

const offlineHash = async (since: string): Promise<string> =>
  printedHash('review', '--offline', '--since', since);

/** Of a dry run against a service that lasts, under the same name as that of an offline review. */
const embeddedHash = async (since: string): Promise<string> =>
  printedHash('plan', '--embedded', '--since', since);

describe('the hash of a plan', () => {
  it('of a plain share is not that of a ramp that begins with the same share', async () => {
    world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 25 }) });
    const plain = await hashOf();
    world.repository.git('reset', '--quiet', '--hard', start);
    world.repository.commit('Ramp pay', { 'flags/pay.yaml': ramped('25, 1m, 100') });

    expect(await hashOf()).not.toBe(plain);
  });

  it('is another one once the specs start from another share', async () => {
    world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 25 }) });
    const [online, offline] = [await hashOf({ since: start }), await offlineHash(start)];
    world.repository.git('reset', '--quiet', '--hard', start);
    const moved = world.repository.commit('Meanwhile', {
      'flags/pay.yaml': flagSpec('pay', { on: 24 }),
    });
    await world.applied();
    world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 25 }) });

    expect(await hashOf({ since: moved })).not.toBe(online);
    expect(await offlineHash(moved)).not.toBe(offline);
  });

  it('covers the share from which a definition is deleted', async () => {
    const config = `${PIPELINE_CONFIG}prune: true\n`;
    const away = async (on: number): Promise<string> => {
      world.repository.git('reset', '--quiet', '--hard', start);
      world.repository.commit('Share', {
        'flagkeel.yaml': config,
        'flags/pay.yaml': flagSpec('pay', { on }),
      });
      await world.applied();
      world.repository.git('rm', '--quiet', 'flags/pay.yaml');
      world.repository.commit('Take pay out');
      return hashOf();
    };

    expect(await away(20)).not.toBe(await away(90));
  });

  it.each([
    ['a plain share', () => flagSpec('pay', { on: 25 })],
    ['a new ramp', () => ramped('25, 1m, 100')],
  ])(
    'of %s is the same offline, online, and over a squash beside other merges',
    async (_, spec) => {
      const { repository } = world;
      const applied = async (): Promise<CliRun> =>
        cliRun(['reconcile', repository.directory, '--embedded'], {});
      await applied();
      repository.git('checkout', '--quiet', '-b', 'work');
      repository.commit('Ramp pay', { 'flags/pay.yaml': spec() });
      const [offline, online] = [await offlineHash('main'), await embeddedHash('main')];
      repository.git('checkout', '--quiet', 'main');
      repository.commit('Ramp cart meanwhile', { 'flags/cart.yaml': flagSpec('cart', { on: 30 }) });
      await applied();
      repository.git('merge', '--quiet', '--squash', 'work');
      repository.commit('Squashed');

      expect(online).toBe(offline);
      expect(await embeddedHash('HEAD~1')).toBe(offline);
    },
  );

  it('stays the same while a ramp of the same object steps', async () => {
    const { repository } = world;
    const merged = repository.commit('Ramp pay', {
      'flags/pay.yaml': ramped('25, 1m, 50, 1m, 100'),
    });
    const minute = (at: number) => ({
      now: () => Date.parse('2026-11-02T12:00:00Z') + at * 60_000,
    });
    await world.applied({}, minute(0));
    const spec = ramped('25, 1m, 50, 1m, 100', ', trafficAllocation: 80');
    repository.commit('Allocate less', { 'flags/pay.yaml': spec });
    const hashes = [];
    for (const at of [0, 1, 2]) {
      await using run = await world.opened({ dryRun: true, since: merged });
      const context = { ...run.context, ...minute(at) };
      hashes.push((await plan(context)).planHash);
    }

    expect(new Set(hashes).size).toBe(1);
  });
});
