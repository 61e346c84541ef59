import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../../src/reconcile/result.js';
import { plan } from '../../../src/reconcile/reconcile.js';
import { rampText } from '../../../src/report/view/sentences.js';
import {
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { edit, shareOf, since, storyOf, type Clock } from '../../support/ramp-story.js';

const PRO = '{ if: { attribute: plan, in: [pro] }, serve: "on" }';
const LADDER = 'serve: "off", ramp: "1, 1d, 10, 7d, 100"';
const SPAIN = `{ if: { attribute: country, in: [ES] }, ${LADDER} }`;
const LONG = SPAIN.replace('"1,', '{ treatment: "on", steps: "1,').replace('100"', '100" }');
const PORTUGAL = `{ if: { attribute: country, in: [PT] }, ${LADDER} }`;

interface RuleOptions {
  readonly flag?: string;
  readonly treatments?: string;
  readonly message?: string;
}

/** Commits rules of production. */
function rules({ repository }: PipelineWorld, list: string[], options: RuleOptions = {}): void {
  const { flag = '', treatments = '"on": "", "off": ""', message = 'Rules' } = options;
  repository.commit(message, {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': `flag: shop
treatments: { ${treatments} }
defaultTreatment: "off"
environments:
  production:
    defaultRule: "off"
    rules: [${list.join(', ')}]
${flag}`,
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
  const { rules: all } = await live.ok<{
    rules: {
      condition: { matchers: { strings: string[] }[] };
      buckets: { treatment: string; size: number }[];
    }[];
  }>('GET', `/splits/ws/${live.id}/shop/environments/${live.production}`);
  return Object.fromEntries(
    all.map(({ condition, buckets }) => [
      condition.matchers[0]?.strings.join(',') ?? '',
      buckets.find(({ treatment }) => treatment === 'on')?.size ?? 0,
    ]),
  );
}

describe('a rule with a ramp', () => {
  it('that is put above a live rule begins at its first step', async () => {
    const { world, after } = await ruleStory([PRO]);

    rules(world, [SPAIN, PRO]);
    await world.applied({}, after(1));

    expect(await served(world)).toEqual({ ES: 1, pro: 100 });
  });

  it('keeps its share where rules are put in or taken out above it', async () => {
    const { world, after } = await ruleStory([SPAIN]);
    await world.applied({}, after(25));
    expect(await served(world)).toEqual({ ES: 10 });

    rules(world, [PRO, PORTUGAL, SPAIN]);
    await world.applied({}, after(26));
    expect(await served(world)).toEqual({ pro: 100, PT: 1, ES: 10 });
    rules(world, [SPAIN]);
    await world.applied({}, after(27));
    expect(await served(world)).toEqual({ ES: 10 });
  });

  it('keeps its share where it is held or its flag killed while rules move', async () => {
    const held = SPAIN.replace(
      'ramp: "1, 1d, 10, 7d, 100"',
      'ramp: { steps: "1, 1d, 10, 7d, 100", hold: true }',
    );
    const { world, after } = await ruleStory([SPAIN]);
    await world.applied({}, after(25));

    rules(world, [PRO, held]);
    await world.applied({}, after(26));
    expect(await served(world)).toEqual({ pro: 100, ES: 10 });
    world.repository.commit('Stop', {
      'kills/production.yaml': 'kills: { shop: { reason: INC-1 } }\n',
    });
    rules(world, [PORTUGAL, held, PRO]);
    await world.applied({}, after(27));
    expect(await served(world)).toEqual({ PT: 0, ES: 10, pro: 100 });
  });

  it('swapped with another one keeps its share, and so does the other', async () => {
    const { world, after } = await ruleStory([SPAIN]);
    await world.applied({}, after(25));
    rules(world, [SPAIN, PORTUGAL]);
    await world.applied({}, after(26));

    rules(world, [PORTUGAL, SPAIN]);
    await world.applied({}, after(27));

    expect(await served(world)).toEqual({ PT: 1, ES: 10 });
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
  });

  it('that comes as another one goes begins at its first step', async () => {
    const { world, after } = await ruleStory([SPAIN]);
    await world.applied({}, after(25));

    rules(world, [SPAIN.replace('country, in: [ES]', 'plan, in: [free]')]);
    await world.applied({}, after(26));

    expect(await served(world)).toEqual({ free: 1 });
  });
});

/** Gives HEAD another date of the committer. */
function dated({ repository }: PipelineWorld, ms: number): void {
  const date = `@${String(Math.floor(ms / 1_000))} +0000`;
  const amend = `!GIT_COMMITTER_DATE="${date}" git commit --quiet --amend --no-edit --allow-empty`;
  repository.git('-c', `alias.dated=${amend}`, 'dated');
}

describe('a ramp goes on', () => {
  it.each<[string, (world: PipelineWorld) => void]>([
    [
      'its file moves',
      ({ repository }) => {
        const { directory } = repository;
        const to = join(directory, 'flags/deep/shop.yaml');
        mkdirSync(dirname(to), { recursive: true });
        renameSync(join(directory, 'flags/shop.yaml'), to);
        repository.git('add', '--all');
        repository.git('commit', '--quiet', '-m', 'Move it');
      },
    ],
    [
      'a treatment is added',
      (world) => {
        rules(world, [LONG], { treatments: '"on": "", "off": "", "blue": ""' });
      },
    ],
    [
      '`within` is added',
      (world) => {
        world.repository.commit('Window', {
          'flagkeel.yaml': `${PIPELINE_CONFIG}windows: { always: { from: 00:00, to: 24:00, zone: UTC } }\n`,
        });
        const ramp = 'ramp: { treatment: "on", steps: "1, 1d, 10, 7d, 100", within: always }';
        world.repository.commit('Within', {
          'flags/shop.yaml': `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    defaultRule: "off"
    rules: [{ if: { attribute: country, in: [ES] }, serve: "off", ${ramp} }]
`,
        });
      },
    ],
    [
      'the clone is shallow and its only commit a new one',
      ({ repository }) => {
        const head = repository.commit('Something else', { 'README.md': 'shop' });
        writeFileSync(join(repository.directory, '.git/shallow'), `${head}\n`);
      },
    ],
  ])('when %s', async (_, change) => {
    const { world, after } = await ruleStory([LONG]);
    await world.applied({}, after(25));

    change(world);
    dated(world, after(50).now());
    await world.applied({}, after(100));
    await world.applied({}, after(25 + 6 * 24));
    expect(await served(world)).toEqual({ ES: 10 });
    await world.applied({}, after(24 + 7 * 24));

    expect(await served(world)).toEqual({ ES: 100 });
  });
});

describe('a ramp begins with the run that first sees it', () => {
  it('however old its commit is, and whatever a review said before', async () => {
    const { world, after } = await storyOf();
    dated(world, after(-2_000).now());

    const shares = [];
    for (const hours of [0, 5, 6]) {
      await world.applied({}, after(hours));
      shares.push(await shareOf(world));
    }

    expect(shares).toEqual([10, 10, 25]);
  });
});

describe('where no state is kept', () => {
  it('a ramp without a start stays where it is, and one with a start goes upwards alone', async () => {
    const start = 'ramp: { start: 2026-03-02T10:00Z, steps: "10, 6h, 25" }';
    for (const [ramp, expected] of [
      ['ramp: "10, 6h, 25"', 0],
      [start, 25],
    ] as const) {
      const { world } = await storyOf(ramp);
      rmSync(join(world.repository.directory, '.git'), { recursive: true });
      await world.applied({ adopt: true }, { now: () => Date.parse('2026-03-03T10:00Z') });
      expect(await shareOf(world)).toBe(expected);
      await edit(world, 50);
      await world.applied({ adopt: true }, { now: () => Date.parse('2026-03-03T11:00Z') });
      expect(await shareOf(world)).toBe(50);
    }
  });
});

describe('a lost state', () => {
  it('keeps the share that is live, and the ladder begins with the run that sees it', async () => {
    const { world, after } = await storyOf();
    await world.applied({}, after(0));
    await world.applied({}, after(20));
    for (const ref of world.repository
      .git('for-each-ref', '--format=%(refname)', 'refs/flagkeel/')
      .split('\n'))
      if (ref !== '') world.repository.git('update-ref', '-d', ref);

    const shares = [];
    for (const hours of [100, 141, 142]) {
      await world.applied({ adopt: true }, after(hours));
      shares.push(await shareOf(world));
    }

    expect(shares).toEqual([50, 50, 100]);
  });
});

describe('a step that waits', () => {
  it('is not told as served', async () => {
    const { world, after } = await storyOf();
    await world.applied({}, after(0));
    await edit(world, 5);
    const run = await world.opened({ dryRun: true, at: after(7).now() });

    const [line] = (reportOf(await plan(run.context), run).ramps ?? []).map(rampText);

    expect(line).toContain('10 % due, 25 % due, 50 %, 100 %. It waits: its share was changed');
  });
});
