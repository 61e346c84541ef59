import { describe, expect, it } from 'vitest';
import type { Applied, Planned } from '../../../src/reconcile/context.js';
import { pipelineWorld, type PipelineWorld } from '../../support/pipeline-world.js';
import { TEST_SEED } from '../../support/service.js';

const TOUCHED = { touchedSince: 'state' } as const;

const CONFIG = `workspace: Default
environments: { development: {}, staging: {}, production: { protected: false, onDrift: report } }
defaults: { trafficType: user }
`;

function flag(name: string, { on = 10, status = 'Ramping', rules = '' } = {}): string {
  const rule = `${rules}defaultRule: { "on": ${on}, "off": rest }`;
  return `flag: ${name}
rolloutStatus: ${status}
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { development: { ${rule} }, staging: { ${rule} }, production: { ${rule} } }
`;
}

/** A workspace with three environments, to which a few flags and a segment were applied once. */
async function appliedWorld({ strict = false } = {}): Promise<PipelineWorld> {
  const [workspace] = TEST_SEED.workspaces;
  if (!workspace) throw new Error('the seed has no workspace');
  const environments = [{ name: 'development' }, ...workspace.environments];
  const world = await pipelineWorld(undefined, {
    strict,
    seed: { workspaces: [{ ...workspace, environments }] },
  });
  world.repository.commit('Five flags', {
    'flagkeel.yaml': CONFIG,
    'segments/beta.yaml': 'segment: beta\nenvironments: { staging: { keys: [a] } }\n',
    ...Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e'].map((each) => [`flags/${each}.yaml`, flag(each)]),
    ),
  });
  expect(await world.applied()).toMatchObject({ converged: true, plan: { observed: 'full' } });
  world.service.requests.length = 0;
  return world;
}

/** Objects that a run looked at, in the order of the plan. */
function lookedAt({ plan, input }: Planned): readonly string[] {
  return plan.observed === 'full' ? ['everything'] : [...(input.policy.only ?? [])].sort();
}

async function setLive(world: PipelineWorld, name: string, allocation: number): Promise<void> {
  await world.live.set(name, { trafficAllocation: allocation });
  world.service.requests.length = 0;
}

/** A segment of three keys in production, for one of which somebody puts another there. */
async function swapKey(world: PipelineWorld): Promise<void> {
  const { live, repository } = world;
  const spec = 'segment: gamma\nenvironments: { production: { keys: [ours, one, two] } }\n';
  repository.commit('Keys', { 'segments/gamma.yaml': spec });
  await world.applied();
  const place = `/segments/${live.production}/gamma`;
  await live.ok('PUT', `${place}/upload`, ['theirs']);
  await live.ok('PUT', `${place}/removeKeys`, { keys: ['ours'], comment: 'c' });
}

