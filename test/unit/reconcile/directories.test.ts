import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PlanDocument } from '../../../src/report/json/plan.js';
import {
  flagSpec,
  killList,
  pipelineWorld,
  PIPELINE_CONFIG,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import type { Files } from '../../support/git.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

const PRUNING = `${PIPELINE_CONFIG}prune: true\n`;

/** A command over directories of the repository, against the service of the world. */
async function run(world: PipelineWorld, ...words: readonly string[]): Promise<CliRun> {
  const { repository, service } = world;
  const paths = words.map((each) =>
    /^(one|two|eu|us)$/.test(each) ? join(repository.directory, each) : each,
  );
  return cliRun([...paths, '--url', service.origin], { FLAGKEEL_API_KEY: service.key });
}

async function plans(world: PipelineWorld, ...directories: string[]): Promise<string[][]> {
  const { stdout } = await run(world, 'plan', ...directories, '--format', 'json');
  return (JSON.parse(stdout) as PlanDocument[]).map(({ changes, withheld }) => [
    ...changes.map(({ id, action }) => `${action} ${id}`),
    ...withheld.map(({ id, action, why }) => `withheld ${action} ${id}: ${why}`),
  ]);
}

/** Two directories of one repository for one workspace, both applied; the first has a flag, and a segment. */
async function storyOf(): Promise<PipelineWorld> {
  const world = await pipelineWorld();
  world.repository.commit('Begin', {
    'one/flagkeel.yaml': PRUNING,
    'one/flags/shop.yaml': flagSpec('shop'),
    'one/flags/cart.yaml': flagSpec('cart'),
    'one/segments/staff.yaml': 'segment: staff\nenvironments: { staging: { keys: [ana] } }\n',
    'two/flagkeel.yaml': PRUNING,
    'two/flags/menu.yaml': flagSpec('menu'),
  });
  expect(await run(world, 'reconcile', 'one', 'two')).toMatchObject({ exitCode: 0 });
  world.writes();
  return world;
}

const MOVED = [
  [
    'withheld delete flag/shop: still-in-use',
    'withheld delete flag/shop@production: still-in-use',
    'withheld delete flag/shop@staging: still-in-use',
    'withheld delete segment/staff: still-in-use',
    'withheld deactivate segment/staff@staging: still-in-use',
  ],
  [],
];

function moveAll({ repository }: PipelineWorld): void {
  repository.move('one/flags/shop.yaml', 'two/flags/shop.yaml');
  repository.move('one/segments/staff.yaml', 'two/segments/staff.yaml');
}

it('a flag that moves to another directory of the workspace stays on the service, and is taken over', async () => {
  const world = await storyOf();
  moveAll(world);
  // Before the commit, too, where files are read from the disk.
  expect(await plans(world, 'one', 'two')).toEqual(MOVED);
  world.repository.commit('Move', {});
  expect(await plans(world, 'one', 'two')).toEqual(MOVED);

  const done = await run(world, 'reconcile', 'one', 'two');
  expect(done).toMatchObject({ exitCode: 0 });
  expect(done.stdout).toContain('"two" declares it for this workspace: a run leaves it to that');
  expect(world.writes()).toEqual([]);
  expect(await plans(world, 'one', 'two')).toEqual([[], []]);
  world.repository.commit('Ramp', { 'two/flags/shop.yaml': flagSpec('shop', { on: 20 }) });
  expect(await run(world, 'reconcile', 'one', 'two')).toMatchObject({ exitCode: 0 });
  expect(world.writes().map(({ method }) => method)).toEqual(['PATCH', 'PATCH']);
});

it('a flag that moved, and that its new directory keeps on the service after its removal, is not deleted by the old one', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move', { 'two/flagkeel.yaml': PIPELINE_CONFIG });
  await run(world, 'reconcile', 'one', 'two');

  world.repository.commit('Remove', { 'two/flags/shop.yaml': null });
  const done = await run(world, 'reconcile', 'two', 'one');

  expect(done.stdout).toContain('pruning is off');
  expect(world.writes()).toEqual([]);
});

