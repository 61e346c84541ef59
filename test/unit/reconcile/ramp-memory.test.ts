import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { since, storyOf, type Clock } from '../../support/ramp-story.js';

const PRO = '{ if: { attribute: plan, in: [pro] }, serve: "on" }';
const LADDER = 'serve: "off", ramp: "1, 1d, 10, 7d, 100"';
const SPAIN = `{ if: { attribute: country, in: [ES] }, ${LADDER} }`;
const LONG = SPAIN.replace('"1,', '{ treatment: "on", steps: "1,').replace('100"', '100" }');
const PORTUGAL = `{ if: { attribute: country, in: [PT] }, ${LADDER} }`;

/** Commits rules of production. */
function rules({ repository }: PipelineWorld, list: string[]): void {
  repository.commit('Rules', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    defaultRule: "off"
    rules: [${list.join(', ')}]
`,
  });
}

/** A flag of which production has these rules, applied before the first hour. */
async function ruleStory(list: string[]): Promise<{ world: PipelineWorld; after: Clock }> {
  const world = await pipelineWorld();
  rules(world, list);
  const after = since(world.repository);
  await world.applied({ adopt: true }, after(0));
  return { world, after };
}

/** What rules serve of `on`, by what they ask for. */
async function served({ live }: PipelineWorld): Promise<Record<string, number>> {
  const { rules: all } = await live.definition('shop');
  return Object.fromEntries(
    all.map(({ condition, buckets }) => [
      (condition.matchers[0]?.['strings'] as string[] | undefined)?.join(',') ?? '',
      buckets.find(({ treatment }) => treatment === 'on')?.size ?? 0,
    ]),
  );
}

describe('a rule with a ramp', () => {
  it('keeps its share while others come above it, swap with it or go, also held and where its flag is killed', async () => {
    const held = SPAIN.replace(
      'ramp: "1, 1d, 10, 7d, 100"',
      'ramp: { steps: "1, 1d, 10, 7d, 100", hold: true }',
    );
    const france = PORTUGAL.replace('PT', 'FR');
    const { world, after } = await ruleStory([SPAIN]);
    const servedBy = async (hours: number, list: string[]): Promise<Record<string, number>> => {
      rules(world, list);
      await world.applied({}, after(hours));
      return served(world);
    };

    await world.applied({}, after(25));
    expect(await served(world)).toEqual({ ES: 10 });
    // A ramp that is put above a live rule begins at its first step.
    expect(await servedBy(26, [PRO, PORTUGAL, SPAIN])).toEqual({ pro: 100, PT: 1, ES: 10 });
    expect(await servedBy(27, [SPAIN, PORTUGAL])).toEqual({ ES: 10, PT: 1 });
    expect(await servedBy(28, [PORTUGAL, SPAIN])).toEqual({ PT: 1, ES: 10 });
    expect(await servedBy(29, [PRO, held])).toEqual({ pro: 100, ES: 10 });
    world.repository.commit('Stop', {
      'kills/production.yaml': 'kills: { shop: { reason: INC-1 } }\n',
    });
    expect(await servedBy(30, [france, held, PRO])).toEqual({ FR: 0, ES: 10, pro: 100 });
  });

  it('under another name or condition keeps its share, and its ladder catches up', async () => {
    const { world, after } = await ruleStory([SPAIN]);
    await world.applied({}, after(25));

    rules(world, [SPAIN.replace('{ if', '{ name: Iberia, if')]);
    await world.applied({}, after(30));
    expect(await served(world)).toEqual({ ES: 10 });
    rules(world, [SPAIN.replace('[ES]', '[ES, PT]')]);
    await world.applied({}, after(31));
    await world.applied({}, after(55));
    expect(await served(world)).toEqual({ 'ES,PT': 10 });
    await world.applied({}, after(31 + 24 + 7 * 24));
    expect(await served(world)).toEqual({ 'ES,PT': 100 });
    // One that comes as another one goes is new.
    rules(world, [SPAIN.replace('country, in: [ES]', 'plan, in: [free]')]);
    await world.applied({}, after(31 + 24 + 7 * 24 + 1));
    expect(await served(world)).toEqual({ free: 1 });
  });
});

/** Gives HEAD another date of the committer. @returns its new id. */
function dated({ repository }: PipelineWorld, ms: number): string {
  const date = `@${String(Math.floor(ms / 1_000))} +0000`;
  const amend = `!GIT_COMMITTER_DATE="${date}" git commit --quiet --amend --no-edit --allow-empty`;
  repository.git('-c', `alias.dated=${amend}`, 'dated');
  return repository.git('rev-parse', 'HEAD');
}

it('a ramp goes on when its file moves, a treatment or `within` is added, and the clone is shallow', async () => {
  const { world, after } = await ruleStory([LONG]);
  const { repository } = world;
  const { directory } = repository;
  const runs = async (...all: readonly number[]): Promise<void> => {
    for (const hours of all) await world.applied({}, after(hours));
  };
  await runs(25);

  const to = join(directory, 'flags/deep/shop.yaml');
  mkdirSync(dirname(to), { recursive: true });
  renameSync(join(directory, 'flags/shop.yaml'), to);
  repository.commit('Move it');
  dated(world, after(50).now());
  await runs(51);
  const moved = readFileSync(to, 'utf8');
  const blue = moved.replace('"off": "" }', '"off": "", "blue": "" }');
  repository.commit('Add a treatment', { 'flags/deep/shop.yaml': blue });
  await runs(60);
  const always = 'windows: { always: { from: 00:00, to: 24:00, zone: UTC } }\n';
  repository.commit('Within', {
    'flagkeel.yaml': PIPELINE_CONFIG + always,
    'flags/deep/shop.yaml': blue.replace('7d, 100"', '7d, 100", within: always'),
  });
  await runs(70);
  repository.commit('Something else', { 'README.md': 'shop' });
  const head = dated(world, after(90).now());
  writeFileSync(join(directory, '.git/shallow'), `${head}\n`);
  await runs(100, 25 + 6 * 24);
  expect(await served(world)).toEqual({ ES: 10 });
  await runs(24 + 7 * 24);

  expect(await served(world)).toEqual({ ES: 100 });
});

it('a ramp with a start goes upwards alone where no state is kept', async () => {
  const { world } = await storyOf('ramp: { start: 2026-03-02T10:00Z, steps: "10, 6h, 25" }');
  rmSync(join(world.repository.directory, '.git'), { recursive: true });
  await world.applied({ adopt: true }, { now: () => Date.parse('2026-03-03T10:00Z') });
  expect(await world.live.share('shop')).toBe(25);
  await world.live.set('shop', { on: 50 });
  await world.applied({ adopt: true }, { now: () => Date.parse('2026-03-03T11:00Z') });
  expect(await world.live.share('shop')).toBe(50);
});
