import { describe, expect, it } from 'vitest';
import type { Definition, Matcher } from '../../../../src/model/flag/flag.js';
import { NO_KEYS } from '../../../../src/model/segment-keys.js';
import type { Actual } from '../../../../src/model/actual.js';
import type { ChangeRequest } from '../../../../src/model/change-request.js';
import type { FieldChange, Plan } from '../../../../src/model/plan.js';
import type { Base } from '../../../../src/model/state.js';
import type { PlannedEnvironment, PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  DEFINITION,
  desiredFlag,
  liveFlag,
  onShare,
  onWhere,
  planLines,
  serving,
  type Said,
} from '../../../support/builders.js';
import { flagState, planOf } from '../../../support/planning.js';

const ID = 'flag/pay@staging';

interface Given {
  readonly desired: Said;
  readonly live: Definition;
  readonly base?: Partial<Base<Definition>>;
  readonly environment?: Partial<PlannedEnvironment>;
  readonly policy?: Partial<PlanPolicy>;
  /** The change request that is open on the service. */
  readonly open?: string | null;
  readonly requests?: Actual['requests'];
  readonly unread?: true;
}

function planFor({ desired, live, base, environment, ...given }: Given): Plan {
  const { policy, open, requests, unread } = given;
  const flags = [desiredFlag('pay', { environments: { staging: desired } })];
  const answer = open === undefined ? {} : { openChangeRequestId: open };
  const [name, found] = liveFlag('pay', { staging: live }, {}, answer);
  const flag = { ...found, ...(unread && { unread: new Set(['staging']) }) };
  const actual = { ...anActual({ flags: [[name, flag]] }), ...(requests && { requests }) };
  return planOf(aDesired({ flags }), actual, {
    ...(base && { state: flagState('pay', { staging: base }) }),
    policy: { environments: [anEnvironment('staging', environment)], ...policy },
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
const REPORTING = { onDrift: 'report' } as const;

describe('members that other tools write for nothing', () => {
  const rule = { type: 'IN_LIST_STRING', strings: ['u-1'] };
  const servedOn = (matcher: Matcher) => ({ ...DEFINITION, ...onWhere(matcher) });
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
    expect(planFor(given).changes.map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe('a definition of which a part is held back', () => {
  it('is written in the fields that are not, and the others stay as they are live', () => {
    const plan = planFor({
      desired: onShare(20),
      live: { trafficAllocation: 50, ...onShare(10) },
      base: spec(onShare(10)),
      environment: REPORTING,
    });

    expect(planLines(plan)).toEqual([`update ${ID}`, `withheld update ${ID}: drift-reported`]);
    expect(written(plan)).toEqual([['/defaultRule', onShare(20).defaultRule]]);
    expect(plan.steps).toMatchObject([{ flag: 'pay', environment: 'staging' }]);
  });

  it('keeps the targets of a treatment of which somebody else changed them', () => {
    const plan = planFor({
      desired: { targets: { off: ['ours'] } },
      live: { targets: { on: ['theirs'] } },
      base: spec({ targets: {} }),
      environment: REPORTING,
    });

    const keys = { added: [], removed: ['theirs'], sha256: NO_KEYS.digest.sha256 };
    expect(plan.withheld[0]?.fields).toEqual([{ path: '/targets/on', reason: 'drift', keys }]);
    expect(written(plan)).toEqual([['/treatments/1/keys', ['ours']]]);
  });
});

describe('a treatment that goes', () => {
  const v2 = [{ treatment: 'v2', size: 100 }];
  const rules = [{ matchers: [{ type: 'BOOLEAN', attribute: 'a', bool: true }], buckets: v2 }];
  const unsaid = ['rules', 'killed', 'baselineTreatment'] as const;

  it('holds back all that is to be written, while what is not ours still names it', () => {
    const plan = planFor({
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
    const none = { treatment: 'v2', size: 0 };
    const defaultRule = [...onShare(100).defaultRule, none];
    const on = [{ treatment: 'on', size: 100 }];
    const servingOn = (buckets: typeof on) => rules.map((each) => ({ ...each, buckets }));
    const before = { ...serving('on', 'off', 'v2'), ...onShare(100), rules: servingOn(on) };
    const plan = planFor({
      desired: { ...before, ...serving('on', 'off') },
      live: { ...before, defaultRule, rules: servingOn([none, ...on]) },
      base: spec(before),
    });

    expect(plan.withheld).toEqual([]);
    expect(plan.changes).toMatchObject([{ fields: [{ path: '/treatments' }] }]);
    expect(written(plan)).toMatchObject([
      ['/defaultRule', onShare(100).defaultRule],
      ['/rules', [{ buckets: on }]],
      ['/treatments', [{ name: 'on' }, { name: 'off' }]],
    ]);
  });

  it('does not hold back a restore', () => {
    const plan = planFor({
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

  const buckets = [...onShare(5).defaultRule, { treatment: 'v2', size: 0 }];
  const emptied = rules.map((each) => ({ ...each, buckets }));

  it.each<[string, keyof Definition, Definition]>([
    ['the default rule', 'defaultRule', { defaultRule: v2 }],
    ['the default treatment', 'defaultTreatment', { defaultTreatment: 'v2' }],
    ['a bucket of size 0', 'rules', { rules: emptied }],
  ])('holds back the change while %s, which is not managed, names it', (_, field, said) => {
    const plan = planFor({
      desired: { ...serving('on', 'off'), unsaid: [field, 'killed', 'baselineTreatment'] },
      live: { ...serving('on', 'off', 'v2'), ...said },
      base: spec(serving('on', 'off', 'v2')),
    });

    expect(planLines(plan)).toEqual([`withheld update ${ID}: still-in-use`]);
  });

  it('holds back the change while the default rule names it, which is held back itself', () => {
    const plan = planFor({
      desired: { ...serving('on', 'off'), ...onShare(5) },
      live: { ...serving('on', 'off', 'v2'), defaultRule: v2 },
      base: spec({ ...serving('on', 'off', 'v2'), ...onShare(5) }),
      environment: REPORTING,
    });

    expect(planLines(plan)).toEqual([
      `withheld update ${ID}: drift-reported`,
      `withheld update ${ID}: still-in-use`,
    ]);
  });

  const BOTH = ['/treatments', '/baselineTreatment'];
  const baselineOn = { baselineTreatment: 'on' };
  const others = ['treatments', 'killed', 'baselineTreatment'] as const;

  it.each<[string, Said, string, string[], string?]>([
    ['takes a baseline with it once', { ...serving('on', 'off'), ...baselineOn }, 'v2', BOTH, 'on'],
    ['takes an unsaid baseline with it', serving('on', 'off'), 'v2', BOTH, 'off'],
    ['leaves a baseline alone that stays a treatment', serving('on', 'off'), 'on', ['/treatments']],
    ['is none of unmanaged ones', { ...onShare(5), unsaid: others }, 'v2', ['/defaultRule']],
  ])('%s', (_, desired, baselineTreatment, paths, after) => {
    const before = { ...serving('on', 'off', 'v2'), baselineTreatment };
    const plan = planFor({ desired, live: before, base: spec(before) });

    const [treatments, baseline] = plan.changes[0]?.fields ?? [];
    expect(plan.changes[0]?.fields.map(({ path }) => path)).toEqual(paths);
    if (baseline) {
      const { reason } = treatments ?? {};
      expect(baseline).toMatchObject({ reason, before: 'v2', after });
    }
  });
});

describe('a definition that waits', () => {
  const paths = (fields: readonly FieldChange[]) =>
    fields.map(({ path, reason }) => `${path}: ${reason}`);
  const request: ChangeRequest = {
    ...{ id: 'cr-1', is: 'open', operation: 'UPDATE', by: 'ana', since: null, approvers: [] },
  };
  const mark = { wanted: '0'.repeat(16), content: '1'.repeat(16) };
  const older = { ...request, id: 'cr-0' };
  const known = (more: Partial<ChangeRequest> = {}) =>
    new Map([[ID, [older, { ...request, ...more }]]]);
  const open = { why: 'approval-needed', because: 'change request cr-1 is open on the service' };
  const changing = { desired: onShare(20), live: onShare(10), base: spec(onShare(10)) };
  const asked = { ...changing, open: 'cr-1' };
  const allocating = { ...onShare(20), trafficAllocation: 50 };
  const by = (reason: 'ramp') => ({ ...onShare(20), timed: { '/defaultRule': { reason } } });
  const held = { why: 'check-failed', because: 'slo is wrong' } as const;
  const timed: Given = {
    ...changing,
    desired: { ...onShare(20), timed: { '/defaultRule': { held } } },
  };
  const waits = { for: onShare(45).defaultRule, why: 'check-failed', because: 'slo' } as const;
  const back = { '/defaultRule': { waits } };
  const failed: Given = { desired: { ...onShare(20), timed: back }, live: onShare(20) };
  const [before, after] = [20, 45].map((share) => onShare(share).defaultRule);
  const step = { path: '/defaultRule', reason: 'ramp', before, after };
  const waiting = [{ why: 'check-failed', because: 'slo', fields: [step] }];
  const ended = (said: object = {}): Pick<Given, 'desired'> => {
    const beyond = { waits: { ...waits, why: 'ramp-held' as const } };
    return { desired: { ...onShare(20), ...said, timed: { '/defaultRule': beyond } } };
  };
  const heldShare = [
    { why: 'ramp-held', reason: 'commit', fields: [{ ...step, reason: 'commit' }] },
  ];
  const fought = (hour: number) =>
    ['00', '20', '40'].map((minute) => `2026-10-03T0${String(hour)}:${minute}:00.000Z`);
  const killed = { live: { ...onShare(20), killed: true }, base: spec({ killed: true }) };
  const rule = { fields: [{ path: '/defaultRule' }] };
  const byCommit = { path: '/defaultRule', reason: 'commit' };
  const contested = (path: string, hour: number) => ({
    ...{ why: 'contested', reason: 'drift', fields: [{ path }] },
    because: expect.stringContaining(fought(hour).join(', ')) as string,
  });

  it.each<[string, Given, string[], object[]]>([
    ['for no request, as none is open', { ...changing, open: null }, ['/defaultRule: commit'], []],
    [
      'for a request of others, which the plan shows',
      { ...asked, requests: known() },
      [],
      [{ ...open, request, ...rule }],
    ],
    ['for none of ours', { ...asked, requests: known({ mark }) }, ['/defaultRule: commit'], []],
    ['for the time of a field', timed, [], [{ ...held, ...rule }]],
    [
      'for the time of that field alone',
      { ...timed, desired: { ...timed.desired, trafficAllocation: 50 } },
      ['/trafficAllocation: commit'],
      [{ ...held, ...rule }],
    ],
    ['for a request rather than a time', { ...timed, open: 'cr-1' }, [], [{ ...open, ...rule }]],
    [
      'for nothing where the time alone changed a field, which is the reason',
      { ...changing, desired: by('ramp') },
      ['/defaultRule: ramp'],
      [],
    ],
    ['for a commit after a failed check', failed, [], waiting],
    [
      'for nothing more than its restore',
      { ...killed, desired: { ...onShare(20), killed: false, timed: back } },
      ['/killed: restore'],
      [],
    ],
    ['for a share beyond the last step', { ...failed, ...ended() }, [], heldShare],
    [
      'for a share beyond the last step, also where its kill is taken back',
      { ...killed, ...ended({ killed: false }) },
      ['/killed: restore'],
      heldShare,
    ],
    [
      'for a review of a ramp, which a commit must have brought',
      { ...changing, desired: by('ramp'), policy: { shows: ({ reason }) => reason !== 'ramp' } },
      [],
      [{ why: 'not-reviewed', reason: 'commit', fields: [byCommit] }],
    ],
    [
      'for whoever keeps changing each field, with the times of each',
      {
        desired: allocating,
        live: { ...onShare(10), trafficAllocation: 40 },
        base: {
          ...spec(allocating),
          corrections: { '/defaultRule': fought(0), '/trafficAllocation': fought(1) },
        },
      },
      [],
      [contested('/trafficAllocation', 1), contested('/defaultRule', 0)],
    ],
    ['to be read', { ...changing, unread: true }, [], []],
  ])('%s', (_, given, changed, withheld) => {
    const plan = planFor(given);

    expect(plan.changes.flatMap(({ fields }) => paths(fields))).toEqual(changed);
    expect(plan.withheld).toMatchObject(
      withheld.map((each) => ({ id: ID, action: 'update', ...each })),
    );
  });
});
