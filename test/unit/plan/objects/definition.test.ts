import { describe, expect, it } from 'vitest';
import type { Definition, Matcher } from '../../../../src/model/flag/flag.js';
import { NO_KEYS } from '../../../../src/model/segment-keys.js';
import type { Actual, ActualFlag } from '../../../../src/model/actual.js';
import type { ChangeRequest } from '../../../../src/model/change-request.js';
import type { Desired, TimedField } from '../../../../src/model/desired.js';
import type { FieldChange, Plan } from '../../../../src/model/plan.js';
import type { Base, State } from '../../../../src/model/state.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlannedEnvironment, PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  DEFINITION,
  desiredFlag,
  liveFlag,
  NO_STATE,
  onShare,
  planLines,
} from '../../../support/builders.js';

const ID = 'flag/pay@staging';

type Said = Definition & { unsaid?: readonly (keyof Definition)[] };

interface Given {
  readonly desired: Said;
  readonly live: Definition;
  readonly base?: Partial<Base<Definition>>;
  readonly environment?: Partial<PlannedEnvironment>;
  readonly rest?: Partial<Desired>;
  readonly policy?: Partial<PlanPolicy>;
  readonly timed?: Record<string, TimedField>;
  /** The change request that is open on the service. */
  readonly open?: string | null;
  readonly requests?: Actual['requests'];
  readonly unread?: true;
}

function planOf({ desired, live, base, environment, rest, ...given }: Given): Plan {
  const { policy, timed, open, requests, unread } = given;
  const said = desiredFlag('pay', { environments: { staging: desired } });
  const [name, found] = liveFlag('pay', { staging: live });
  const flag = {
    ...said,
    environments: new Map(
      [...said.environments].map(([place, each]) => [
        place,
        { ...each, ...(timed && { timed: new Map(Object.entries(timed)) }) },
      ]),
    ),
  };
  const definitions = new Map(
    [...found.definitions].map(([place, each]) => [
      place,
      each && { ...each, ...(open !== undefined && { openChangeRequestId: open }) },
    ]),
  );
  const actual: ActualFlag = {
    ...found,
    definitions,
    ...(unread && { unread: new Set(['staging']) }),
  };
  const state: State = base
    ? new Map([
        [
          'flag/pay',
          { kind: 'flag', name: 'pay', environments: { 'env-staging': { commit: null, ...base } } },
        ],
      ])
    : NO_STATE;
  return planChanges({
    desired: { ...aDesired({ flags: [flag] }), ...rest },
    actual: { ...anActual({ flags: [[name, actual]] }), ...(requests && { requests }) },
    state,
    policy: aPolicy({ environments: [anEnvironment('staging', environment)], ...policy }),
  });
}

function written(plan: Plan): unknown {
  const [step, second] = plan.steps;
  if (second) throw new Error('more than one step');
  return step && 'operations' in step
    ? step.operations.map(({ path, value }) => [path, value])
    : step;
}

const spec = (said: Definition): Partial<Base<Definition>> => ({
  spec: { ...DEFINITION, ...said },
});
const serving = (...names: string[]): Definition => ({
  treatments: names.map((name) => ({ name, description: '' })),
});
const REPORTING = { onDrift: 'report' } as const;

