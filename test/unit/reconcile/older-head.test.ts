import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { makeDirectory } from '../../support/git.js';
import {
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  pipelineWorld,
  PROTECTED_PIPELINE,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { cliRun } from '../../support/terminal.js';

let world: PipelineWorld;
let older: string;

/** A newer commit than the one that is checked out was applied. */
beforeEach(async () => {
  world = await pipelineWorld();
  older = world.repository.commit('Add pay, and kill it', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
    ...killList('{ pay: { reason: INC-1 } }'),
  });
  world.repository.commit('Ramp pay, and bring it back', {
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
    ...killList('{}'),
  });
  await world.applied();
  world.repository.git('checkout', '--quiet', older);
  world.writes();
});

it('refuses a HEAD that an earlier run has gone beyond, its kills included, unless the operator allows it', async () => {
  await expect(world.applied()).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  await expect(world.planned()).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  expect(world.writes()).toEqual([]);

  const done = await world.applied({ allowOlder: true });
  expect(done.converged).toBe(true);
  expect(done.kills.killed).toEqual(new Set(['flag/pay@production']));
  expect(done.plan.changes.map(({ id }) => id)).toEqual([
    'flag/pay@staging',
    'flag/pay@production',
  ]);
});

it('refuses a clone that lacks the applied commit, which it would revert, unless it is shallow', async () => {
  const { repository } = world;
  repository.git('branch', '--force', '--quiet', 'main', older);
  repository.git('reflog', 'expire', '--expire=now', '--all');
  repository.git('gc', '--quiet', '--prune=now');

  const message = expect.stringMatching(/git pull;.* FLAGKEEL_STATE_DIR of its own/) as string;
  const refused = { code: 'OLDER_HEAD', message };
  await expect(world.applied()).rejects.toMatchObject(refused);
  await expect(world.planned()).rejects.toMatchObject(refused);
  expect(world.writes()).toEqual([]);
  expect((await world.planned({ allowOlder: true })).plan.changes).toHaveLength(2);

  repository.write({ '.git/shallow': `${older}\n` });
  expect((await world.planned()).plan.changes).toHaveLength(2);
});

it('refuses in a shallow clone a HEAD that runs went on from, because its job is run again', async () => {
  const { repository } = world;
  await world.applied({ allowOlder: true });
  repository.git('checkout', '--quiet', 'main');
  await world.applied();
  cutAt(older);
  world.writes();

  await expect(world.planned()).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  await expect(world.applied()).rejects.toMatchObject({ code: 'OLDER_HEAD' });

  expect(world.writes()).toEqual([]);
  expect((await world.planned({ allowOlder: true })).plan.changes).toHaveLength(2);
});

it('goes on in a shallow clone to a commit whose kills were sent before the run of an older one ended', async () => {
  const { repository } = world;
  repository.git('checkout', '--quiet', 'main');
  const ramped = repository.commit('Ramp', { 'flags/pay.yaml': flagSpec('pay', { on: 40 }) });
  const killed = repository.commit('Kill', killList('{ pay: { reason: INC-2 } }'));
  expect(await world.command('reconcile', '--kills')).toMatchObject({ exitCode: 0 });
  repository.git('checkout', '--quiet', ramped);
  await world.applied();
  cutAt(killed);

  expect(await world.applied()).toMatchObject({ converged: true });
});

/** Makes the clone one of depth 1. */
function cutAt(commit: string): void {
  const { repository } = world;
  repository.git('checkout', '--quiet', commit);
  repository.git('branch', '--force', '--quiet', 'main', commit);
  repository.git('reflog', 'expire', '--expire=now', '--all');
  repository.write({ '.git/shallow': `${commit}\n` });
  repository.git('gc', '--quiet', '--prune=now');
}

it('does not take back what another branch brought, but sends its kills, unless the operator allows it', async () => {
  const { repository } = world;
  const main = repository.git('rev-parse', 'main');
  const files = { 'flags/pay.yaml': flagSpec('pay', { on: 30 }), ...killList('{}') };
  repository.commit('Another way', files);
  const message = expect.stringContaining(`git merge ${main.slice(0, 8)}`) as string;
  const refused = { code: 'OLDER_HEAD', message };

  await expect(world.applied()).rejects.toMatchObject(refused);
  await expect(world.planned()).rejects.toMatchObject(refused);
  expect(world.writes()).toEqual([]);
  expect((await world.planned({ since: main })).plan.changes).toHaveLength(2);
  await expect(world.applied({ since: main })).rejects.toMatchObject(refused);

  repository.commit('Kill pay', killList('{ pay: { reason: INC-2 } }'));
  await expect(world.applied()).rejects.toMatchObject(refused);
  expect(world.writes()).toHaveLength(1);
  expect(await world.applied({ allowOlder: true })).toMatchObject({ converged: true });
});

