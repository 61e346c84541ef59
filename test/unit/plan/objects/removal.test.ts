import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import { NO_KEYS } from '../../../../src/model/segment-keys.js';
import type { ActualFlag } from '../../../../src/model/actual.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import type { State } from '../../../../src/model/state.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import { shownFields, shownIn } from '../../../../src/plan/reviewed.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  desiredFlag,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  noFlag,
  noSegment,
  planLines,
} from '../../../support/builders.js';
import { planOf, provenIn, segmentState, type Given } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';

const PLACES = ['', '@staging', '@production'];

/** A plan of what is gone from the specs, with every witness that a deletion needs. */
function planWithout(
  before: BoundDesired,
  live: Parameters<typeof planOf>[1],
  given: Given & { desired?: BoundDesired } = {},
): Plan {
  const { desired = aDesired(), state = stateOf(before), policy } = given;
  const provenRemovals = provenIn(state);
  return planOf(desired, live, { state, policy: { prune: true, provenRemovals, ...policy } });
}

/** What a run remembers of the specs, without the workspace level of each object. */
function placesAlone(specs: BoundDesired): State {
  return new Map(
    [...stateOf(specs)].map(([key, { workspace, ...entry }]) => [key, entry as never]),
  );
}

/** A run that selects the environments that are named. */
const selected = (...names: string[]): Given => {
  const all = ['staging', 'production'];
  const environments = all.map((name) => anEnvironment(name, { selected: names.includes(name) }));
  return { policy: { environments } };
};

/** A run in which the file of the object is invalid. */
const held = (key: string): Given => ({ policy: { quarantined: new Set([key]) } });

const pay = desiredFlag('pay', { environments: { staging: {}, production: {} } });
const livePay = liveFlag('pay', { staging: { targets: { on: ['a'] } }, production: {} });
const beta = desiredSegment('beta', { staging: ['a'], production: [] });
const liveBeta = liveSegment('beta', { staging: ['a'], production: [] });

describe('a flag that left the specs', () => {
  const before = aDesired({ flags: [pay] });

  it('goes from each environment and then wholly, and the plan shows all that goes but the keys', () => {
    const plan = planWithout(before, { flags: [livePay] });

    expect(planLines(plan)).toEqual([
      'delete flag/pay@staging (prune)',
      'delete flag/pay@production (prune)',
      'delete flag/pay (prune)',
    ]);
    expect(plan.changes[0]?.fields.map(({ path }) => path)).toEqual([
      ...['/killed', '/treatments', '/defaultTreatment', '/baselineTreatment'],
      ...['/trafficAllocation', '/rules', '/defaultRule'],
    ]);
    const value = { base: 'off', before: 'off' };
    expect(plan.changes[0]?.fields[2]).toEqual({
      path: '/defaultTreatment',
      reason: 'prune',
      ...value,
    });
    expect(plan.changes[2]).toMatchObject({
      location: null,
      dependsOn: ['flag/pay@production', 'flag/pay@staging'],
      fields: [
        { path: '/description', before: '' },
        { path: '/tags', before: [] },
        { path: '/rolloutStatus', before: 'Pre-Production' },
      ],
    });
    expect(plan.steps).toMatchObject([
      { action: 'delete-definition', flag: 'pay', environment: 'staging' },
      { action: 'delete-definition', flag: 'pay', environment: 'production' },
      { action: 'delete-flag', flag: 'pay' },
    ]);
  });

  const live = { flags: [livePay] };
  const production = desiredFlag('pay', {
    environments: { production: { unsaid: ['killed', 'baselineTreatment', 'targets'] } },
  });
  const keepingProduction = { desired: aDesired({ flags: [production] }) };
  const [STAGING, PRODUCTION, WHOLE] = ['@staging', '@production', ''].map(
    (place) => `delete flag/pay${place} (prune)`,
  ) as [string, string, string];
  const HELD = 'withheld delete flag/pay: still-in-use';
  const inProduction = liveFlag('pay', { production: {} });

  it.each<[string, Parameters<typeof anActual>[0], Parameters<typeof planWithout>[2], string[]]>([
    ['where the service does not have it any more', { flags: [noFlag('pay')] }, {}, []],
    ['in the environments that are left', { flags: [inProduction] }, {}, [PRODUCTION, WHOLE]],
    ['in the one environment that left the specs', live, keepingProduction, [STAGING]],
    ['but for other environments, so not wholly', live, selected('staging'), [STAGING, HELD]],
    ['not wholly while it is in several environments', live, selected(), [HELD]],
    ['not wholly by definitions', live, { state: placesAlone(before) }, [STAGING, PRODUCTION]],
    ['nowhere while its file is invalid', live, held('flag/pay'), []],
  ])('goes %s', (_, actual, given, lines) => {
    expect(planLines(planWithout(before, actual, given))).toEqual(lines);
  });

  const described = { description: 'Pay', tags: ['web'] };
  const owned = { ownershipTag: 'ours' };

  it.each<[string, object, Parameters<typeof liveFlag>[2]]>([
    ['as git has it', { fields: described }, { description: 'Pay', tags: [{ name: 'web' }] }],
    ['with tags of people beside its own', owned, { tags: [{ name: 'ours' }, { name: 'web' }] }],
    ['of which git says nothing', {}, { description: 'By hand' }],
  ])('goes wholly by a review, which starts at the specs before it, %s', (_, said, flag) => {
    const specs = aDesired({ flags: [{ ...pay, ...said }] });
    const places = { staging: {}, production: {} };
    const { changes } = planWithout(specs, { flags: [liveFlag('pay', places, flag)] });
    const place = { origin: 'https://admin.example.com', workspaceId: 'ws-1' };
    const ladders = new Map();
    const shown = shownFields({ changes }, { start: specs, ladders });
    const reviewed = { origin: place.origin, workspace: { id: place.workspaceId }, changes: [] };
    const plans = shownIn([{ ...reviewed, changes: changes as never, shown }]);

    const going = changes.filter((each) => plans.shows(each, { place, ladders }));
    expect(going.map(({ id }) => id)).toEqual(
      ['@staging', '@production', ''].map((at) => `flag/pay${at}`),
    );
  });
});

