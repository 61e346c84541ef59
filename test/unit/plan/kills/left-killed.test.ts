import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { flagEntry, type Base, type LeftKilled, type State } from '../../../../src/model/state.js';
import { verdictOf } from '../../../../src/model/verdict.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import { leftKilledAfter, withKillsBack } from '../../../../src/plan/kills/plan.js';
import { withOldKills } from '../../../../src/plan/objects/definition.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anEnvironment,
  DEFINITION,
  desiredFlag,
  liveFlag,
  NO_STATE,
  onShare,
  type Said,
} from '../../../support/builders.js';
import { flagState, inputOf, planOf } from '../../../support/planning.js';

const ID = 'flag/pay@production';
const LEFT = 'flag/pay@env-production';
const [SEEN, NOW] = ['2026-11-01T08:00:00.000Z', '2026-11-27T12:00:00.000Z'];
const KILLED = { spec: { ...DEFINITION, killed: true } };
const ALIVE = { spec: DEFINITION };

const remembered = (base: Partial<Base<Definition>>): State =>
  flagState('pay', { production: base });

/** @param said undefined without a definition, null if nobody looked. */
const liveAs = (said?: Definition | null, lastUpdateTime = 1) => ({
  flags:
    said === null ? [] : [liveFlag('pay', said && { production: said }, {}, { lastUpdateTime })],
});

const saying = (said: Said) =>
  aDesired({ flags: [desiredFlag('pay', { environments: { production: said } })] });

describe('a definition that leaves the inventory', () => {
  const before = { [LEFT]: SEEN };

  const inStaging = flagState('pay', { staging: ALIVE });

  it.each<[string, State, Definition | undefined | null, State, LeftKilled, LeftKilled]>([
    ['killed is remembered', remembered(KILLED), undefined, NO_STATE, {}, { [LEFT]: NOW }],
    ['is so where nobody looked', remembered(KILLED), null, NO_STATE, {}, { [LEFT]: NOW }],
    ['elsewhere is not remembered here', inStaging, { killed: true }, inStaging, {}, {}],
    [
      'with a kill by hand is remembered since that was seen',
      remembered({ ...ALIVE, liveKillSeenAt: 'c0ffee', liveKillSeen: SEEN }),
      undefined,
      NO_STATE,
      {},
      before,
    ],
    ['restored by hand is not', remembered(KILLED), { killed: false }, NO_STATE, {}, {}],
    ['is not, where it stays', remembered(KILLED), undefined, remembered(KILLED), {}, {}],
    ['is forgotten once it is back', NO_STATE, undefined, remembered(ALIVE), before, {}],
    [
      'is remembered until it was seen back',
      NO_STATE,
      undefined,
      remembered({ pending: 'create' }),
      before,
      before,
    ],
  ])('%s', (_, state, live, after, known, left) => {
    const input = inputOf(aDesired(), liveAs(live), { state });

    expect(leftKilledAfter(known, input, after, NOW)).toEqual(left);
  });
});

describe('a definition that left killed', () => {
  const policy = { leftKilled: { [LEFT]: SEEN }, adopt: true };
  const plan = (said: Said, more: Partial<PlanPolicy> = {}) =>
    planOf(saying(said), liveAs(), { policy: { ...policy, ...more } });
  const reverting = { environments: [anEnvironment('production', { onLiveKill: 'revert' })] };
  const restorable = new Map([[ID, { kind: 'flag', name: 'pay', environment: 'production' }]]);

  it.each<[string, Said, object, boolean]>([
    ['comes back killed', {}, {}, true],
    ['comes back killed though the spec says that it is alive', { killed: false }, {}, true],
    ['comes back alive where the config says so', { killed: false }, reverting, false],
    ['comes back alive where HEAD takes the kill back', { killed: false }, { restorable }, false],
    ['comes back alive if it left alive', {}, { leftKilled: {} }, false],
  ])('%s', (_, said, more, isKilled) => {
    const { changes, liveKills, steps } = plan(said, more);

    const creation = changes.find(({ id }) => id === ID);
    const killed = creation?.fields.find(({ path }) => path === '/killed');
    expect([creation?.action, killed?.after === true]).toEqual(['create', isKilled]);
    expect(steps.find(({ change }) => change === ID)).toMatchObject({ body: { killed: isKilled } });
    expect(liveKills).toMatchObject(isKilled ? [{ id: ID, seen: SEEN, comesBack: true }] : []);
  });

  it('is a live kill like others once its creation is applied', () => {
    const made = plan({});
    const comesBack = (outcomes: Parameters<typeof withKillsBack>[1]) =>
      withKillsBack(made, outcomes).liveKills.map((each) => each.comesBack);

    expect(comesBack(new Map([[ID, { status: 'applied' }]]))).toEqual([undefined]);
    expect(comesBack(new Map([[ID, { status: 'skipped', why: 'interrupted' }]]))).toEqual([true]);
    expect(comesBack(new Map())).toEqual([true]);
  });
});

