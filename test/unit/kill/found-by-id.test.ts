import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServiceOptions } from '../../../src/service/service.js';
import { makeDirectory } from '../../support/git.js';
import { withIdsAlone } from '../../support/service-habits.js';
import {
  appliedWorld,
  flagSpec,
  forget,
  killList,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { aDefinition } from '../../support/service-calls.js';

const ID = 'flag/theirs@production';

/** Specs with a flag of their own, and on the service one of somebody else, whose definition its name does not find. */
async function worldWithTheirs(options: Partial<ServiceOptions> = {}): Promise<PipelineWorld> {
  const files = { 'flags/pay.yaml': flagSpec('pay'), ...killList('{}') };
  const world = await appliedWorld(files, { middleware: withIdsAlone, ...options });
  const { live } = world;
  await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name: 'theirs' });
  await live.ok('POST', live.at('theirs'), aDefinition());
  world.writes();
  return world;
}

/** Writes that the service took. */
function taken(world: PipelineWorld): string[] {
  const writes = world.writes().filter(({ status }) => status === 200);
  return writes.map(({ method, path }) => `${method} ${path.split('/').slice(7, 9).join('/')}`);
}

function killTheirs({ repository }: PipelineWorld): void {
  repository.commit('Kill theirs', killList('{ theirs: { reason: INC-3 } }'));
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

  it.each([false, true])(
    'is sent by the command, where flags are shown and not: %s',
    async (strict) => {
      const world = await worldWithTheirs({ strict });
      const inProduction = ['--environment', 'production'];

      const { exitCode, stdout } = await world.command('kill', ...inProduction, 'theirs');

      expect(exitCode).toBe(0);
      expect(stdout).toContain('theirs is killed in production.');
      expect(taken(world)).toEqual(['PATCH theirs/environments']);
      const nobody = await world.command('kill', ...inProduction, 'nobody');
      expect(nobody).toMatchObject({ exitCode: 6 });
      expect(nobody.stderr).toContain('it has no definition in environment "production"');
    },
  );
});

describe('where definitions are found by the id of their flag alone, and no flags are shown', () => {
  it.each([
    ['of this repository', 'pay', 'flag/pay@production'],
    ['of others', 'theirs', ID],
  ])('a standing kill of a flag %s is not sent again by every run', async (_, flag, id) => {
    const world = await worldWithTheirs({ strict: true });
    world.repository.commit('Kill it', killList(`{ ${flag}: { reason: INC-3 } }`));
    const told: string[] = [];
    const onKill = (each: string, { status }: { status: string }): void => {
      told.push(`${each} ${status}`);
    };
    await world.applied({}, { onKill });
    expect(taken(world)).toEqual([`PATCH ${flag}/environments`]);
    expect(told.splice(0)).toEqual([`${id} killed`]);

    const second = await world.applied({}, { onKill });

    expect(taken(world)).toEqual([]);
    expect(told).toEqual([]);
    expect(second.plan.changes).toEqual([]);
  });

  it('a standing kill is not sent again by each run of CI, in a fresh clone that shares the state', async () => {
    const world = await worldWithTheirs({ strict: true });
    const { repository } = world;
    const origin = join(makeDirectory(), 'origin.git');
    repository.git('init', '--quiet', '--bare', origin);
    repository.git('remote', 'add', 'origin', origin);
    repository.commit(
      'Kill both',
      killList('{ pay: { reason: INC-3 }, theirs: { reason: INC-3 } }'),
    );
    await world.applied();
    expect(taken(world)).toHaveLength(2);
    forget(world);

    const { plan } = await world.applied();

    expect(taken(world)).toEqual([]);
    expect(plan.changes).toEqual([]);
  });

  it('a kill that a person took back on the service is sent again', async () => {
    const world = await worldWithTheirs({ strict: true });
    killTheirs(world);
    await world.applied();
    await world.live.set('theirs', { killed: false });
    world.writes();

    await world.applied();

    expect(taken(world)).toEqual(['PATCH theirs/environments']);
  });

  it('`explain --online` shows a definition that only the id in the state finds', async () => {
    const world = await worldWithTheirs({ strict: true });

    const { stdout } = await world.command('explain', '--online', 'flag/pay');

    expect(stdout.match(/on the service: .*/g)).toEqual([
      'on the service: as git has it',
      'on the service: as git has it',
    ]);
  });

  it('`explain --online` does not call a definition absent that it cannot find', async () => {
    const world = await worldWithTheirs({ strict: true });
    world.repository.write({ 'flags/theirs.yaml': flagSpec('theirs') });

    const { stdout } = await world.command('explain', '--online', 'flag/theirs');

    expect(stdout).not.toContain('not there');
    expect(stdout).toContain('on the service: not known');
  });
});
