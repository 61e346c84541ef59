import { present } from '../../../src/model/collections.js';
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/model/flag/flag.js';
import { formOf, type DesiredRamp, type Ladder } from '../../../src/model/flag/ramp.js';
import { canonicalJson, sha256, type Json } from '../../../src/model/json.js';
import type {
  Action,
  Change,
  FieldChange,
  KeyChange,
  ReviewedPlan,
  Withheld,
} from '../../../src/model/plan.js';
import { onlyReviewed } from '../../../src/plan/plan.js';
import { shownFields, shownIn } from '../../../src/plan/reviewed.js';
import { aDesired, desiredFlag, onShare } from '../../support/builders.js';
import { aChange, aField, keyChange } from '../../support/plan-builder.js';

const ID = 'flag/pay@production';

describe('a run that is held to a reviewed plan', () => {
  const other = { id: 'flag/other', why: 'protected' } as Withheld;
  const { dependsOn, ...pay } = aChange(ID, 'update');
  const drafted = { change: pay, requests: [], after: [], uses: [] };
  const change = { id: ID, withheld: [other], change: drafted };
  const held = { ...pay, dependsOn, why: 'not-reviewed' };
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

  function by(change: Change, now: Now = {}): ReviewedPlan {
    const counts = ({ added, removed, changed, sha256 }: KeyChange) => {
      const [more, fewer, other] = [added.length, removed.length, changed?.length];
      return { added: more, removed: fewer, ...present({ changed: other }), sha256 };
    };
    const { id, action, archive, keys } = change;
    const fields = change.fields.map((field) => {
      return { path: field.path, ...present({ keys: field.keys && counts(field.keys) }) };
    });
    return {
      ...{ origin: PLACE.origin, workspace: { id: PLACE.workspaceId } },
      changes: [{ id, action, ...present({ archive, keys: keys && counts(keys) }), fields }],
      shown: shownFields({ changes: [change] }, factsOf(now)),
    };
  }

  /** As versions of before wrote it. */
  const withoutFields = ({ shown: _, ...plan }: ReviewedPlan): ReviewedPlan => plan;

  const field = (base: unknown, after: unknown, members: Partial<FieldChange> = {}) => {
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
  const keyed = (keys: KeyChange, action: Action = 'update'): Change =>
    aChange(SEGMENT, action, { keys });
  const targets = (keys: KeyChange): Change =>
    written({ path: '/targets/on', reason: 'commit', keys });
  const [one, two] = [keyChange(['a', 'b'], ['c']), keyChange(['a', 'b', 'd'], ['c'])];
  const to20 = written(field(10, 20));
  const [onward, whole] = [written(field(20, 30)), written(field(10, 30))];
  const more = { ...two, sha256: one.sha256 };
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
  const unlisted = aField('/targets/on', 1, 2);
  const wasRamped = { start: ramped };
  const ofRamp = { start: withFields({ ...onShare(10), trafficAllocation: 10 }, ramp) };
  const wasKilled = { start: startWith({ killed: true }) };
  const begins = shares(5, 10);

  /** A definition of two rules, the first of which has a ramp. */
  const ruleRamp: DesiredRamp = { ...ramp, key: 'rule', rule: 0 };
  const rules = (...percents: number[]) =>
    percents.map((percent) => ({ matchers: [], buckets: onShare(percent).defaultRule }));
  const ruled = (second: number) => withFields({ rules: rules(10, second) }, ruleRamp);
  const ruleChange = (from: number, to: number): Change =>
    written({ path: '/rules', reason: 'commit', before: rules(10, from), after: rules(10, to) });
  const targeting = (key: string) => startWith({ targets: { on: [key] } });
  const gone = as('delete', { ...moved, after: undefined });
  const ofFlag = aChange('flag/pay', 'update', { fields: [aField('/description', 'a', 'b')] });
  const pruned = (live: number): Change =>
    as('delete', { ...field(10, undefined, { reason: 'prune' }), before: live });

  /** Made in the test itself, so that what fails there fails one row. */
  type Reviews = () => readonly ReviewedPlan[];

  const made = { path: '/rules', reason: 'commit', after: rules(10, 20) } as const;
  const unmanaged = written(field(undefined, 20));
  const conflict = written(field(10, 20, { reason: 'conflict' }));
  const onLadder = { ladders: ladder() };
  const otherSteps = { ladders: ladder({ ramp: { ...ramp, steps: [] } }) };
  const ruledBefore = { start: ruled(10) };
  const unsaidBefore = { start: withFields({}) };
  const undeclared = { start: aDesired() };
  const by15 = written({ ...field(10, 20), before: 15 });
  const begunOtherwise = { ladders: ladder({ record: { ...begun, ladder: 'other' } }) };
  const itself = (change: Change, now: Now = {}): [Reviews, Change, Now] => [
    () => [by(change, now)],
    change,
    now,
  ];
  const firstStep: Reviews = () => [by(begins, onLadder)];
  const step = shares(10, 20, 'ramp');

  it.each<[string, Reviews, Change, Now?]>([
    ['a change that one of them showed', () => [by(to20)], to20],
    ['an update by what made the object', () => [by(as('create', ...unmanaged.fields))], unmanaged],
    ['an update by what activated it', () => [by(keyed(one, 'activate'))], keyed(one)],
    ['a way of several plans', () => [by(to20), by(onward)], whole],
    ['drift that the plan saw', () => [by(conflict)], to20],
    ['a kill, which needs no plan', () => [], written(kill)],
    ['a restore', () => [by(written(restore))], written(restore), wasKilled],
    ['an adoption', ...itself(adoption(24))],
    ['fewer keys of the same list', () => [by(keyed(more))], keyed(one)],
    ['targets by their keys', ...itself(targets(one))],
    ['a value that starts at the earlier specs', ...itself(to20, { start })],
    ['a field with no earlier value', () => [by(unmanaged)], unmanaged, unsaidBefore],
    [
      'targets, whatever the earlier specs said',
      () => [by(targets(one), { start: targeting('a') })],
      targets(one),
      { start: targeting('b') },
    ],
    ['the removal of what is as its base', ...itself(pruned(10))],
    ['a deletion, whatever ramps the specs have', () => [by(gone)], gone, onLadder],
    ['a ramp at a later step', firstStep, shares(5, 50), { ladders: ladder({ step: 1 }) }],
    ['a step of a ramp that began', () => [], step, { ladders: ladder({ record: begun }) }],
    [
      'a step of a ramp that began, beside one that begins',
      () => [],
      step,
      { ladders: [...ladder({ record: begun }), ...ladder({ ramp: ruleRamp })] },
    ],
    ['keys that one of them showed', () => [by(keyed(two)), by(keyed(one))], keyed(one)],
    ['a change beside a ramp', ...itself(to20, onLadder)],
    ['a change beside a ramp of the earlier specs', () => [by(to20, ofRamp)], to20, ofRamp],
    ['a change of a flag not known before', ...itself(ofFlag, undeclared)],
    [
      'what follows any step of a ramp',
      () => [...firstStep(), by(shares(20, 70), wasRamped)],
      shares(5, 70),
    ],
    [
      'a change from an earlier ramp',
      () => [by(shares(10, 70), wasRamped)],
      shares(20, 70),
      wasRamped,
    ],
    ['rules with a ramp that are not live', ...itself(written(made), ruledBefore)],
  ])('is %s', (_, plans, change, now = {}) => {
    expect(shownIn(plans()).shows(change, factsOf(now))).toBe(true);
  });

  it.each<[string, Reviews, Change, Now?]>([
    ['a change of another object', () => [by(aChange('flag/cart', 'delete'))], to20],
    ['another action', () => [by(to20)], as('delete', field(10, 20))],
    ['a creation by an update', () => [by(to20)], as('create', field(10, 20))],
    ['a deletion by an archiving', () => [by({ ...as('delete'), archive: true })], as('delete')],
    ['another value', () => [by(to20)], written(field(10, 25))],
    ['another field', () => [by(to20)], written(field(10, 20), aField('/rules', 1, 2))],
    ['a value from another start', () => [by(to20)], written(field(15, 20))],
    ['a way with a gap', () => [by(to20), by(written(field(25, 30)))], whole],
    ...(['drift', 'conflict', 'adopt', 'unknown'] as const).map(
      (reason): [string, Reviews, Change] => [
        `${reason} that the plan did not see`,
        () => [by(to20)],
        written(field(10, 20, { reason })),
      ],
    ),
    ['a field that went and came', () => [by(written(field(10, undefined))), by(unmanaged)], to20],
    ['a change by a plan that says no fields', () => [withoutFields(by(to20))], to20],
    ['a change elsewhere', () => [by(to20)], to20, { place: { ...PLACE, workspaceId: 'ws-2' } }],
    ['a restore without a plan', () => [], written(restore)],
    ['an adoption of another live value', () => [by(adoption(24))], adoption(30)],
    ['what is beside a kill, without a plan', () => [], written(kill, field(10, 20))],
    ['keys by a plan that shows none', () => [by(aChange(SEGMENT, 'update'))], keyed(one)],
    ['targets by a plan with no keys', () => [by(written(unlisted))], targets(one)],
    ['more keys', () => [by(keyed(one))], keyed(more)],
    ['more removed keys', () => [by(keyed(one))], keyed({ ...one, removed: ['c', 'd'] })],
    ['more changed keys', () => [by(keyed(one))], keyed({ ...one, changed: ['a'] })],
    ['another list of keys', () => [by(keyed(two))], keyed(one)],
    ['more targets', () => [by(targets(one))], targets(more)],
    ['a live value that was in no specs', () => [by(to20, { start })], by15, { start }],
    [
      'drift of targets that the plan did not see',
      () => [by(targets(one), { start })],
      written({ path: '/targets/on', reason: 'conflict', keys: one }),
      { start },
    ],
    ['the removal of what was changed since', () => [by(pruned(10))], pruned(15)],
    ['a ramp with other steps', firstStep, shares(5, 10), otherSteps],
    ['a step of a ramp that began with others', () => [], step, begunOtherwise],
    [
      'steps of two ramps, one of which begins now',
      () => [],
      written({ path: '/rules', reason: 'ramp', before: rules(10, 10), after: rules(20, 20) }),
      {
        ladders: [
          ...ladder({ ramp: ruleRamp, record: begun }),
          ...ladder({ ramp: { ...ruleRamp, rule: 1 } }),
        ],
      },
    ],
    ['a step of a ramp that begins now', () => [], step, onLadder],
    ['what follows another plan’s ramp', () => [...firstStep(), by(shares(10, 70))], shares(5, 70)],
    [
      'a change from buckets that no step of a ramp gives',
      () => [by(shares(10, 70), wasRamped)],
      written({ ...moved, before: onShare(20).defaultRule.toReversed() }),
      wasRamped,
    ],
    [
      'another start beside a rule with a ramp',
      () => [by(ruleChange(10, 70), ruledBefore)],
      ruleChange(30, 70),
      { start: ruled(30) },
    ],
    [
      'another start of the default rule beside a rule with a ramp',
      () => [
        by(shares(10, 70), { start: withFields({ ...onShare(10), rules: rules(10) }, ruleRamp) }),
      ],
      shares(30, 70),
      { start: startWith(onShare(30)) },
    ],
    [
      'another value of a rule beside one with a ramp',
      () => [by(ruleChange(10, 20), { ladders: ladder({ ramp: ruleRamp }) })],
      ruleChange(10, 50),
      { ladders: ladder({ ramp: ruleRamp }) },
    ],
  ])('is not %s', (_, plans, change, now = {}) => {
    expect(shownIn(plans()).shows(change, factsOf(now))).toBe(false);
  });

  it('is digests of the start and of the new value of each field', () => {
    const digest = (value: Json) => `sha256:${sha256(canonicalJson(value))}`;
    const facts = factsOf({ start: withFields({ trafficAllocation: 10 }) });

    expect(shownFields({ changes: [written(restore, field(10, 20))] }, facts)).toStrictEqual([
      { id: ID, path: '/killed', from: digest(true), to: digest(false) },
      { id: ID, path: '/trafficAllocation', from: digest(10), to: digest(20) },
    ]);
  });

  it('is the way from the base as well, while the service still has the base of a field that the specs moved on', () => {
    const digest = (value: Json) => `sha256:${sha256(canonicalJson(value))}`;
    const facts = factsOf({ start: withFields({ trafficAllocation: 15 }) });
    const fromSpecs = { id: ID, path: '/trafficAllocation', from: digest(15), to: digest(20) };
    const movedSince = { ...fromSpecs, moved: true };
    const shown = (change: FieldChange) => shownFields({ changes: [written(change)] }, facts);

    expect(shown(field(10, 20))).toStrictEqual([movedSince, { ...fromSpecs, from: digest(10) }]);
    expect(shown(field(10, 20, { before: 12, reason: 'conflict' }))).toStrictEqual([movedSince]);
    expect(shown(aField('/trafficAllocation', 10, 20))).toStrictEqual([movedSince]);
  });

  it('is of the objects that one of them changes', () => {
    expect(shownIn([by(to20), by(keyed(one))]).ids).toEqual(new Set([ID, SEGMENT]));
  });
});
