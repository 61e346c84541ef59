import { beforeEach, describe, expect, it } from 'vitest';
import { plan } from '../../../src/reconcile/reconcile.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

let world: PipelineWorld;

const ramped = (ramp: string, more = ''): string =>
  flagSpec('pay', { production: `ramp: '${ramp}'${more}` });

beforeEach(async () => {
  world = await pipelineWorld();
  world.repository.commit('Add pay and cart', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
    'flags/cart.yaml': flagSpec('cart'),
  });
  await world.applied();
});

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
