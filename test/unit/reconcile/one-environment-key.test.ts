import { beforeEach, describe, expect, it } from 'vitest';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { cliRun, type CliRun } from '../../support/terminal.js';
import { callsOf } from '../../support/service-calls.js';

/** The key of a job for staging: it sees no other environment, and may not change what all of them share. */
let key: string;
let world: PipelineWorld;

async function keyOf({ service, live }: PipelineWorld): Promise<string> {
  const body = { name: 'staging job', environments: [live.staging] };
  return (await callsOf(service).ok<{ key: string }>('POST', '/apiKeys', body)).key;
}

async function command(...words: readonly string[]): Promise<CliRun> {
  const { repository, service } = world;
  const all = [...words, repository.directory, '--url', service.origin];
  const run = await cliRun(all, { FLAGKEEL_API_KEY: key });
  return { ...run, stdout: run.stdout.replaceAll(/\s+/g, ' ') };
}

const inStaging = async (verb: string, ...words: readonly string[]): Promise<CliRun> =>
  command(verb, '--environment', 'staging', ...words);

const ramp = (on: number): void => {
  world.repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on }) });
  world.writes();
};

describe('a key of staging alone', () => {
  beforeEach(async () => {
    world = await appliedWorld();
    key = await keyOf(world);
  });

  it('can plan, apply and show drift there, and says that it looked at nothing else', async () => {
    ramp(20);

    const planned = await inStaging('plan');
    expect(planned.stdout).toContain(
      'Left out by filters, and not looked at: environment production',
    );
    expect(planned.stdout).not.toContain('flag/pay@production');
    expect(await inStaging('reconcile')).toMatchObject({ exitCode: 0 });
    expect(await inStaging('drift')).toMatchObject({ exitCode: 0 });

    expect(await world.live.share('pay', 'staging')).toBe(20);
    expect(await world.live.share('pay')).toBe(10);
    expect(world.writes()).toHaveLength(1);
    // What runs with other keys remember of production is still there.
    const { plan, remembered } = await world.planned();
    expect(plan.changes).toMatchObject([{ id: 'flag/pay@production', reason: 'commit' }]);
    expect(remembered.environments).toMatchObject({ [world.live.production]: 'production' });
    expect(remembered.judged[world.live.production]).not.toBe(remembered.applied);
  });

  it('is refused without --environment, for production, and for an environment that is misspelt', async () => {
    const why = 'cannot find environment "production"';
    const refused = { exitCode: 6, stderr: expect.stringContaining(why) as string };
    expect(await command('plan')).toMatchObject(refused);
    expect(await inStaging('plan', '--environment', 'production')).toMatchObject(refused);
    expect(await command('plan', '--environment', world.live.production)).toMatchObject(refused);
    const config = PIPELINE_CONFIG.replace('staging', 'stagin');
    world.repository.commit('Misspell', {
      'flagkeel.yaml': config,
      'flags/pay.yaml': flagSpec('pay').replace('staging', 'stagin'),
    });
    expect(await command('plan', '--environment', 'stagin')).toMatchObject({ exitCode: 6 });
  });

  it('is told before a write that the service may refuse what all environments share', async () => {
    world.repository.commit('Describe pay', {
      'flags/pay.yaml': `${flagSpec('pay', { on: 20 })}description: Pays\n`,
    });
    const { stderr } = await inStaging('plan');
    expect(stderr).toContain(
      'the key does not see "production": the service may refuse it flag/pay',
    );
    expect(await inStaging('reconcile')).toMatchObject({ exitCode: 5 });
    expect(await world.live.share('pay', 'staging')).toBe(20);
  });

  it('deletes no flag of which it does not see all definitions', async () => {
    world.repository.commit('Drop pay', {
      'flagkeel.yaml': `${PIPELINE_CONFIG}prune: true\n`,
      'flags/pay.yaml': null,
    });
    const { stdout } = await inStaging('plan');
    expect(stdout).toContain('the key does not see production, where it may be still');
  });

  it('sends the kills of staging, though the list of production has some too', async () => {
    world.repository.commit('Kill both', {
      ...killList('{ pay: { reason: INC-1 } }', 'staging'),
      ...killList('{ pay: { reason: INC-1 } }'),
    });
    expect(await inStaging('reconcile', '--kills')).toMatchObject({ exitCode: 0 });
    expect((await world.live.definition('pay', 'staging')).killed).toBe(true);
    expect((await world.live.definition('pay')).killed).toBe(false);
  });
});

it('a key of staging alone can begin, and what it writes records nothing of the others', async () => {
  world = await pipelineWorld();
  world.repository.commit('Begin', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
  const path = `/splits/ws/${world.live.id}/trafficTypes/user`;
  await world.live.ok('POST', path, { name: 'pay' });
  key = await keyOf(world);
  expect(await inStaging('reconcile', '--adopt')).toMatchObject({ exitCode: 0 });
  expect(await inStaging('reconcile')).toMatchObject({ exitCode: 0 });
  const { environments, judged } = (await world.planned()).remembered;
  expect(environments).toEqual({ [world.live.staging]: 'staging' });
  expect(Object.keys(judged)).toEqual([world.live.staging]);
});
