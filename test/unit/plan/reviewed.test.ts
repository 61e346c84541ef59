import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../../src/admin-api/wire.js';
import type { Definition } from '../../../src/model/flag/flag.js';
import { formOf, type DesiredRamp, type Ladder } from '../../../src/model/flag/ramp.js';
import type { Action, Change, FieldChange, KeyChange, Withheld } from '../../../src/model/plan.js';
import { onlyReviewed } from '../../../src/plan/plan.js';
import type { ObjectPlan } from '../../../src/plan/planned-change.js';
import { shownFields, shownIn, type ReviewedPlan } from '../../../src/plan/reviewed.js';
import { aDesired, desiredFlag, onShare } from '../../support/builders.js';
import { aChange, aField, keyChange } from '../../support/plan-builder.js';

const ID = 'flag/pay@production';

function drafted(paths: readonly string[]): ObjectPlan {
  const fields = paths.map((path) => ({
    path,
    reason: 'commit' as const,
    after: true,
  }));
  const place = { flag: 'pay', environment: 'production' };
  const operations = paths.map((path) => ({ op: 'replace' as const, path, value: true }));
  const expected = {} as WireDefinition;
  return {
    id: ID,
    withheld: [],
    change: {
      change: {
        id: ID,
        ref: { kind: 'flag', name: 'pay', environment: 'production' },
        action: 'update',
        reason: 'commit',
        location: null,
        fields,
      },
      requests: [{ action: 'patch-definition', ...place, operations, expected }],
      after: ['flag/pay'],
      uses: [],
    },
  };
}

describe('a run that is held to a reviewed plan', () => {
  const other = { id: 'flag/other', why: 'protected' } as Withheld;
  const change = { ...drafted(['/rules']), withheld: [other] };
  const held = { ...change.change?.change, dependsOn: [], why: 'not-reviewed' };
  const whole = [change];
  const none = [{ id: ID, withheld: [other, held] }];
  const OTHERS = new Set(['flag/other@production']);

  it.each<[string, Parameters<typeof onlyReviewed>[1], readonly unknown[]]>([
    ['the change of a reviewed object goes', { reviewed: new Set([ID]) }, whole],
    ['the change of another object is held back', { reviewed: OTHERS }, none],
    ['all go where nothing was reviewed', { reviewed: null }, whole],
    ['a change that no reviewed plan shows is held back', { shows: () => false }, none],
    ['an older HEAD covers the reviewed objects', { reviewed: new Set([ID]), behind: true }, whole],
    ['an older HEAD does not cover the others', { reviewed: OTHERS, behind: true }, []],
  ])('%s', (_, policy, planned) => {
    expect(onlyReviewed([change], policy)).toStrictEqual(planned);
  });
});

