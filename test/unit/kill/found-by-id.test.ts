import { describe, expect, it } from 'vitest';
import type { ServiceOptions } from '../../../src/service/service.js';
import { withIdsAlone } from '../../support/ids-alone.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { aDefinition } from '../../support/service-calls.js';
import { cliRun } from '../../support/terminal.js';

const ID = 'flag/theirs@production';

/** Specs with a flag of their own, and on the service one of somebody else, whose definition its name does not find. */
async function worldWithTheirs(options: Partial<ServiceOptions> = {}): Promise<PipelineWorld> {
  const world = await pipelineWorld(undefined, { middleware: withIdsAlone, ...options });
  world.repository.commit('Add pay', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
    'kills/production.yaml': 'kills: {}\n',
  });
  await world.applied();
  const { live } = world;
  const flags = `/splits/ws/${live.id}`;
  await live.ok('POST', `${flags}/trafficTypes/user`, { name: 'theirs' });
  await live.ok('POST', `${flags}/theirs/environments/${live.production}`, aDefinition());
  world.writes();
  return world;
}

/** Writes that the service took. */
function taken(world: PipelineWorld): string[] {
  const writes = world.writes().filter(({ status }) => status === 200);
  return writes.map(({ method, path }) => `${method} ${path.split('/').slice(7, 9).join('/')}`);
}

function killTheirs({ repository }: PipelineWorld): void {
  repository.commit('Kill theirs', {
    'kills/production.yaml': 'kills:\n  theirs: { reason: INC-3 }\n',
  });
}

describe('the kill of a flag that no spec names, and whose definition only its id finds', () => {
  it('is sent once, and told', async () => {
    const world = await worldWithTheirs();
    killTheirs(world);

    const done = await world.applied();

    expect(taken(world)).toEqual(['PATCH theirs/environments']);
    expect(done.plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([`${ID} kill`]);
    expect(done.outcomes.get(ID)).toEqual({ status: 'applied' });
    await world.applied();
    expect(taken(world)).toEqual([]);
  });

  it('is sent also where the service shows no flags', async () => {
    const world = await worldWithTheirs({ strict: true });
    killTheirs(world);
    const told: string[] = [];

    await world.applied({}, { onKill: (id, { status }) => told.push(`${id} ${status}`) });

    expect(taken(world)).toEqual(['PATCH theirs/environments']);
    expect(told).toEqual([`${ID} killed`]);
  });

  it.each([false, true])(
    'is sent by the command, where flags are shown and not: %s',
    async (strict) => {
      const world = await worldWithTheirs({ strict });
      const { directory } = world.repository;
      const place = ['--environment', 'production', '--url', world.service.origin];
      const key = { FLAGKEEL_API_KEY: world.service.key };

      const { exitCode, stdout } = await cliRun(['kill', 'theirs', directory, ...place], key);

      expect(exitCode).toBe(0);
      expect(stdout).toContain('theirs is killed in production.');
      expect(taken(world)).toEqual(['PATCH theirs/environments']);
      const nobody = await cliRun(['kill', 'nobody', directory, ...place], key);
      expect(nobody).toMatchObject({ exitCode: 6 });
      expect(nobody.stderr).toContain('it has no definition in environment "production"');
    },
  );
});
