import { symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitCommands } from '../../../src/kill/now.js';
import {
  appliedWorld,
  PIPELINE_CONFIG,
  stateRef,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { aDefinition } from '../../support/service-calls.js';

const kill = async (world: PipelineWorld, ...more: string[]) =>
  world.command('kill', 'pay', '--environment', 'production', '--reason', 'INC-1', ...more);

async function isKilled({ live }: PipelineWorld, workspace = live.id) {
  const path = `/splits/ws/${workspace}/pay/environments/production`;
  return (await live.ok<{ killed: boolean }>('GET', path)).killed;
}

/** `METHOD path` of each request since the last call, words left out. */
function asked({ service }: PipelineWorld): string[] {
  return service.requests.splice(0).map(({ method, path, status }) => {
    return `${method} ${path.replace('/internal/api/v2', '')} ${status ?? ''}`;
  });
}

describe('flagkeel kill, where a run remembers the workspace', () => {
  it('sends the kill first, with its words, and looks and records afterwards', async () => {
    const world = await appliedWorld();

    const { exitCode, stdout } = await kill(world);

    expect(exitCode).toBe(0);
    const [first] = world.service.requests;
    expect(first?.query).toMatchObject({ title: 'Kill pay in production', comment: 'INC-1' });
    expect(asked(world)).toEqual([
      `PATCH /splits/ws/${world.live.id}/pay/environments/production 200`,
      'GET /workspaces 200',
      `GET /environments/ws/${world.live.id} 200`,
    ]);
    expect(stdout).toContain('pay is killed in production.');
    expect(stdout).toContain('It may have been killed before');
    expect(await isKilled(world)).toBe(true);
    const history = await world.command('history');
    expect(history.stdout).toContain('Kill pay in production');
  });

  it('proposes a commit that says each word once, with and without a reason', () => {
    const title = 'Kill pay in production';
    const commitOf = (reason: string): string | undefined =>
      commitCommands('/c', 'kills/production.yaml', { title, reason })[1];

    expect(commitOf('INC-1')).toBe(
      `git -C /c commit -m '${title}' -m INC-1 -- kills/production.yaml`,
    );
    expect(commitOf(title)).toBe(`git -C /c commit -m '${title}' -- kills/production.yaml`);
  });

  it('says in JSON that it does not know whether anything changed', async () => {
    const { stdout } = await kill(await appliedWorld(), '--format', 'json');

    expect(JSON.parse(stdout)).toMatchObject({ killed: true, changed: null });
  });

  it('needs no state where the config names the workspace by its id', async () => {
    const world = await appliedWorld();
    const { repository, live } = world;
    repository.git('update-ref', '-d', stateRef(world));
    repository.commit('Name the id', {
      'flagkeel.yaml': PIPELINE_CONFIG.replace('Default', live.id),
    });

    expect(await kill(world)).toMatchObject({ exitCode: 0 });

    expect(asked(world)[0]).toMatch(/^PATCH .* 200$/);
  });

  it('looks first on a service that finds environments by their ids alone', async () => {
    const world = await appliedWorld();
    world.service.failNext({ method: 'PATCH', path: /\/environments\/production$/ }, 404);

    const { exitCode, stdout } = await kill(world);

    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('not looked at');
    const { id, production } = world.live;
    expect(asked(world).filter((each) => each.startsWith('PATCH'))).toEqual([
      `PATCH /splits/ws/${id}/pay/environments/production 404`,
      `PATCH /splits/ws/${id}/pay/environments/${production} 200`,
    ]);
  });

  it('says where else the commit can be prepared, if the list cannot be changed here', async () => {
    const world = await appliedWorld();
    symlinkSync(tmpdir(), join(world.repository.directory, 'kills'));

    const { exitCode, stdout } = await kill(world);

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^The list was not changed: .* symbolic link\. Run this again in a /m);
  });

  it('kills also in the workspace that has the name by now, and tells of the other', async () => {
    const world = await appliedWorld();
    const { live } = world;
    await live.ok('PATCH', `/workspaces/${live.id}`, [
      { op: 'replace', path: '/name', value: 'Old' },
    ]);
    const workspace = { name: 'Default', requiresTitleAndComments: false };
    const { id: other } = await live.ok<{ id: string }>('POST', '/workspaces', workspace);
    await live.ok('POST', `/environments/ws/${other}`, { name: 'production', production: true });
    await live.ok('POST', `/trafficTypes/ws/${other}`, { name: 'user' });
    await live.ok('POST', `/splits/ws/${other}/trafficTypes/user`, { name: 'pay' });
    await live.ok('POST', `/splits/ws/${other}/pay/environments/production`, aDefinition());

    const { exitCode, stderr } = await kill(world);

    expect(exitCode).toBe(0);
    expect(stderr).toContain(`pay was killed in production of workspace ${live.id}`);
    expect(await isKilled(world, other)).toBe(true);
  });

  it('looks first where a state of another service is all that there is', async () => {
    const world = await appliedWorld();
    const elsewhere = await appliedWorld();
    world.repository.git('update-ref', '-d', stateRef(world));
    world.repository.git(
      'fetch',
      '--quiet',
      elsewhere.repository.directory,
      'refs/flagkeel/*:refs/flagkeel/*',
    );

    expect(await kill(world)).toMatchObject({ exitCode: 0 });

    expect(asked(world)[0]).toBe('GET /workspaces 200');
    expect(await isKilled(world)).toBe(true);
  });
});