describe('a run over a known state that looks at what was touched since', () => {
  it.each([
    ['with bulk lists', false],
    ['without bulk lists', true],
  ])('asks six questions before it writes one changed flag, %s', async (_, strict) => {
    const world = await appliedWorld({ strict });
    world.repository.commit('Ramp b', { 'flags/b.yaml': flag('b', { on: 50 }) });

    const done = await world.applied(TOUCHED);

    const { requests } = world.service;
    const before = requests.findIndex(({ method }) => method !== 'GET');
    expect(done).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect(done.plan.changes.map(({ id }) => id)).toEqual([
      'flag/b@development',
      'flag/b@staging',
      'flag/b@production',
    ]);
    expect(before).toBeLessThanOrEqual(6);
    expect(requests.length).toBeLessThanOrEqual(14);
  });

  it('plans what a run plans that looks at everything', async () => {
    const world = await appliedWorld();
    const asksC = 'rules: [{ if: { flag: c, treatments: ["on"] }, serve: "on" }], ';
    const commits: Readonly<Record<string, string | null>>[] = [
      { 'flags/b.yaml': flag('b', { status: 'Killed' }) },
      { 'flags/new.yaml': flag('new') },
      { 'segments/beta.yaml': 'segment: beta\nenvironments: { staging: { keys: [a, b] } }\n' },
      { 'kills/staging.yaml': 'kills:\n  c: { reason: INC-1 }\n' },
      { 'kills/staging.yaml': 'kills: {}\n' },
      { 'flags/a.yaml': flag('a', { rules: asksC }) },
      { 'flags/b.yaml': `# a word\n${flag('b', { status: 'Killed' })}` },
      { 'flags/e.yaml': null, 'flags/moved/e.yaml': flag('e') },
      { 'flags/d.yaml': null },
    ];
    world.repository.commit('Prune', { 'flagkeel.yaml': `${CONFIG}prune: true\n` });
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

  it('does not see drift elsewhere, and looks again at what a run saw and left', async () => {
    const world = await appliedWorld();
    await setLive(world, 'c', 50);
    expect(lookedAt(await world.applied(TOUCHED))).toEqual([]);

    const full = await world.applied();
    expect(full.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);
    const again = await world.applied(TOUCHED);
    expect(lookedAt(again)).toEqual(['flag/c']);
    expect(again.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);

    await setLive(world, 'c', 100);
    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/c']);
    expect(lookedAt(await world.applied(TOUCHED))).toEqual([]);
  });

  it('looks again at keys that differ although there are as many as before', async () => {
    const world = await appliedWorld();
    await swapKey(world);
    const full = await world.applied();
    expect(full.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);

    const again = await world.applied(TOUCHED);

    expect(lookedAt(again)).toEqual(['segment/gamma']);
    expect(again.plan.withheld.map(({ why }) => why)).toEqual(['drift-reported']);
  });

  it('keeps what a filtered run did not look at among what is out of sync', async () => {
    const world = await appliedWorld();
    await setLive(world, 'c', 50);
    await world.applied();

    await world.applied({ only: ['flag/a'] });
    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/c']);
    await world.applied({ environment: ['staging'] });
    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/c']);
  });

  it('looks again at a write that failed and was taken back in git', async () => {
    const world = await appliedWorld();
    world.repository.commit('Ramp b', { 'flags/b.yaml': flag('b', { on: 20 }) });
    world.service.failNext({ method: 'PATCH', path: /\/b\/environments/ }, 404);
    expect(await world.applied()).toMatchObject({ converged: false });
    world.repository.commit('Revert', { 'flags/b.yaml': flag('b') });

    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/b']);
  });

  it('looks at a commit that an ended run may have applied, though a later one takes it back', async () => {
    const world = await appliedWorld();
    world.repository.commit('Ramp b', { 'flags/b.yaml': flag('b', { on: 20 }) });
    world.repository.commit('Revert', { 'flags/b.yaml': flag('b') });

    expect(lookedAt(await world.applied(TOUCHED))).toEqual(['flag/b']);
  });

  it('corrects another rollout status by its id, although it did not ask for all of them before', async () => {
    const world = await appliedWorld();
    const { id } = world.live;
    const statuses = await world.live.ok<{ id: string; name: string }[]>(
      'GET',
      `/rolloutStatuses?wsId=${id}`,
    );
    const killed = statuses.find(({ name }) => name === 'Killed')?.id;
    const operation = { op: 'replace', path: '/rolloutStatus/id', value: killed };
    await world.live.ok('PATCH', `/splits/ws/${id}/b`, [operation]);
    world.repository.commit('Ramp b', { 'flags/b.yaml': flag('b', { on: 20 }) });

    const done = await world.applied({ ...TOUCHED, revertDrift: true });

    expect(done).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect(done.plan.changes.map(({ id: each }) => each)).toContain('flag/b');
  });

  it('looks at everything where the state does not know enough', async () => {
    const world = await appliedWorld();
    const observed = async (): Promise<Applied['plan']['observed']> =>
      (await world.planned(TOUCHED)).plan.observed;
    expect(await observed()).toBe('touched');
    world.repository.commit('Prune', { 'flagkeel.yaml': `${CONFIG}prune: true\n` });
    expect(await observed()).toBe('full');
    await world.applied();
    expect(await observed()).toBe('touched');

    const ref = world.repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel');
    world.repository.git('update-ref', '-d', ref);
    expect(await observed()).toBe('full');
  });
});