it('does not send again, from a branch beside it, a kill that the applied commit took back', async () => {
  world.repository.commit('Go on', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });
  await expect(world.applied()).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  expect(await world.command('reconcile', '--kills')).toMatchObject({ exitCode: 7 });
  expect(world.writes()).toEqual([]);
  expect(await world.live.definition('pay')).toMatchObject({ killed: false });
  const { plan } = await world.planned({ since: 'main' });
  expect(plan.changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual([
    '/defaultRule',
    '/defaultRule',
  ]);
});

it('does not send it for a plan that was reviewed before either', async () => {
  const { repository, live } = world;
  repository.commit('Bring pay back', killList('{}'));
  await world.applied({ allowOlder: true });
  repository.git('checkout', '--quiet', '-B', 'beside', older);
  repository.commit('Describe it', { 'README.md': 'Ours' });
  await live.set('pay', { on: 50 }, 'staging');
  const file = join(makeDirectory(), 'plan.json');
  const reviewed = ['--allow-older', '--format', 'json', '--output', file];
  expect(await world.command('plan', ...reviewed)).toMatchObject({ exitCode: 0 });

  const { exitCode, stdout } = await world.command('reconcile', '--plan', file);

  expect([exitCode, stdout.includes('killed')]).toEqual([0, false]);
  expect(await live.share('pay', 'staging')).toBe(10);
  expect(await live.definition('pay')).toMatchObject({ killed: false });
});

it('follows a branch that was rewritten, but not back to an older commit', async () => {
  const followed = { allowOlder: 'beside' } as const;
  await expect(world.applied(followed)).rejects.toMatchObject({ code: 'OLDER_HEAD' });
  world.repository.commit('Another way', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });
  expect(await world.applied(followed)).toMatchObject({ converged: true });
});

it('does not call the newer commit applied, because a part of it may be held', async () => {
  world.repository.git('checkout', '--quiet', '-');
  const { live, repository } = world;
  const before = repository.commit('Protect production', { 'flagkeel.yaml': PROTECTED_PIPELINE });
  await world.applied();
  await live.set('pay', { on: 70 });
  const held = repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 30 }) });
  const done = await world.applied();
  expect(done.plan.withheld.map(({ why }) => why)).toEqual(['conflict-held']);
  repository.git('checkout', '--quiet', before);

  const refused = await typedRefusal('drift');
  expect(refused).toContain(held.slice(0, 8));
  expect(refused).not.toContain('applied');
  expect(await typedRefusal('reconcile')).not.toContain('applied');
});

/** The text of a command that refuses to go back. */
async function typedRefusal(command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await world.command(command);
  expect(exitCode).toBe(7);
  return stdout + stderr;
}

it('refuses the state of another repository over one FLAGKEEL_STATE_DIR, and goes on by either way that it names', async () => {
  const [one, own] = [makeDirectory(), makeDirectory()];
  const [first, second] = [await pipelineWorld(world), await pipelineWorld(world)];
  const add = ({ repository }: PipelineWorld, name: string, folder: string): string =>
    repository.commit(`Add ${name}`, {
      [`${folder}/flagkeel.yaml`]: `${PIPELINE_CONFIG}prune: true\n`,
      [`${folder}/flags/${name}.yaml`]: flagSpec(name),
    });
  const run = async ({ repository, service }: PipelineWorld, stateDir: string, folder = 'flags') =>
    cliRun(['reconcile', join(repository.directory, folder), '--url', service.origin], {
      FLAGKEEL_API_KEY: service.key,
      FLAGKEEL_STATE_DIR: stateDir,
    });
  add(first, 'cart', 'flags');
  add(second, 'shop', 'flags');
  expect(await run(first, one)).toMatchObject({ exitCode: 0 });

  const { exitCode, stderr } = await run(second, one);
  expect([exitCode, stderr]).toEqual([
    7,
    expect.stringContaining(
      'give each a FLAGKEEL_STATE_DIR of its own, or a config directory of another name',
    ),
  ]);

  expect(await run(second, own)).toMatchObject({ exitCode: 0 });
  add(second, 'till', 'shop');
  expect(await run(second, one, 'shop')).toMatchObject({ exitCode: 0 });
  expect((await run(first, one)).stdout).toContain('In sync');
  expect(await world.live.definition('cart')).toMatchObject({ killed: false });
});