it('a flag that moved is not said to be deleted by a directory that does not prune, which lets go of it at once', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move', { 'one/flagkeel.yaml': PIPELINE_CONFIG });
  expect(await plans(world, 'one', 'two')).toEqual(MOVED);

  const done = await run(world, 'reconcile', 'one', 'two');
  expect(done).toMatchObject({ exitCode: 0 });
  expect(done.stdout).not.toContain('pruning is off');
  expect(await plans(world, 'one', 'two')).toEqual([[], []]);
  expect(world.writes()).toEqual([]);
});

it('a flag that moved, and left its new directory before the old one ran again, is not deleted by the old one', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move', {});
  await run(world, 'reconcile', 'two');
  const removed = { 'two/flags/shop.yaml': null, 'two/segments/staff.yaml': null };
  // The directory decides by the rules that it has now.
  world.repository.commit('Remove', { ...removed, 'two/flagkeel.yaml': PIPELINE_CONFIG });
  await run(world, 'reconcile', 'two');
  world.writes();

  expect((await plans(world, 'one', 'one'))[0]).toEqual(MOVED[0]);
  expect(await run(world, 'reconcile', 'one')).toMatchObject({ exitCode: 0 });
  expect(world.writes()).toEqual([]);
  expect(await plans(world, 'one', 'one')).toEqual([[], []]);
});

it('a flag that moved while it was killed does not come back killed after its new directory restored and removed it', async () => {
  const world = await storyOf();
  const { repository, live } = world;
  await live.set('shop', { killed: true });
  moveAll(world);
  repository.commit('Move', {});
  await run(world, 'reconcile', 'one', 'two');
  await live.set('shop', { killed: false });
  repository.commit('Remove', { 'two/flags/shop.yaml': null });
  await run(world, 'reconcile', 'one', 'two');
  repository.commit('Make it anew', { 'one/flags/shop.yaml': flagSpec('shop') });
  expect(await run(world, 'reconcile', 'one')).toMatchObject({ exitCode: 0 });
  expect(await live.definition('shop')).toMatchObject({ killed: false });
});

it.each(['delete', 'archive'])(
  'what one of two directories with an environment each removes goes at once (%s)',
  async (onRemove) => {
    const world = await pipelineWorld();
    const { repository, live } = world;
    const config = `${PRUNING}onRemove: ${onRemove}\n`;
    const lines = flagSpec('shop').trimEnd().split('\n');
    repository.commit('Begin', {
      'one/flagkeel.yaml': config.replace('  production: {}\n', ''),
      'two/flagkeel.yaml': config.replace('  staging: {}\n', ''),
      'one/flags/cart.yaml': flagSpec('cart').replace(/ {2}production.*\n/, ''),
      'one/flags/shop.yaml': lines.slice(0, 5).join('\n'),
      'two/flags/shop.yaml': lines.toSpliced(4, 1).join('\n'),
    });
    expect(await run(world, 'reconcile', 'one', 'two')).toMatchObject({ exitCode: 0 });

    repository.commit('Remove it in staging', { 'one/flags/shop.yaml': null });
    world.writes();
    await run(world, 'reconcile', 'one');

    const place = `/shop/environments/${live.staging}`;
    const done = world.writes().map(({ method, path }) => [method, path.endsWith(place)]);
    expect(done).toEqual([['DELETE', true]]);
    expect(await live.share('shop')).toBe(10);
  },
);

it('a flag that moves back is at home again', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move', {});
  await run(world, 'reconcile', 'one', 'two');
  world.repository.git('revert', '--no-edit', 'HEAD');

  expect(await run(world, 'reconcile', 'one', 'two')).toMatchObject({ exitCode: 0 });
  expect(await plans(world, 'one', 'two')).toEqual([[], []]);
  world.repository.commit('Ramp', { 'one/flags/shop.yaml': flagSpec('shop', { on: 20 }) });
  expect(await run(world, 'reconcile', 'one', 'two')).toMatchObject({ exitCode: 0 });
  expect(world.writes().map(({ method }) => method)).toEqual(['PATCH', 'PATCH']);
});

