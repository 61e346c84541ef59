import { beforeEach, expect, it } from 'vitest';
import { readSpecs } from '../../../src/specs/read-specs.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { cliRun } from '../../support/terminal.js';

const KILL_PAY = killList('{ pay: { reason: INC-1 } }');

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld({
    'flags/pay.yaml': flagSpec('pay'),
    ...killList('{}'),
  });
});

async function sent(...more: string[]): Promise<Awaited<ReturnType<typeof cliRun>>> {
  const { repository, service } = world;
  const place = ['--url', service.origin, ...more];
  return cliRun(['reconcile', '--kills', repository.directory, ...place], {
    FLAGKEEL_API_KEY: service.key,
  });
}

function taken(): string[] {
  const writes = world.writes().filter(({ status }) => status === 200);
  return writes.map(({ method, path }) => `${method} ${path.split('/').slice(7, 9).join('/')}`);
}

it('sends the kills that git orders, and no other change of the same commit', async () => {
  world.service.requests.length = 0;
  expect(await sent()).toMatchObject({ exitCode: 0 });
  expect(world.service.requests.filter(({ path }) => path.includes('/splits/'))).toEqual([]);
  world.repository.commit('Kill pay and ramp it', {
    'flags/pay.yaml': flagSpec('pay', { on: 90 }),
    ...KILL_PAY,
  });

  const first = await sent();
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  expect(first.stdout).toBe('Kills: 1 sent. All kills that git orders are live.\n');
  expect(taken()).toEqual(['PATCH pay/environments']);

  const second = await sent('--format', 'json');
  expect(second).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(second.stdout)).toEqual({ formatVersion: 1, kills: [], converged: true });
  expect(taken()).toEqual([]);
});

it('sends a kill while another run holds the state', async () => {
  world.repository.commit('Kill pay', KILL_PAY);
  const { context } = await world.opened();
  const specs = await readSpecs(context.source.tree);
  if (!specs.ok) throw new Error('the specs are invalid');
  await context.openReader(specs.desired);
  const { id, staging, production } = world.live;
  const environments = [
    { id: staging, name: 'staging' },
    { id: production, name: 'production' },
  ];
  const home = await context.openState({ workspace: { id, name: 'Default' }, environments });
  if (!home) throw new Error('there is no state');
  await context.lockState(home);

  const done = await sent();

  expect(done, done.stderr).toMatchObject({ exitCode: 0 });
  expect(taken()).toEqual(['PATCH pay/environments']);
});

it('ends with 5 where a kill failed, and names it, and with 3 where specs are invalid, whose kills it sends', async () => {
  world.repository.commit('Kill pay', KILL_PAY);
  world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 404);
  world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 404);

  const done = await sent();

  expect(done).toMatchObject({ exitCode: 5 });
  expect(done.stderr).toContain('flag/pay@production is not killed');
  expect(taken()).toEqual([]);

  // The rest, which cannot be read, may order more.
  const broken = { 'flags/cart.yaml': 'flag: cart\nnonsense: 1\n' };
  world.repository.commit('Break all else', broken);
  expect(await sent()).toMatchObject({ exitCode: 3 });
  expect(taken()).toEqual(['PATCH pay/environments']);
});

it('refuses options that are none of its own, and sends the kills before it refuses a filter', async () => {
  world.repository.commit('Kill pay', KILL_PAY);
  const wrong = [['--dry-run'], ['--plan-hash', 'sha256:0'], ['--environment', 'prodution']];
  for (const words of wrong) {
    expect(await sent(...words), words.join(' ')).toMatchObject({ exitCode: 64 });
    expect(taken()).toEqual([]);
  }
  for (const [option, sentKills] of [
    ['--only', 0],
    ['--exclude', 1],
  ] as const) {
    const run = await sent(option, 'flag/pya');

    expect(run).toMatchObject({ exitCode: 64, stdout: '' });
    expect(run.stderr).toContain(`cannot use ${option} "flag/pya"`);
    expect(run.stderr).toContain('did you mean "flag/pay"?');
    expect(taken()).toHaveLength(sentKills);
  }
});
