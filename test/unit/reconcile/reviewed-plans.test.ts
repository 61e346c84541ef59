import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from '../../support/git.js';
import {
  appliedWorld,
  flagSpec,
  type PipelineWorld,
  PROTECTED_PIPELINE,
} from '../../support/pipeline-world.js';
import type { CliRun } from '../../support/terminal.js';

let world: PipelineWorld;
let folder: string;
let first: string;

/** Two merges, each with a plan that was reviewed; neither was applied. */
beforeEach(async () => {
  folder = makeDirectory();
  world = await appliedWorld({
    'flagkeel.yaml': PROTECTED_PIPELINE,
    'flags/pay.yaml': flagSpec('pay'),
    'flags/cart.yaml': flagSpec('cart'),
  });
  const ramp = (flag: string, on: number) => ({ [`flags/${flag}.yaml`]: flagSpec(flag, { on }) });
  first = await reviewed('first', 'Ramp pay (#7)', ramp('pay', 20));
  await reviewed('second', 'Ramp cart (#8)', ramp('cart', 30));
  world.writes();
});

const planFile = (name: string): string => join(folder, `${name}.json`);

/** Commits files, and keeps the plan of the commit as its review would show it. */
async function reviewed(
  name: string,
  subject: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const commit = world.repository.commit(subject, files);
  const shown = ['--since', 'HEAD^1', '--format', 'json', '--output', planFile(name)];
  expect(await run('plan', ...shown)).toMatchObject({ exitCode: 0 });
  return commit;
}

const run = async (...args: readonly string[]): Promise<CliRun> => world.command(...args);

async function apply(...names: readonly string[]): Promise<CliRun> {
  return run('reconcile', '--touched', ...names.flatMap((name) => ['--plan', planFile(name)]));
}

const shareOf = async (flag: string): Promise<number> => world.live.share(flag);

it('nothing but kills goes where a file shows nothing; a merge whose apply was lost goes with that of the next', async () => {
  writeFileSync(planFile('none'), '[]');
  expect(await apply('none')).toMatchObject({ exitCode: 8 });
  expect(world.writes()).toEqual([]);

  const done = await apply('first', 'second');

  expect(done, done.stderr).toMatchObject({ exitCode: 0 });
  expect([await shareOf('pay'), await shareOf('cart')]).toEqual([20, 30]);
});

it('a change that no reviewed plan showed is held, and named with the pull request that brought it, whose own job ends well late, and again', async () => {
  const done = await apply('second');

  expect(done, done.stderr).toMatchObject({ exitCode: 8 });
  expect(done.stdout).toContain(
    'Not in sync: flag/pay@production, flag/pay@staging held for a person (no reviewed plan shows it)',
  );
  expect(done.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'pull request #7 should have shown it; run the apply of its own review again, or approve its plan below its pull request',
  );
  expect([await shareOf('pay'), await shareOf('cart')]).toEqual([10, 30]);

  world.repository.git('checkout', '--quiet', '--detach', first);
  for (const late of [await apply('first'), await apply('first')]) {
    expect(late, late.stderr).toMatchObject({ exitCode: 0 });
  }
  expect([await shareOf('pay'), await shareOf('cart')]).toEqual([20, 30]);
});

it('a change that a review showed goes, though an earlier merge of its flag is held that no review showed', async () => {
  expect(await apply('second')).toMatchObject({ exitCode: 8 });
  const more = flagSpec('pay', { on: 50 }).replace('environments:', 'tags: [web]\nenvironments:');
  await reviewed('third', 'Ramp pay on (#9)', { 'flags/pay.yaml': more });

  const done = await apply('second', 'third');

  expect(done, done.stdout).toMatchObject({ exitCode: 0 });
  expect(await shareOf('pay')).toBe(50);
});

it('a change that a review showed goes not where somebody moved the field meanwhile', async () => {
  await reviewed('third', 'Ramp pay on (#9)', { 'flags/pay.yaml': flagSpec('pay', { on: 50 }) });
  await world.live.set('pay', { on: 7 });

  expect(await apply('second', 'third')).toMatchObject({ exitCode: 8 });
  expect(await shareOf('pay')).toBe(7);
});

it('a merged and reviewed change that was never applied is no drift, but ends its command with 2', async () => {
  const { exitCode, stdout } = await run('drift');

  expect(exitCode).toBe(2);
  expect(stdout).toContain('No drift');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Not applied: 4 changes of git, which are no drift (flagkeel plan shows them). The exit code is 2 for unapplied changes too.',
  );
});