it('a flag that no directory declares any more is deleted, and so is one whose name only another workspace has', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move, and remove', {
    'one/flags/cart.yaml': null,
    'two/flagkeel.yaml': PRUNING.replace('Default', 'Elsewhere'),
  });
  const [one] = await plans(world, 'one', 'one');
  expect(one).toHaveLength(8);
  expect(one?.filter((line) => line.startsWith('withheld'))).toEqual([]);
});

it('holds a removal while the specs of a directory that may declare the flag are invalid', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move', { 'two/flags/menu.yaml': 'flag: other\n' });
  expect(await plans(world, 'one', 'one')).toEqual([MOVED[0], MOVED[0]]);
  const { stdout } = await run(world, 'plan', 'one');
  expect(stdout).toContain('its specs are invalid (flagkeel validate ../two)');
});

it('a directory that is deleted on disk holds nothing of a plan of the files there', async () => {
  const world = await storyOf();
  moveAll(world);
  world.repository.commit('Move', {});
  world.repository.write({ 'one/flags/cart.yaml': flagSpec('cart', { on: 20 }) });
  world.repository.remove('two');
  const [one] = await plans(world, 'one', 'one');
  expect(one).toContain('delete flag/shop');
});

it.each(['a list', 'its flag'])(
  'a kill that another directory still orders, by %s, is not undone when this one takes its order back',
  async (by) => {
    const world = await storyOf();
    const { repository, live } = world;
    const order = killList('{ shop: { reason: r, by: ana, since: 2026-10-03T22:14:00Z } }');
    const listedIn = (directory: string, files: Files): Files =>
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [`${directory}/${path}`, text]),
      );
    repository.commit('Stop the shop', {
      ...listedIn('two', order),
      ...(by === 'a list'
        ? listedIn('one', order)
        : { 'one/flags/shop.yaml': flagSpec('shop', { production: 'killed: true' }) }),
    });
    await run(world, 'reconcile', 'one', 'two');

    repository.commit('Take it back in one of them', listedIn('two', killList('{}')));
    world.writes();
    const done = await run(world, 'reconcile', 'two', 'one');
    expect(done).toMatchObject({ exitCode: 0 });
    expect(done.stdout).not.toContain('not ordered by git');
    expect(world.writes()).toEqual([]);

    const back = flagSpec('shop', { production: 'killed: false' });
    repository.commit('Take it back', {
      ...listedIn('one', killList('{}')),
      'one/flags/shop.yaml': back,
    });
    await run(world, 'reconcile', 'two', 'one');
    expect(await live.definition('shop')).toMatchObject({ killed: false });
  },
);

it('a flag whose kill another directory orders is created killed, and its kill is no live kill of unknown cause', async () => {
  const world = await storyOf();
  world.repository.commit('Stop what is to come', {
    'one/flags/late.yaml': flagSpec('late'),
    'two/kills/production.yaml':
      'kills: { late: { reason: r, by: ana, since: 2026-10-03T22:14:00Z } }\n',
  });

  const done = await run(world, 'reconcile', 'one', 'one');

  expect(await world.live.definition('late')).toMatchObject({ killed: true });
  expect(done.stdout).not.toContain('not ordered by git');
});

it('a restore by hand names the directory that orders the kill too, with the command that ends it there', async () => {
  const world = await storyOf();
  world.repository.commit('Stop the shop', {
    'two/kills/production.yaml': 'kills: { shop: { reason: r } }\n',
  });
  await run(world, 'reconcile', 'one', 'two');
  const restore = async (directory: string): Promise<string> =>
    (await run(world, 'restore', 'shop', directory, '--environment', 'production')).stdout;

  const [, way = ''] = /orders the kill too: flagkeel (.*)\n/.exec(await restore('one')) ?? [];
  const [word, flag, directory = ''] = way.split(' ');

  expect([word, flag]).toEqual(['restore', 'shop']);
  const asked = ['restore', 'shop', 'one', '--environment', 'production', '--format', 'json'];
  expect(JSON.parse((await run(world, ...asked)).stdout)).toMatchObject({ orderedIn: [directory] });
  expect(await restore(directory)).toContain('kills/production.yaml is ready');
  world.repository.commit('Bring it back', {});
  expect(await restore('one')).toBe('shop was restored already in production.\n');
});

