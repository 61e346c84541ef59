import { beforeEach, describe, expect, it } from 'vitest';
import {
  appliedWorld,
  flagSpec,
  PROTECTED_PIPELINE,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import type { CliRun } from '../../support/terminal.js';

let world: PipelineWorld;
let merge: Readonly<Record<'start' | 'first' | 'second', string>>;
let hash: Readonly<Record<'first' | 'second', string>>;

/**
 * The first merge ramps `pay`, the second one `cart`, each with a plan that was reviewed. The apply of the first met a
 * service that was away; that of the second has run.
 */
beforeEach(async () => {
  const files = { 'flags/pay.yaml': flagSpec('pay'), 'flags/cart.yaml': flagSpec('cart') };
  world = await appliedWorld({ 'flagkeel.yaml': PROTECTED_PIPELINE, ...files });
  const { repository } = world;
  const start = repository.git('rev-parse', 'HEAD');
  const first = repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });
  const ofFirst = await hashSince(start);
  const second = repository.commit('Ramp cart', {
    'flags/cart.yaml': flagSpec('cart', { on: 30 }),
  });
  merge = { start, first, second };
  hash = { first: ofFirst, second: await hashSince(first) };
});

const run = async (...args: readonly string[]): Promise<CliRun> => world.command(...args);

async function hashSince(revision: string): Promise<string> {
  const { stdout } = await run('plan', '--since', revision, '--format', 'json');
  return (JSON.parse(stdout) as { planHash: string }).planHash;
}

const applySecond = async (): Promise<CliRun> =>
  run('reconcile', '--since', merge.first, '--plan-hash', hash.second);

async function applyFirst(): Promise<CliRun> {
  world.repository.git('checkout', '--quiet', merge.first);
  return run('reconcile', '--since', merge.start, '--plan-hash', hash.first);
}

const shareOf = async (flag: string): Promise<number> => world.live.share(flag);

describe('a merged and reviewed change that was never applied', () => {
  it('does not let the apply of the next merge end well: exit 8, no drift, and the way out', async () => {
    const { exitCode, stdout } = await applySecond();

    expect(exitCode).toBe(8);
    expect(stdout).toContain(
      'Not in sync: flag/pay@production, flag/pay@staging held for a person (no reviewed plan shows it)',
    );
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('flagkeel reconcile --only flag/pay');
    expect(await shareOf('cart')).toBe(30);
    const drift = await run('drift');
    expect(drift.exitCode).toBe(2);
    expect(drift.stdout).toContain('No drift');
    expect(drift.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Not applied: 2 changes of git, which are no drift (flagkeel plan shows them). The exit code is 2 for unapplied changes too.',
    );

    expect(await run('reconcile', '--only', 'flag/pay')).toMatchObject({ exitCode: 0 });
    expect(await shareOf('pay')).toBe(20);
  });

  it('goes when the job of its own merge is run again, which undoes nothing of the later one', async () => {
    await applySecond();

    const again = await applyFirst();

    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stderr).toContain('is behind');
    expect([await shareOf('pay'), await shareOf('cart')]).toEqual([20, 30]);
    world.repository.git('checkout', '--quiet', merge.second);
    const rest = await run('plan', '--detailed-exitcode');
    expect(rest).toMatchObject({ exitCode: 0 });
    expect(rest.stdout).toContain('In sync');
  });
});

describe('the job of a merge that is run again after a later one changed the same flag', () => {
  beforeEach(() => {
    world.repository.git('checkout', '--quiet', '-B', 'later', merge.second);
  });

  it('leaves the flag alone and ends well, and is refused without the plan that was reviewed', async () => {
    world.repository.commit('Ramp pay on', { 'flags/pay.yaml': flagSpec('pay', { on: 50 }) });
    expect(await run('reconcile')).toMatchObject({ exitCode: 0 });
    world.repository.git('checkout', '--quiet', merge.first);
    expect(await run('reconcile')).toMatchObject({ exitCode: 7 });

    const again = await applyFirst();

    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stdout).toContain(
      'Nothing left to do (later commits changed all that the review of this one covers)',
    );
    expect(again.stdout).not.toContain('In sync');
    expect(await shareOf('pay')).toBe(50);
    world.repository.git('checkout', '--quiet', 'later');
    expect(await run('plan', '--detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('does not make again what a later merge removed', async () => {
    world.repository.commit('Remove pay', { 'flags/pay.yaml': null });
    expect(await run('reconcile', '--prune')).toMatchObject({ exitCode: 0 });
    world.writes();

    const again = await applyFirst();

    expect(again).toMatchObject({ exitCode: 0 });
    expect(world.writes()).toEqual([]);
  });
});