describe('the job of a merge that is run again after a later one changed the same flag', () => {
  async function applyAgain(): Promise<CliRun> {
    const plan = JSON.parse(readFileSync(planFile('first'), 'utf8')) as { planHash: string };
    world.repository.git('checkout', '--quiet', first);
    return run('reconcile', '--since', 'HEAD^1', '--plan-hash', plan.planHash);
  }

  it('leaves the flag alone and ends well, and is refused without the plan that was reviewed', async () => {
    world.repository.commit('Ramp pay on', { 'flags/pay.yaml': flagSpec('pay', { on: 50 }) });
    expect(await run('reconcile')).toMatchObject({ exitCode: 0 });
    world.repository.git('checkout', '--quiet', first);
    expect(await run('reconcile')).toMatchObject({ exitCode: 7 });

    const again = await applyAgain();

    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stderr).toContain('is behind');
    expect(again.stdout).toContain(
      'Nothing left to do (later commits changed all that the review of this one covers)',
    );
    expect(again.stdout).not.toContain('In sync');
    expect(await shareOf('pay')).toBe(50);
    world.repository.git('checkout', '--quiet', 'main');
    expect(await run('plan', '--detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('does not make again what a later merge removed', async () => {
    world.repository.commit('Remove pay', { 'flags/pay.yaml': null });
    expect(await run('reconcile', '--prune')).toMatchObject({ exitCode: 0 });
    world.writes();

    const again = await applyAgain();

    expect(again).toMatchObject({ exitCode: 0 });
    expect(world.writes()).toEqual([]);
  });
});

it('fields of one flag that two reviews showed go together', async () => {
  const described = flagSpec('pay', { on: 20 }).replace(
    'environments:',
    'environments:\n  "*": { trafficAllocation: 40 }',
  );
  world.repository.commit('Less traffic (#9)', { 'flags/pay.yaml': described });
  const args = ['--since', 'HEAD^1', '--format', 'json', '--output', planFile('third')];
  // The first merge went out while the third was reviewed.
  world.repository.git('checkout', '--quiet', '--detach', first);
  expect(await apply('first')).toMatchObject({ exitCode: 0 });
  world.repository.git('checkout', '--quiet', '-');
  expect(await run('plan', ...args)).toMatchObject({ exitCode: 0 });

  const done = await apply('second', 'third');

  expect(done, done.stderr).toMatchObject({ exitCode: 0 });
  expect([await shareOf('pay'), await shareOf('cart')]).toEqual([20, 30]);
});

it.each([
  ['{', /cannot read .*plan\.json as a plan/],
  ['{"formatVersion": 1}', /"planHash" is absent or wrong/],
  [`${'['.repeat(9_000)}${']'.repeat(9_000)}`, /nested too deeply/],
  ['[PLAN,PLAN]', /holds 2 plans, for 1 directories/],
])('a file that is no plan of the directory is refused: %.40s', async (text, why) => {
  const plan = readFileSync(planFile('first'), 'utf8');
  const file = join(folder, 'plan.json');
  writeFileSync(file, text.replaceAll('PLAN', plan));

  const refused = await run('reconcile', '--plan', file);

  expect(refused.exitCode).toBe(64);
  expect(refused.stderr).toMatch(why);
  const twice = ['--plan', planFile('first'), '--plan-hash', `sha256:${'0'.repeat(64)}`];
  expect(await run('reconcile', ...twice)).toMatchObject({ exitCode: 64 });
  expect(world.writes()).toEqual([]);
});

it('a reviewed ramp goes step by step, and a reviewed end of it goes from any step', async () => {
  const ramp = `ramp: { start: ${daysAgo(3)}, steps: '20, 1d, 40, 60d, 100' }`;
  const onRamp = flagSpec('pay', { on: 20, production: ramp });
  await reviewed('ramp', 'Ramp pay to all (#9)', { 'flags/pay.yaml': onRamp });
  expect(await apply('first', 'second', 'ramp')).toMatchObject({ exitCode: 0 });
  expect(await shareOf('pay')).toBe(40);
  await reviewed('end', 'Pay for all (#10)', { 'flags/pay.yaml': flagSpec('pay', { on: 90 }) });

  const done = await apply('first', 'second', 'ramp', 'end');

  expect(done, done.stderr).toMatchObject({ exitCode: 0 });
  expect(await shareOf('pay')).toBe(90);
});

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}