/** Directories for two services, whose workspaces have one name; the first has removed a flag of both. */
async function regions(more: string): Promise<[eu: PipelineWorld, us: PipelineWorld]> {
  const [eu, us] = [await pipelineWorld(), await pipelineWorld()];
  const config = (world: PipelineWorld): string =>
    PRUNING + more.replace('URL', world.service.origin);
  eu.repository.commit('Begin', {
    'eu/flagkeel.yaml': config(eu),
    'eu/flags/shop.yaml': flagSpec('shop'),
    'us/flagkeel.yaml': config(us),
    'us/flags/shop.yaml': flagSpec('shop'),
  });
  expect(await run(eu, 'reconcile', 'eu')).toMatchObject({ exitCode: 0 });
  eu.repository.commit('Remove', {
    'eu/flags/shop.yaml': null,
    'eu/flags/cart.yaml': flagSpec('cart'),
  });
  return [eu, us];
}

it('directories for two services hold nothing of each other, once states or configs name the services', async () => {
  const [eu, us] = await regions('');
  const [unknown] = await plans(eu, 'eu', 'eu');
  expect(unknown?.filter((line) => line.includes('flag/shop'))).toEqual(MOVED[0]?.slice(0, 3));
  expect((await run(eu, 'plan', 'eu')).stdout).toContain(
    'nothing tells whether on another service (flagkeel reconcile ../us, once; or write service.url into both flagkeel.yaml)',
  );
  await run({ ...us, repository: eu.repository }, 'reconcile', 'us');
  const [known] = await plans(eu, 'eu', 'eu');
  expect(known).toContain('delete flag/shop');

  const [named] = await regions('service: { url: URL }\n');
  const [proposed] = await plans(named, 'eu', 'eu');
  expect(proposed).toContain('delete flag/shop');

  const [order, none] = ['{ cart: { reason: INC-1 } }', '{}'].map((each) => `kills: ${each}\n`);
  for (const list of [order, none]) {
    const there = { 'us/kills/production.yaml': order ?? '' };
    named.repository.commit('Kill cart', { ...there, 'eu/kills/production.yaml': list ?? '' });
    expect(await run(named, 'reconcile', 'eu')).toMatchObject({ exitCode: 0 });
    expect(await named.live.definition('cart')).toMatchObject({ killed: list === order });
  }
});

it('branches that never meet go on side by side with a directory each, as the refusal says where they share one', async () => {
  const world = await pipelineWorld();
  const { repository, live } = world;
  repository.commit('Begin', { 'README.md': 'Flags\n' });
  for (const branch of ['staging', 'production']) repository.git('branch', branch);
  const applied = async (environment: string, directory: string, on: number): Promise<CliRun> => {
    repository.git('checkout', '--quiet', environment);
    repository.commit(`Set ${on} %`, {
      [`${directory}/flagkeel.yaml`]: `workspace: Default\ndefaults: { trafficType: user }\nenvironments: { ${environment}: {} }\n`,
      [`${directory}/flags/shop.yaml`]: `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { ${environment}: { defaultRule: { "on": ${on}, "off": rest } } }
`,
    });
    return run(world, 'reconcile', directory);
  };
  for (const on of [10, 20]) {
    expect(await applied('staging', 'one', on)).toMatchObject({ exitCode: 0 });
    expect(await applied('production', 'two', on)).toMatchObject({ exitCode: 0 });
  }
  expect(await live.share('shop')).toBe(20);

  const refused = await applied('production', 'one', 30);
  expect(refused).toMatchObject({ exitCode: 7 });
  expect(refused.stderr).toContain(
    'branches that never meet, as one for each environment, need a config directory each',
  );
});