describe('what reviewed plans show together', () => {
  const SEGMENT = 'segment/beta@production';
  const PLACE = { origin: 'https://admin.example.com', workspaceId: 'ws-1' };
  const ramp: DesiredRamp = {
    ...{ key: 'default', rule: null, matchers: [], nth: 0, treatment: 'on', order: ['on', 'off'] },
    written: onShare(10).defaultRule,
    steps: [20, 50].map((percent) => ({ percent, afterMs: 60_000 })),
    hold: false,
  };
  const begun = { since: '', commit: null, from: 10, reached: 10, ladder: formOf(ramp) };
  const ladder = (members: Partial<Ladder> = {}): readonly Ladder[] => [
    {
      id: '',
      ramp,
      dueMs: [],
      step: 0,
      held: null,
      anchors: null,
      isKilled: false,
      zone: 'UTC',
      ...members,
    },
  ];
  type Now = Omit<Parameters<ReturnType<typeof shownIn>['shows']>[1], 'place' | 'ladders'> & {
    readonly place?: typeof PLACE;
    readonly ladders?: readonly Ladder[];
  };

  function factsOf({ start, ladders = [], place = PLACE }: Now) {
    return { place, ...(start && { start }), ladders: new Map([[ID, ladders]]) };
  }

  function reviewed(change: Change, now: Now = {}): ReviewedPlan {
    const counts = ({ added, removed, changed, sha256 }: KeyChange) => {
      const [more, fewer, other] = [added.length, removed.length, changed?.length];
      return { added: more, removed: fewer, changed: other, sha256 };
    };
    const { id, action, archive, keys } = change;
    const fields = change.fields.map((field) => {
      return { path: field.path, keys: field.keys && counts(field.keys) };
    });
    return {
      ...{ origin: PLACE.origin, workspace: { id: PLACE.workspaceId } },
      changes: [{ id, action, archive, keys: keys && counts(keys), fields }],
      shown: shownFields({ changes: [change] }, factsOf(now)),
    };
  }

  const field = (
    base: unknown,
    after: unknown,
    members: Partial<FieldChange> = {},
  ): FieldChange => {
    return { ...aField('/trafficAllocation', base, after), base, ...members };
  };
  const written = (...fields: FieldChange[]): Change => aChange(ID, 'update', { fields });
  const adoption = (live: number): Change =>
    written({ ...aField('/trafficAllocation', live, 20), reason: 'adopt' });
  const as = (action: Action, ...fields: FieldChange[]): Change => aChange(ID, action, { fields });
  const shares = (from: number, to: number, reason: FieldChange['reason'] = 'commit'): Change => {
    const [before, after] = [from, to].map((share) => onShare(share).defaultRule);
    return written({ path: '/defaultRule', reason, base: before, before, after });
  };
  const [moved] = shares(20, 70).fields as [FieldChange];
  const keyed = (action: Action, keys: KeyChange): Change => aChange(SEGMENT, action, { keys });
  const targets = (keys: KeyChange): Change =>
    written({ path: '/targets/on', reason: 'commit', keys });
  const [one, two] = [keyChange(['a', 'b'], ['c']), keyChange(['a', 'b', 'd'], ['c'])];
  const [to20, to30] = [written(field(10, 20)), written(field(20, 30))];
  const kill: FieldChange = { path: '/killed', reason: 'kill', before: false, after: true };
  const restore: FieldChange = { path: '/killed', reason: 'restore', before: true, after: false };
  const startWith = (production: Definition) =>
    aDesired({ flags: [desiredFlag('pay', { environments: { production } })] });
  const start = startWith({ trafficAllocation: 10 });

  function withFields(fields: Definition, ...ramps: readonly DesiredRamp[]) {
    const [pay] = start.flags.values();
    const places = [...(pay?.environments ?? [])].map(([place, each]) => {
      return [place, { ...each, fields, ramps }] as const;
    });
    return {
      ...start,
      flags: new Map(pay && [['pay', { ...pay, environments: new Map(places) }]]),
    };
  }
  const ramped = withFields(onShare(10), ramp);

  /** A definition of two rules, the first of which has a ramp. */
  const ruleRamp: DesiredRamp = { ...ramp, key: 'rule', rule: 0 };
  const rules = (...percents: number[]) =>
    percents.map((percent) => ({ matchers: [], buckets: onShare(percent).defaultRule }));
  const ruled = (second: number) => withFields({ rules: rules(10, second) }, ruleRamp);
  const ruleChange = (from: number, to: number): Change =>
    written({ path: '/rules', reason: 'commit', before: rules(10, from), after: rules(10, to) });
  const targeting = (key: string) => startWith({ targets: { on: [key] } });
  const [target] = targets(one).fields as [FieldChange];
  const buckets = { path: '/defaultRule', reason: 'commit', before: moved.before } as const;
  const gone = as('delete', { ...buckets, base: buckets.before });
  const pruned = (live: number): Change =>
    as('delete', { ...field(10, undefined, { reason: 'prune' }), before: live });

  it.each<[string, readonly ReviewedPlan[], Change, boolean, Now?]>([
    ['a change that one of them showed', [reviewed(to20)], to20, true],
    ['no change of another object', [reviewed(aChange('flag/cart', 'delete'))], to20, false],
    ['no other action', [reviewed(to20)], as('delete', field(10, 20)), false],
    [
      'an update by what made the object',
      [reviewed(as('create', field(undefined, 20)))],
      written(field(undefined, 20)),
      true,
    ],
    [
      'an update by what activated the object',
      [reviewed(keyed('activate', one))],
      keyed('update', one),
      true,
    ],
    ['no creation by an update', [reviewed(to20)], as('create', field(10, 20)), false],
    [
      'no deletion by an archiving',
      [reviewed({ ...as('delete'), archive: true })],
      as('delete'),
      false,
    ],
    ['no other value', [reviewed(to20)], written(field(10, 25)), false],
    ['no other field', [reviewed(to20)], written(field(10, 20), aField('/rules', 1, 2)), false],
    ['no value from another start', [reviewed(to20)], written(field(15, 20)), false],
    ['a way of several plans', [reviewed(to20), reviewed(to30)], written(field(10, 30)), true],
    [
      'no way with a gap',
      [reviewed(to20), reviewed(written(field(25, 30)))],
      written(field(10, 30)),
      false,
    ],
    ...(['drift', 'conflict', 'adopt', 'unknown'] as const).map(
      (reason): [string, readonly ReviewedPlan[], Change, boolean] => [
        `no ${reason} that the plan did not see`,
        [reviewed(to20)],
        written(field(10, 20, { reason })),
        false,
      ],
    ),
    [
      'no way over plans that took the field away and made it again',
      [reviewed(written(field(10, undefined))), reviewed(written(field(undefined, 20)))],
      written(field(10, 20)),
      false,
    ],
    [
      'drift that the plan saw',
      [reviewed(written(field(10, 20, { reason: 'conflict' })))],
      to20,
      true,
    ],
    [
      'nothing of a plan that says no fields',
      [{ ...reviewed(to20), shown: undefined }],
      to20,
      false,
    ],
    [
      'nothing in another place',
      [reviewed(to20)],
      to20,
      false,
      { place: { ...PLACE, workspaceId: 'ws-2' } },
    ],
    ['a kill, which needs no plan', [], written(kill), true],
    ['no restore without one', [], written(restore), false],
    ['a restore', [reviewed(written(restore))], written(restore), true],
    [
      'a restore, whatever the earlier specs said',
      [reviewed(written(restore))],
      written(restore),
      true,
      { start: startWith({ killed: true }) },
    ],
    ['an adoption', [reviewed(adoption(24))], adoption(24), true],
    ['no adoption of another live value', [reviewed(adoption(24))], adoption(30), false],
    ['nothing beside a kill without one', [], written(kill, field(10, 20)), false],
    ['the same keys', [reviewed(keyed('update', one))], keyed('update', one), true],
    [
      'fewer keys of the same list',
      [reviewed(keyed('update', { ...two, sha256: one.sha256 }))],
      keyed('update', one),
      true,
    ],
    [
      'no more keys',
      [reviewed(keyed('update', one))],
      keyed('update', { ...two, sha256: one.sha256 }),
      false,
    ],
    [
      'no more removed keys',
      [reviewed(keyed('update', one))],
      keyed('update', { ...one, removed: ['c', 'd'] }),
      false,
    ],
    [
      'no more changed keys',
      [reviewed(keyed('update', one))],
      keyed('update', { ...one, changed: ['a'] }),
      false,
    ],
    ['no other list of keys', [reviewed(keyed('update', two))], keyed('update', one), false],
    ['targets by their keys', [reviewed(targets(one))], targets(one), true],
    ['no more targets', [reviewed(targets(one))], targets({ ...two, sha256: one.sha256 }), false],
    [
      'a value that starts at the earlier specs',
      [reviewed(to20, { start })],
      written(field(10, 20)),
      true,
      { start },
    ],
    [
      'no live value but that of the earlier specs',
      [reviewed(to20, { start })],
      written({ ...field(10, 20), before: 15 }),
      false,
      { start },
    ],
    [
      'a field that the earlier specs do not have',
      [reviewed(written(field(undefined, 20)))],
      written(field(undefined, 20)),
      true,
      { start: withFields({}) },
    ],
    [
      'targets, whatever the earlier specs said',
      [reviewed(targets(one), { start: targeting('a') })],
      targets(one),
      true,
      { start: targeting('b') },
    ],
    [
      'no drift of targets that the plan did not see',
      [reviewed(targets(one), { start })],
      written({ ...target, reason: 'conflict' }),
      false,
      { start },
    ],
    [
      'no drift of an object that the earlier specs do not have',
      [reviewed(to20, { start: aDesired() })],
      written(field(10, 20, { reason: 'conflict' })),
      false,
      { start: aDesired() },
    ],
    [
      'no adoption by a plan that did not know the earlier specs',
      [reviewed(adoption(24))],
      adoption(24),
      false,
      { start: aDesired() },
    ],
    ['the removal of what is as its base', [reviewed(pruned(10))], pruned(10), true],
    ['no removal of what was changed since', [reviewed(pruned(10))], pruned(15), false],
    [
      'a deletion, whatever ramps the specs have',
      [reviewed(gone)],
      gone,
      true,
      { ladders: ladder() },
    ],
    [
      'a ramp at a later step',
      [reviewed(shares(5, 10), { ladders: ladder() })],
      shares(5, 50),
      true,
      { ladders: ladder({ step: 1 }) },
    ],
    [
      'no ramp with other steps',
      [reviewed(shares(5, 10), { ladders: ladder() })],
      shares(5, 10),
      false,
      { ladders: ladder({ ramp: { ...ramp, steps: [] } }) },
    ],
    [
      'a step of a ramp that began, which needs no plan',
      [],
      shares(10, 20, 'ramp'),
      true,
      { ladders: ladder({ record: begun }) },
    ],
    [
      'no step of a ramp with other steps than it began with',
      [],
      shares(10, 20, 'ramp'),
      false,
      { ladders: ladder({ record: { ...begun, ladder: 'other' } }) },
    ],
    ['no step of a ramp that begins now', [], shares(10, 20, 'ramp'), false, { ladders: ladder() }],
    [
      'what comes after the ramp of another plan',
      [reviewed(shares(5, 10), { ladders: ladder() }), reviewed(shares(10, 70))],
      shares(5, 70),
      false,
    ],
    [
      'what comes after a ramp, from any step of it',
      [reviewed(shares(5, 10), { ladders: ladder() }), reviewed(shares(20, 70), { start: ramped })],
      shares(5, 70),
      true,
    ],
    [
      'a change from a step of a ramp of the earlier specs',
      [reviewed(shares(10, 70), { start: ramped })],
      shares(20, 70),
      true,
      { start: ramped },
    ],
    [
      'no change from buckets that no step of it gives',
      [reviewed(shares(10, 70), { start: ramped })],
      written({ ...moved, before: onShare(20).defaultRule.toReversed() }),
      false,
      { start: ramped },
    ],
    [
      'no other start of a rule beside one with a ramp',
      [reviewed(ruleChange(10, 70), { start: ruled(10) })],
      ruleChange(30, 70),
      false,
      { start: ruled(30) },
    ],
    [
      'no other start of the default rule beside a rule with a ramp',
      [
        reviewed(shares(10, 70), {
          start: withFields({ ...onShare(10), rules: rules(10) }, ruleRamp),
        }),
      ],
      shares(30, 70),
      false,
      { start: startWith(onShare(30)) },
    ],
    [
      'no other value of a rule beside one with a ramp',
      [reviewed(ruleChange(10, 20), { ladders: ladder({ ramp: ruleRamp }) })],
      ruleChange(10, 50),
      false,
      { ladders: ladder({ ramp: ruleRamp }) },
    ],
    [
      'rules with a ramp that the service does not have',
      [
        reviewed(written({ path: '/rules', reason: 'commit', after: rules(10, 20) }), {
          start: ruled(10),
        }),
      ],
      written({ path: '/rules', reason: 'commit', after: rules(10, 20) }),
      true,
      { start: ruled(10) },
    ],
  ])('is %s', (_, plans, change, expected, now = {}) => {
    expect(shownIn(plans).shows(change, factsOf(now))).toBe(expected);
  });

  it('is of the objects that one of them changes', () => {
    expect(shownIn([reviewed(to20), reviewed(keyed('update', one))]).ids).toEqual(
      new Set([ID, SEGMENT]),
    );
  });
});