describe('a segment that left the specs', () => {
  const before = aDesired({ segments: [beta] });

  it('is emptied, deactivated and then deleted, and the plan shows how many keys go', () => {
    const plan = planWithout(before, { segments: [liveBeta] });

    expect(planLines(plan)).toEqual([
      'deactivate segment/beta@staging (prune)',
      'deactivate segment/beta@production (prune)',
      'delete segment/beta (prune)',
    ]);
    expect(plan.changes[0]).toMatchObject({
      fields: [],
      keys: { added: [], removed: ['a'], sha256: NO_KEYS.digest.sha256 },
    });
    expect(plan.changes[2]).toMatchObject({
      dependsOn: ['segment/beta@production', 'segment/beta@staging'],
      fields: [{ path: '/trafficType', reason: 'prune', before: 'user' }],
    });
    expect(plan.steps).toMatchObject([
      { action: 'remove-keys', segment: 'beta', environment: 'staging', keys: ['a'] },
      { action: 'deactivate-segment', segment: 'beta', environment: 'staging' },
      { action: 'deactivate-segment', segment: 'beta', environment: 'production' },
      { action: 'delete-segment', segment: 'beta' },
    ]);
  });

  const live = { segments: [liveBeta] };
  const staging = aDesired({ segments: [desiredSegment('beta', { staging: ['a'] })] });
  const [STAGING, PRODUCTION] = ['staging', 'production'].map(
    (place) => `deactivate segment/beta@${place} (prune)`,
  ) as [string, string];
  const WHOLE = 'delete segment/beta (prune)';
  const HELD = 'withheld delete segment/beta: still-in-use';
  const inProduction = aDesired({ segments: [desiredSegment('beta', { production: [] })] });
  const keepingProduction = { desired: inProduction };

  it.each<[string, Parameters<typeof anActual>[0], Parameters<typeof planWithout>[2], string[]]>([
    ['where the service does not have it any more', { segments: [noSegment('beta')] }, {}, []],
    ['nowhere while its file is invalid', live, held('segment/beta'), []],
    ['where it is active nowhere', { segments: [liveSegment('beta')] }, {}, [WHOLE]],
    ['in the one environment that left the specs', live, keepingProduction, [STAGING]],
    ['but for environments not selected', live, selected('production'), [PRODUCTION, HELD]],
    ['but for environments never ours', live, { state: stateOf(staging) }, [STAGING, HELD]],
  ])('goes %s', (_, actual, given, lines) => {
    expect(planLines(planWithout(before, actual, given))).toEqual(lines);
  });

  it.each([
    ['that were never managed', undefined, ['theirs']],
    ['that others added', ['a'], ['a', 'theirs']],
  ])('stays with keys %s, and says what to do', (_, keys, held) => {
    const before = aDesired({ segments: [desiredSegment('beta', { staging: keys })] });
    const plan = planWithout(before, { segments: [liveSegment('beta', { staging: held })] });

    expect(planLines(plan)).toEqual([
      'withheld delete segment/beta: still-in-use',
      'withheld deactivate segment/beta@staging: still-in-use',
    ]);
    expect(plan.withheld[1]?.because).toBe(
      'it holds keys that git did not put there; empty it on the service first',
    );
  });

  it('goes where its keys were never managed and there are none', () => {
    const external = aDesired({ segments: [desiredSegment('beta', { staging: undefined })] });
    const live = { segments: [liveSegment('beta', { staging: [] })] };

    expect(planLines(planWithout(external, live))).toEqual([
      'deactivate segment/beta@staging (prune)',
      'delete segment/beta (prune)',
    ]);
  });
});

