import { beforeEach, describe, expect, it } from 'vitest';
import type { Applied, Planned } from '../../../src/reconcile/context.js';
import { exitCodeOf } from '../../../src/reconcile/result.js';
import type { Files } from '../../support/git.js';
import {
  appliedWorld,
  flagSpec,
  forget,
  killList,
  PIPELINE_CONFIG,
  toldOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const TOUCHED = { touchedSince: 'state' } as const;

const { signal } = new AbortController();
const LETTERS = ['a', 'b', 'c', 'd', 'e'];
const PRUNING = `${PIPELINE_CONFIG}prune: true\n`;

type Lines = Parameters<typeof flagSpec>[1];
const spec = (name: string, lines?: Lines): string =>
  `rolloutStatus: Ramping\n${flagSpec(name, lines)}`;
const flag = (name: string, lines?: Lines): Files => ({
  [`flags/${name}.yaml`]: spec(name, lines),
});
const KILLED_B = spec('b').replace('Ramping', 'Killed');

/** A few flags and a segment that were applied once. */
async function fiveFlags(strict = false): Promise<PipelineWorld> {
  const files = Object.assign({}, ...LETTERS.map((name) => flag(name))) as Files;
  const world = await appliedWorld({ ...files, ...beta('a') }, { strict });
  world.service.requests.length = 0;
  return world;
}

const beta = (...keys: readonly string[]) => ({
  'segments/beta.yaml': `segment: beta\nenvironments: { staging: { keys: [${keys.join(', ')}] } }\n`,
});

/** Objects that a run looked at, in the order of the plan. */
function lookedAt({ plan, input }: Planned): readonly string[] {
  return plan.observed === 'full' ? ['everything'] : [...(input.policy.only ?? [])].sort();
}

async function setLive(world: PipelineWorld, name: string, allocation: number): Promise<void> {
  await world.live.set(name, { trafficAllocation: allocation });
  world.service.requests.length = 0;
}

describe('a run over a known state that looks at what was touched since', () => {
  it.each([
    ['with bulk lists', false],
    ['without bulk lists', true],
  ])('asks six questions before it writes one changed flag, %s', async (_, strict) => {
    const world = await fiveFlags(strict);
    world.repository.commit('Ramp b', flag('b', { on: 50 }));

    const done = await world.applied(TOUCHED);

    const { requests } = world.service;
    const before = requests.findIndex(({ method }) => method !== 'GET');
    expect(done).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect(done.plan.changes.map(({ id }) => id)).toEqual(['flag/b@staging', 'flag/b@production']);
    expect(before).toBeLessThanOrEqual(6);
    expect(requests.length).toBeLessThanOrEqual(12);
  });

  it('plans what a run plans that looks at everything', async () => {
    const world = await fiveFlags();
    const asksC = 'rules: [{ if: { flag: c, treatments: ["on"] }, serve: "on" }]';
    const commits: Files[] = [
      { 'flags/b.yaml': KILLED_B },
      flag('new'),
      beta('a', 'b'),
      killList('{ c: { reason: INC-1 } }', 'staging'),
      killList('{}', 'staging'),
      flag('a', { staging: asksC, production: asksC }),
      { 'flags/b.yaml': `# a word\n${KILLED_B}` },
      { 'flags/e.yaml': null, 'flags/moved/e.yaml': spec('e') },
      { 'flags/d.yaml': null },
    ];
    world.repository.commit('Prune', { 'flagkeel.yaml': PRUNING });
    await world.applied();
    for (const [index, files] of commits.entries()) {
      world.repository.commit(`Commit ${index}`, files);
      const full = await world.planned();
      const done = await world.applied(TOUCHED);
      // Also where a flag is new: such a service shows all flags.
      const shown = { notCompared: [] };
      expect(done).toMatchObject({ converged: true, plan: { observed: 'touched', ...shown } });
      expect(full).toMatchObject({ planHash: done.planHash, plan: { observed: 'full', ...shown } });
    }
    expect((await world.planned()).plan).toMatchObject({ changes: [], withheld: [] });
  });

  it('does not see drift elsewhere, and looks again at what a run saw and left, also after runs over something else', async () => {
    const world = await fiveFlags();
    await setLive(world, 'c', 50);
    expect(lookedAt(await world.applied(TOUCHED))).toEqual([]);

    const full = await world.applied();
    expect(full.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);
    const again = await world.applied(TOUCHED);
    expect(lookedAt(again)).toEqual(['flag/c']);
    expect(again.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);
    for (const filter of [{ only: ['flag/a'] }, { environment: ['staging'] }]) {
      await world.applied(filter);
      expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/c']);
    }

    await setLive(world, 'c', 100);
    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/c']);
    expect(lookedAt(await world.applied(TOUCHED))).toEqual([]);
  });

  it('looks again at a write that failed and was taken back in git', async () => {
    const world = await fiveFlags();
    world.repository.commit('Ramp b', flag('b', { on: 20 }));
    world.service.failNext({ method: 'PATCH', path: /\/b\/environments/ }, 404);
    expect(await world.applied()).toMatchObject({ converged: false });
    world.repository.commit('Revert', flag('b'));

    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/b']);
  });

  it('looks at a commit that an ended run may have applied, though a later one takes it back', async () => {
    const world = await fiveFlags();
    world.repository.commit('Ramp b', flag('b', { on: 20 }));
    world.repository.commit('Revert', flag('b'));

    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/b']);
  });

  it('corrects another rollout status by its id, although it did not ask for all of them before', async () => {
    const world = await fiveFlags();
    const { id } = world.live;
    const statuses = await world.live.ok<{ id: string; name: string }[]>(
      'GET',
      `/rolloutStatuses?wsId=${id}`,
    );
    const killed = statuses.find(({ name }) => name === 'Killed')?.id;
    const operation = { op: 'replace', path: '/rolloutStatus/id', value: killed };
    await world.live.ok('PATCH', `/splits/ws/${id}/b`, [operation]);
    world.repository.commit('Ramp b', flag('b', { on: 20 }));

    const done = await world.applied({ ...TOUCHED, revertDrift: true });

    expect(done).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect(done.plan.changes.map(({ id: each }) => each)).toContain('flag/b');
  });

  it('looks at everything where the state does not know enough', async () => {
    const world = await fiveFlags();
    const observed = async (): Promise<Applied['plan']['observed']> =>
      (await world.planned(TOUCHED)).plan.observed;
    expect(await observed()).toBe('touched');
    world.repository.commit('Prune', { 'flagkeel.yaml': PRUNING });
    expect(await observed()).toBe('full');
    await world.applied();
    expect(await observed()).toBe('touched');

    forget(world);
    expect(await observed()).toBe('full');
  });
});

describe('what rules need', () => {
  const NEEDED = 'rules: [{ if: { segment: beta }, serve: { "on": 100 } }]';
  const SEGMENT = `segment: beta
environments:
  production: { keys: [ana] }
`;

  let world: PipelineWorld;

  beforeEach(async () => {
    world = await appliedWorld({
      'flags/pay.yaml': flagSpec('pay'),
      'segments/beta.yaml': SEGMENT,
    });
  });

  async function deactivate(): Promise<void> {
    const path = `/segments/${world.live.production}/beta`;
    await world.live.ok('PUT', `${path}/removeKeys`, { keys: ['ana'], comment: 'c' });
    await world.live.ok('DELETE', path);
    world.service.requests.length = 0;
  }

  function commitRule(): void {
    world.repository.commit('Serve pay to beta', {
      'flags/pay.yaml': flagSpec('pay', { production: NEEDED }),
    });
  }

  it.each([{ only: ['flag/pay'] }, { touchedSince: 'state' } as const])(
    'a run over a part holds a rule back whose segment somebody deactivated, as a run over all does: %o',
    async (settings) => {
      await deactivate();
      commitRule();

      const done = await world.applied(settings);

      expect(toldOf(done)).toEqual(['withheld flag/pay@production needs-withheld']);
      expect(done.plan.withheld[0]?.because).toBe(
        'it needs segment/beta@production, which is not on the service',
      );
      expect(done.converged).toBe(true);
      expect(world.writes()).toEqual([]);
      const full = await world.applied();
      expect(toldOf(full).join()).toContain('flag/pay@production needs-withheld');
      expect([done, full].map((each) => exitCodeOf(each, signal))).toEqual([0, 0]);
    },
  );

  it('a run over what was touched looks at what changed rules name, and at that alone', async () => {
    const looks = (): string[] =>
      world.service.requests
        .splice(0)
        .map(({ path }) => path.split('/').slice(4).join('/'))
        .filter((path) => path.startsWith('segments/'));
    commitRule();
    world.service.requests.length = 0;

    expect(toldOf(await world.applied({ touchedSince: 'state' }))).toEqual([
      'update flag/pay@production applied',
    ]);

    expect(looks()).toEqual([`segments/${world.live.production}/beta/keys`]);
    world.repository.commit('Ramp pay', {
      'flags/pay.yaml': flagSpec('pay', { on: 20, production: NEEDED }),
    });
    await world.applied({ touchedSince: 'state' });
    expect(looks()).toEqual([]);
  });
});