describe('members that other tools write for nothing', () => {
  const rule = { type: 'IN_LIST_STRING', strings: ['u-1'] };
  const servedOn = (matcher: Matcher) => ({
    ...DEFINITION,
    rules: [{ matchers: [matcher], buckets: [{ treatment: 'on', size: 100 }] }],
  });
  const [desired, wordy] = [
    servedOn(rule),
    servedOn({ ...rule, attribute: '', string: '', negate: false }),
  ];
  const [on, ...others] = DEFINITION.treatments;
  const configured = (configuration: string | null) => ({
    ...DEFINITION,
    treatments: [{ name: on?.name ?? '', configuration }, ...others],
  });

  it.each<[string, Given, string[]]>([
    ['in a spec', { desired: wordy, live: desired }, []],
    ['in a base, beside a drift', { desired, live: DEFINITION, base: { spec: wordy } }, ['drift']],
    ['as no configuration', { desired: configured(null), live: DEFINITION }, []],
    ['as an empty configuration', { desired: configured(''), live: DEFINITION }, []],
  ])('are no difference %s', (_, given, reasons) => {
    expect(planOf(given).changes.map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe('a definition of which a part is held back', () => {
  it('is written in the fields that are not, and the others stay as they are live', () => {
    const plan = planOf({
      desired: onShare(20),
      live: { trafficAllocation: 50, ...onShare(10) },
      base: spec(onShare(10)),
      environment: REPORTING,
    });

    expect(planLines(plan)).toEqual([`update ${ID}`, `withheld update ${ID}: drift-reported`]);
    expect(written(plan)).toEqual([['/defaultRule', onShare(20).defaultRule]]);
  });

  it('keeps the targets of a treatment of which somebody else changed them', () => {
    const plan = planOf({
      desired: { targets: { off: ['ours'] } },
      live: { targets: { on: ['theirs'] } },
      base: spec({ targets: {} }),
      environment: REPORTING,
    });

    expect(plan.withheld[0]?.fields).toEqual([
      {
        path: '/targets/on',
        reason: 'drift',
        keys: { added: [], removed: ['theirs'], sha256: NO_KEYS.digest.sha256 },
      },
    ]);
    expect(written(plan)).toEqual([['/treatments/1/keys', ['ours']]]);
  });

  it('loses the targets that git takes away, and keeps those that are held back', () => {
    const plan = planOf({
      desired: { targets: { on: ['a'] } },
      live: { targets: { on: ['a', 'theirs'], off: ['b'] } },
      base: spec({ targets: { on: ['a'], off: ['b'] } }),
      environment: REPORTING,
    });

    expect(written(plan)).toEqual([
      [
        '/treatments',
        [
          { name: 'on', description: '', keys: ['a', 'theirs'] },
          { name: 'off', description: '' },
        ],
      ],
    ]);
  });
});

describe('a treatment that goes', () => {
  const v2 = [{ treatment: 'v2', size: 100 }];
  const rules = [{ matchers: [{ type: 'BOOLEAN', attribute: 'a', bool: true }], buckets: v2 }];
  const unsaid = ['rules', 'killed', 'baselineTreatment'] as const;

  it('holds back all that is to be written, while what is not ours still names it', () => {
    const plan = planOf({
      desired: { ...serving('on', 'off'), ...onShare(5), unsaid },
      live: { ...serving('on', 'off', 'v2'), rules },
      base: spec(serving('on', 'off', 'v2')),
    });

    expect(plan.steps).toEqual([]);
    expect(plan.withheld).toMatchObject([
      {
        action: 'update',
        why: 'still-in-use',
        because:
          'what stays of the live definition names "v2", which would be no treatment any more',
        fields: [{ path: '/treatments' }, { path: '/defaultRule' }],
      },
    ]);
  });

  it('goes although buckets of size 0 name it, which are no difference', () => {
    const nothing = { treatment: 'v2', size: 0 };
    const live = { ...onShare(5), defaultRule: [...onShare(5).defaultRule, nothing] };
    const on = [{ treatment: 'on', size: 100 }];
    const [rule] = rules.map((each) => ({ ...each, buckets: on }));
    const plan = planOf({
      desired: { ...serving('on', 'off'), ...onShare(5), rules: rule ? [rule] : [] },
      live: {
        ...serving('on', 'off', 'v2'),
        ...live,
        rules: rule ? [{ ...rule, buckets: [nothing, ...on] }] : [],
      },
      base: spec({ ...serving('on', 'off', 'v2'), ...onShare(5), rules: rule ? [rule] : [] }),
    });

    expect(plan.withheld).toEqual([]);
    expect(plan.changes).toMatchObject([{ fields: [{ path: '/treatments' }] }]);
    expect(written(plan)).toMatchObject([
      ['/defaultRule', onShare(5).defaultRule],
      ['/rules', [{ buckets: on }]],
      ['/treatments', [{ name: 'on' }, { name: 'off' }]],
    ]);
  });

  it('does not hold back a restore', () => {
    const plan = planOf({
      desired: { ...serving('on', 'off'), killed: false, unsaid },
      live: { ...serving('on', 'off', 'v2'), rules, killed: true },
      base: spec({ ...serving('on', 'off', 'v2'), killed: true }),
    });

    expect(planLines(plan)).toEqual([
      `update ${ID} (restore)`,
      `withheld update ${ID}: still-in-use`,
    ]);
    expect(plan.withheld[0]?.fields.map(({ path }) => path)).toEqual(['/treatments']);
    expect(written(plan)).toEqual([['/killed', false]]);
  });

  const nothing = [...onShare(5).defaultRule, { treatment: 'v2', size: 0 }];

  it.each<[string, keyof Definition, Definition]>([
    ['the default rule', 'defaultRule', { defaultRule: v2 }],
    ['the default treatment', 'defaultTreatment', { defaultTreatment: 'v2' }],
    [
      'a bucket of size 0',
      'rules',
      { rules: rules.map((each) => ({ ...each, buckets: nothing })) },
    ],
  ])('holds back the change while %s, which is not managed, names it', (_, field, said) => {
    const plan = planOf({
      desired: { ...serving('on', 'off'), unsaid: [field, 'killed', 'baselineTreatment'] },
      live: { ...serving('on', 'off', 'v2'), ...said },
      base: spec(serving('on', 'off', 'v2')),
    });

    expect(planLines(plan)).toEqual([`withheld update ${ID}: still-in-use`]);
  });

  it.each<[string, Said, string, string[], string?]>([
    [
      'takes the baseline with it once, where the specs say another',
      { ...serving('on', 'off'), baselineTreatment: 'on' },
      'v2',
      ['/treatments', '/baselineTreatment'],
      'on',
    ],
    [
      'takes an unsaid baseline with it, for that of a creation',
      serving('on', 'off'),
      'v2',
      ['/treatments', '/baselineTreatment'],
    ],
    ['leaves a baseline alone that stays a treatment', serving('on', 'off'), 'on', ['/treatments']],
    [
      'is none where treatments are not managed',
      { ...onShare(5), unsaid: ['treatments', 'killed', 'baselineTreatment'] },
      'v2',
      ['/defaultRule'],
    ],
  ])('%s', (_, desired, baselineTreatment, paths, after) => {
    const before = { ...serving('on', 'off', 'v2'), baselineTreatment };
    const plan = planOf({ desired, live: before, base: spec(before) });

    const [treatments, baseline] = plan.changes[0]?.fields ?? [];
    expect(plan.changes[0]?.fields.map(({ path }) => path)).toEqual(paths);
    if (baseline) {
      const { reason } = treatments ?? {};
      expect(baseline).toMatchObject({ reason, before: 'v2', after: after ?? 'off' });
    }
  });
});

describe('a restore', () => {
  it('is not written with what else changes where it is only reported', () => {
    const plan = planOf({
      desired: { ...onShare(5), killed: false },
      live: { killed: true },
      base: spec({}),
      environment: { ...REPORTING, onLiveKill: 'revert' },
    });

    expect(planLines(plan)).toEqual([`update ${ID}`, `withheld update ${ID}: drift-reported`]);
    expect(written(plan)).toEqual([['/defaultRule', onShare(5).defaultRule]]);
  });
});

describe('a definition that waits', () => {
  const paths = (fields: readonly FieldChange[]) =>
    fields.map(({ path, reason }) => `${path}: ${reason}`);
  const request: ChangeRequest = {
    ...{ id: 'cr-1', is: 'open', operation: 'UPDATE', by: 'ana', since: null, approvers: [] },
  };
  const mark = { wanted: '0'.repeat(16), content: '1'.repeat(16) };
  const known = (more: Partial<ChangeRequest> = {}) =>
    new Map([
      [
        ID,
        [
          { ...request, id: 'cr-0' },
          { ...request, ...more },
        ],
      ],
    ]);
  const open = { why: 'approval-needed', because: 'change request cr-1 is open on the service' };
  const changing = { desired: onShare(20), live: onShare(10), base: spec(onShare(10)) };
  const held = { why: 'check-failed', because: 'slo is wrong' } as const;
  const timed = { '/defaultRule': { held } };
  const back = { '/defaultRule': { waits: { for: onShare(45).defaultRule, because: 'slo' } } };
  const waiting = [
    {
      ...{ why: 'check-failed', because: 'slo' },
      fields: [
        {
          path: '/defaultRule',
          reason: 'ramp',
          before: onShare(20).defaultRule,
          after: onShare(45).defaultRule,
        },
      ],
    },
  ];
  const fought = (hour: number) =>
    ['00', '20', '40'].map((minute) => `2026-10-03T0${String(hour)}:${minute}:00.000Z`);
  const killed = { live: { ...onShare(20), killed: true }, base: spec({ killed: true }) };
  const restored = { ...killed, desired: { ...onShare(20), killed: false } };
  const rule = { fields: [{ path: '/defaultRule' }] };

  it.each<[string, Given, string[], object[]]>([
    [
      'for no change request, as none is open',
      { ...changing, open: null },
      ['/defaultRule: commit'],
      [],
    ],
    ['for a request that no list shows', { ...changing, open: 'cr-1' }, [], [open]],
    [
      'for a request of others, which the plan shows',
      { ...changing, open: 'cr-1', requests: known() },
      [],
      [{ ...open, request, ...rule }],
    ],
    [
      'for no request of ours',
      { ...changing, open: 'cr-1', requests: known({ mark }) },
      ['/defaultRule: commit'],
      [],
    ],
    [
      'for a request, but for its restore',
      { ...killed, desired: { ...onShare(30), killed: false }, open: 'cr-1' },
      ['/killed: restore'],
      [{ ...open, ...rule }],
    ],
    ['for the time of a field', { ...changing, timed }, [], [{ ...held, ...rule }]],
    [
      'for no time where the run reverts drift',
      { ...changing, timed, policy: { revertDrift: true } },
      ['/defaultRule: commit'],
      [],
    ],
    [
      'for a request rather than for the time of a field',
      { ...changing, timed, open: 'cr-1' },
      [],
      [{ ...open, ...rule }],
    ],
    [
      'for nothing where the time alone changed a field, which is the reason',
      { ...changing, timed: { '/defaultRule': { reason: 'ramp' } } },
      ['/defaultRule: ramp'],
      [],
    ],
    [
      'for a commit after a failed check',
      { desired: onShare(20), live: onShare(20), timed: back },
      [],
      waiting,
    ],
    ['for nothing more than its restore', { ...restored, timed: back }, ['/killed: restore'], []],
    [
      'for a review of the field that no reviewed plan shows',
      {
        ...changing,
        desired: { ...onShare(20), trafficAllocation: 50 },
        policy: { shows: ({ fields }) => fields.every(({ path }) => path !== '/defaultRule') },
      },
      ['/trafficAllocation: commit'],
      [{ why: 'not-reviewed', reason: 'commit', ...rule }],
    ],
    [
      'for a review of a ramp, which a commit must have brought',
      {
        ...changing,
        timed: { '/defaultRule': { reason: 'ramp' } },
        policy: { shows: ({ reason }) => reason !== 'ramp' },
      },
      [],
      [
        {
          why: 'not-reviewed',
          reason: 'commit',
          fields: [{ ...rule.fields[0], reason: 'commit' }],
        },
      ],
    ],
    [
      'for whoever keeps changing each field, with the times of each',
      {
        desired: { ...onShare(20), trafficAllocation: 50 },
        live: { ...onShare(10), trafficAllocation: 40 },
        base: {
          ...spec({ ...onShare(20), trafficAllocation: 50 }),
          corrections: { '/defaultRule': fought(0), '/trafficAllocation': fought(1) },
        },
      },
      [],
      [0, 1]
        .map((hour) => ({
          why: 'contested',
          reason: 'drift',
          because: expect.stringContaining(fought(hour).join(', ')) as string,
          fields: [{ path: hour === 0 ? '/defaultRule' : '/trafficAllocation' }],
        }))
        .toReversed(),
    ],
    ['to be read', { ...changing, unread: true }, [], []],
  ])('%s', (_, given, changed, withheld) => {
    const plan = planOf(given);

    expect(plan.changes.flatMap(({ fields }) => paths(fields))).toEqual(changed);
    expect(plan.withheld).toMatchObject(
      withheld.map((each) => ({ id: ID, action: 'update', ...each })),
    );
  });
});

it('that is not there shows every field that it is made with, and targets where there are any', () => {
  const said = { targets: { on: ['a'], off: [] } };
  const { changes } = planChanges({
    desired: aDesired({ flags: [desiredFlag('pay', { environments: { staging: said } })] }),
    actual: anActual({ flags: [liveFlag('pay')] }),
    state: NO_STATE,
    policy: aPolicy(),
  });

  expect(changes[0]?.fields.map(({ path }) => path)).toEqual([
    '/killed',
    '/treatments',
    '/defaultTreatment',
    '/baselineTreatment',
    '/trafficAllocation',
    '/rules',
    '/defaultRule',
    '/targets/on',
  ]);
});