describe('a removal is held back', () => {
  const before = aDesired({ segments: [beta], flags: [pay] });
  const live = { segments: [liveBeta], flags: [livePay] };
  const until = '2026-10-05T00:00:00.000Z';
  const closed = { why: 'frozen by "sale"', until, untilText: 'Mon 02:00' };
  const closedIn = (...names: string[]) => new Map(names.map((name) => [name, closed]));
  const because = 'frozen by "sale"; it goes at Mon 02:00';
  const frozen = { why: 'window-closed', because, until };
  const protectedRemovals = new Set(['flag/pay']);
  const ALL = ['flag/pay', 'segment/beta'].flatMap((id) => PLACES.map((place) => id + place));

  it.each<[string, Partial<PlanPolicy>, object, string[]?]>([
    ['prune is off', { prune: false, suspended: SUSPENDED_BY_CONFIG }, { why: 'prune-off' }],
    ['it is suspended', { suspended: SUSPENDED_BY_CONFIG }, { why: 'suspended' }],
    ['history has no proof', { provenRemovals: new Set() }, { why: 'no-witness' }],
    ['it was protected when it went', { protectedRemovals }, { why: 'protected' }, ALL.slice(0, 3)],
    [
      'a window is closed, in one environment and so for the whole',
      { closed: closedIn('staging') },
      frozen,
      ['flag/pay', 'flag/pay@staging', 'segment/beta', 'segment/beta@staging'],
    ],
  ])('where %s', (_, policy, held, ids = ALL) => {
    const plan = planWithout(before, live, { policy });
    const found = plan.withheld.filter(({ why }) => why !== 'still-in-use');

    expect(found.map(({ id }) => id)).toEqual(ids.toSorted());
    expect(found.map(({ why, because, until }) => ({ why, because, until }))).toEqual(
      ids.map(() => held),
    );
    expect(plan.changes.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual([]);
  });

  it('where the rest of it is still declared, and protected', () => {
    const left = desiredFlag('pay', { environments: { production: {} } });
    const desired = aDesired({ flags: [{ ...left, protect: true }] });
    const plan = planWithout(aDesired({ flags: [pay] }), { flags: [livePay] }, { desired });

    expect(planLines(plan)).toEqual(['withheld delete flag/pay@staging: protected']);
  });

  it.each([
    [null, 'the service cannot list the flags that may use it; delete it there by hand'],
    [undefined, undefined],
  ])('with what is to be done first while prune is off, of flags that are %s', (allFlags, told) => {
    const known = { ...anActual({ segments: [liveBeta] }), allFlags };
    const plan = planWithout(aDesired({ segments: [beta] }), known, { policy: { prune: false } });

    expect(plan.withheld.map(({ why, because }) => ({ why, because }))).toEqual(
      PLACES.map(() => ({ why: told ? 'still-in-use' : 'prune-off', because: told })),
    );
  });

  it('wholly while the key does not see an environment in which it may be', () => {
    const inStaging = desiredFlag('pay', { environments: { staging: {} } });
    const unseen = anEnvironment('production', { selected: false, unseen: true });
    const plan = planWithout(
      aDesired({ flags: [inStaging] }),
      { flags: [liveFlag('pay', { staging: {} })] },
      { policy: { environments: [anEnvironment('staging'), unseen] } },
    );

    expect(planLines(plan)).toEqual([
      'delete flag/pay@staging (prune)',
      'withheld delete flag/pay: still-in-use',
    ]);
    const because = 'the key does not see production, where it may be still';
    expect(plan.withheld).toMatchObject([{ because }]);
  });

  it('where nobody can tell which flags use the segment, though a flag would go', () => {
    const plan = planWithout(before, { ...anActual(live), allFlags: null });

    expect(planLines(plan)).toEqual([
      'delete flag/pay@staging (prune)',
      'delete flag/pay@production (prune)',
      'delete flag/pay (prune)',
      'withheld delete segment/beta: still-in-use',
      'withheld deactivate segment/beta@production: still-in-use',
      'withheld deactivate segment/beta@staging: still-in-use',
    ]);
    expect(plan.withheld[0]?.because).toBe(
      'the service cannot list the flags that may use it; delete it there by hand',
    );
  });
});

describe('a flag that left the specs, by its id and by how the service removes flags', () => {
  const before = aDesired({ flags: [desiredFlag('pay', { environments: { staging: {} } })] });
  const withId = (id: string): State =>
    new Map([...stateOf(before)].map(([key, entry]) => [key, { ...entry, id } as never]));
  const [name, live] = liveFlag('pay', { staging: {} });
  const { id: _, ...unseen } = live;
  const archives = { archives: true };
  const archived = { action: 'archive-flag', flag: 'pay' };
  const because = 'ours was deleted outside git, and another one of that name was made';
  const notOurs = ['flag/pay', 'flag/pay@staging'].map((id) => ({ id, why: 'not-ours', because }));
  const deleted = (extra: object = {}) => [
    { action: 'delete-definition', flag: 'pay', environment: 'staging' },
    { action: 'delete-flag', flag: 'pay', ...extra },
  ];

  it.each<[string, ActualFlag, Parameters<typeof planWithout>[2], object[], object[]?]>([
    ['is ours by its id', live, { state: withId('id-pay') }, deleted()],
    ['is another one by its id', live, { state: withId('id-then') }, [], notOurs],
    ['shows no id', unseen, { state: withId('id-then') }, deleted({ unseenId: 'id-then' })],
    ['is archived by one request', live, { policy: archives }, [archived]],
    [
      'is not archived where only its definitions were ours',
      live,
      { policy: archives, state: placesAlone(before) },
      deleted().slice(0, 1),
    ],
  ])('%s', (_, live, given, requests, held = []) => {
    const plan = planWithout(before, { flags: [[name, live]] }, given);

    expect(plan.steps.map(({ id, change, needs, ...request }) => request)).toEqual(requests);
    expect(plan.withheld.map(({ id, why, because }) => ({ id, why, because }))).toEqual(held);
  });

  it('is archived as a whole: its definitions wait for it, and every change says so', () => {
    const { changes } = planWithout(before, { flags: [[name, live]] }, { policy: archives });

    expect(
      changes.map(({ id, action, archive, dependsOn }) => [id, action, archive, dependsOn]),
    ).toEqual([
      ['flag/pay', 'delete', true, []],
      ['flag/pay@staging', 'delete', true, ['flag/pay']],
    ]);
  });
});

it('an activation that was only begun stays while it holds keys of others', () => {
  const state = segmentState('beta', { staging: { pending: 'create' } });
  const segments = [liveSegment('beta', { staging: ['theirs'] })];

  expect(planLines(planWithout(aDesired(), { segments }, { state }))).toEqual([
    'withheld deactivate segment/beta@staging: still-in-use',
  ]);
});

describe('a flag that is still in places that are not ours', () => {
  const live = [liveFlag('pay', { staging: {}, production: {} })];
  const inPlaces = (environments: Parameters<typeof desiredFlag>[1]) =>
    aDesired({ flags: [desiredFlag('pay', environments)] });
  const staging = inPlaces({ environments: { staging: {} } });
  const archives = { archives: true };

  it.each<[string, BoundDesired, Given, string[]]>([
    ['stays', inPlaces({}), {}, ['flag/pay: it is still in staging, production']],
    ['stays, and what is ours goes', staging, {}, ['flag/pay: it is still in production']],
    [
      'is not archived, nor what is ours',
      staging,
      { policy: archives },
      [
        'flag/pay: it is still in production',
        'flag/pay@staging: it is archived with flag/pay, which is withheld',
      ],
    ],
  ])('%s', (_, before, given, held) => {
    const { withheld } = planWithout(before, { flags: live }, given);

    expect(withheld.map(({ id, because }) => `${id}: ${because ?? ''}`)).toEqual(held);
  });
});

describe('a removal of what others use', () => {
  const segments = [liveSegment('beta', { staging: ['a'] })];
  const before = aDesired({ segments: [desiredSegment('beta', { staging: ['a'] })] });

  it('names who uses it, one or several', () => {
    const becauseWith = (...names: string[]) => {
      const flags = names.map((name) => liveFlag(name, { staging: inSegment('beta') }));
      return planWithout(before, { flags, segments }).withheld.map(({ because }) => because);
    };

    expect(becauseWith('one')).toEqual([
      'it is still in staging',
      'flag/one@staging still uses it',
    ]);
    expect(becauseWith('one', 'two')).toEqual([
      'it is still in staging',
      'flag/one@staging, flag/two@staging still use it',
    ]);
  });
});
