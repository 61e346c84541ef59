import { expect, it } from 'vitest';
import { makeRepository } from '../../support/git.js';
import { flagSpec, PIPELINE_CONFIG } from '../../support/pipeline-world.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

it.each([
  ['a plain share', { on: 25 }],
  ['a new ramp', { production: `ramp: '25, 1m, 100'` }],
])(
  'the hash of a plan of %s is the same offline, online, and over a squash beside other merges',
  async (_, change) => {
    const repository = makeRepository();
    const { directory } = repository;
    const applied = async (): Promise<CliRun> => cliRun(['reconcile', directory, '--embedded'], {});
    const printedHash = async (command: string, where: string, since: string): Promise<string> => {
      const run = await cliRun([command, directory, where, '--since', since], {});
      const [, hash] = /sha256(?::|&#58;)([0-9a-f]{64})/.exec(run.stdout) ?? [];
      if (hash === undefined) throw new Error(run.stdout + run.stderr);
      return hash;
    };
    repository.commit('Add pay and cart', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/pay.yaml': flagSpec('pay'),
      'flags/cart.yaml': flagSpec('cart'),
    });
    await applied();
    repository.git('checkout', '--quiet', '-b', 'work');
    repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', change) });
    const offline = await printedHash('review', '--offline', 'main');
    // A dry run against a service that lasts, under the same name as that of an offline review.
    const online = await printedHash('plan', '--embedded', 'main');
    repository.git('checkout', '--quiet', 'main');
    repository.commit('Ramp cart meanwhile', { 'flags/cart.yaml': flagSpec('cart', { on: 30 }) });
    await applied();
    repository.git('merge', '--quiet', '--squash', 'work');
    repository.commit('Squashed');

    expect(online).toBe(offline);
    expect(await printedHash('plan', '--embedded', 'HEAD~1')).toBe(offline);
  },
);