describe('a kill that git takes back', () => {
  const marked = remembered({ ...KILLED, commit: 'c0ffee', killedAsOf: '1' });
  const byHand = remembered({ ...ALIVE, liveKillSeenAt: 'c0ffee', killedAsOf: '1' });
  const restorable = new Map([[ID, { kind: 'flag', name: 'pay', environment: 'production' }]]);
  const killed = { killed: true };
  const back = { killed: false };
  const reverting = { environments: [anEnvironment('production', { onLiveKill: 'revert' })] };

  /** The plan, and what is remembered after it, of a definition that was changed last at the mark 2. */
  function after(
    said: Said | null,
    live: Definition | undefined | null,
    { state = marked, updated = 2, policy = {} } = {},
  ) {
    const desired = said === null ? aDesired() : saying(said);
    const input = withOldKills(inputOf(desired, liveAs(live, updated), { state, policy }));
    const plan = planChanges(input, 'full');
    const next = stateAfterVerify(input, new Set(plan.unchanged), 'bead');
    return { plan, base: flagEntry(next, 'pay')?.environments['env-production'] };
  }

  it.each<[string, Said, object]>([
    ['alone', back, {}],
    ['beside another change of git', { ...back, trafficAllocation: 50 }, {}],
    ['a kill by hand', back, { state: byHand, policy: { restorable } }],
  ])(
    'is held for a person where the flag was changed without a trace since: %s',
    (_, said, world) => {
      const { plan, base } = after(said, killed, world);

      expect(plan.changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(
        Object.keys(said).flatMap((name) => (name === 'killed' ? [] : `/${name}`)),
      );
      expect(plan.withheld).toMatchObject([{ id: ID, why: 'live-kill', reason: 'restore' }]);
      expect(verdictOf({ plan }).objects.get(ID)).toMatchObject({ is: 'held', why: 'conflict' });
      expect([plan.liveKills, base?.killedAsOf]).toEqual([[], '1']);
    },
  );

  it.each<[string, Said | null, Definition | undefined | null, object, string[]]>([
    ['nothing changed', back, killed, { updated: 1 }, ['restore']],
    ['it is alive', back, back, {}, []],
    ['another hand shows', back, { ...killed, ...onShare(40) }, {}, ['restore']],
    [
      'another hand and git meet',
      { ...back, ...onShare(50) },
      { ...killed, ...onShare(40) },
      {},
      ['restore'],
    ],
    ['no mark is known', back, killed, { state: remembered(KILLED) }, ['restore']],
    ['the config takes back either', back, killed, { policy: reverting }, ['restore']],
    ['git orders it still', killed, killed, {}, []],
    ['git has it no more', null, killed, {}, []],
  ])('is not where %s', (_, said, live, world, reasons) => {
    const { plan } = after(said, live, world);

    expect(plan.withheld.filter(({ why }) => why === 'live-kill')).toEqual([]);
    expect(
      plan.changes.flatMap(({ fields }) =>
        fields.flatMap(({ path, reason }) => (path === '/killed' ? [reason] : [])),
      ),
    ).toEqual(reasons);
  });

  it('is no matter of what nobody looked at', () => {
    const input = inputOf(saying(back), liveAs(null), { state: marked });

    expect(withOldKills(input)).toEqual({
      ...input,
      policy: { ...input.policy, oldKills: new Set() },
    });
  });

  it.each<[string, Said, object]>([
    ['that git has dropped', {}, {}],
    [
      'whose list vanished',
      back,
      { state: remembered({ ...KILLED, killListed: true, killedAsOf: '1' }) },
    ],
    ['by hand', back, { state: byHand }],
  ])('is remembered as a kill of now %s', (_, said, world) => {
    const { plan, base } = after(said, killed, world);

    expect(plan.changes).toEqual([]);
    expect(base).toMatchObject({ liveKillSeenAt: 'bead', killedAsOf: '2' });
    expect([base?.spec?.killed, base?.killListed]).not.toContain(true);
  });
});
