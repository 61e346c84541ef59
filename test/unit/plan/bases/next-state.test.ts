import { describe, expect, it } from 'vitest';
import { keyList } from '../../../../src/model/segment-keys.js';
import type { Actual } from '../../../../src/model/actual.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { Change } from '../../../../src/model/plan.js';
import type { Outcome } from '../../../../src/model/outcome.js';
import { objectId } from '../../../../src/model/ref.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { Base, State } from '../../../../src/model/state.js';
import {
  stateAfterAnswers,
  stateAfterCorrections,
  stateAfterRefusals,
  stateAfterVerify,
  stateBeforeApply,
  stateOfCovered,
} from '../../../../src/plan/bases/next-state.js';
import type { HeldReason, PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
  noFlag,
  noSegment,
  NO_STATE,
  onShare,
} from '../../../support/builders.js';
import { aChange, aField } from '../../../support/plan-builder.js';
import { flagState, inputOf } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';

const BEFORE = 'a'.repeat(40);
const HEAD = 'b'.repeat(40);

const pay = desiredFlag('pay', { environments: { staging: {}, production: {} } });
const changed = desiredFlag('pay', { environments: { staging: onShare(5), production: {} } });
const beta = desiredSegment('beta', { staging: ['a'], production: undefined });
const both = aDesired({ flags: [pay], segments: [beta] });
const IDS = ['flag/pay', 'segment/beta'].flatMap((id) => [id, `${id}@staging`, `${id}@production`]);

const unselected = [anEnvironment('staging', { selected: false }), anEnvironment('production')];

interface Look {
  readonly desired?: BoundDesired;
  readonly actual?: Actual;
  readonly state?: State;
  readonly policy?: Partial<PlanPolicy>;
  readonly equal?: readonly string[];
}

function after({ desired = both, actual = anActual(), state = NO_STATE, ...rest }: Look): State {
  const input = inputOf(desired, actual, { state, ...rest });
  return stateAfterVerify(input, new Set(rest.equal), HEAD);
}

/** `flag/pay: workspace, env-staging` and the like. */
function places(state: State): string[] {
  return [...state].map(([key, { workspace, environments }]) => {
    const parts = [...(workspace ? ['workspace'] : []), ...Object.keys(environments)];
    return `${key}: ${parts.join(', ')}`;
  });
}

describe('what was found equal', () => {
  it('is remembered with its spec, the commit, and the id that the service answered', () => {
    const actual = anActual({ flags: [liveFlag('pay')] });

    expect(Object.fromEntries(after({ actual, equal: IDS }))).toEqual({
      'flag/pay': {
        kind: 'flag',
        name: 'pay',
        id: 'id-pay',
        workspace: { spec: { trafficType: 'user', fields: {} }, commit: HEAD },
        environments: Object.fromEntries(
          [...pay.environments].map(([place, { fields: spec }]) => [
            `env-${place}`,
            { spec, commit: HEAD },
          ]),
        ),
      },
      'segment/beta': {
        kind: 'segment',
        name: 'beta',
        workspace: { spec: { trafficType: 'user' }, commit: HEAD },
        environments: {
          'env-staging': { spec: { keys: keyList(['a']).digest }, commit: HEAD },
          'env-production': { spec: {}, commit: HEAD },
        },
      },
    });
  });

  it('keeps the commit that its spec came from while the spec stays', () => {
    const state = stateOf(both);
    const desired = aDesired({ flags: [changed], segments: [beta] });

    const next = after({ desired, state, equal: IDS });

    expect(next.get('flag/pay')?.environments['env-staging']?.commit).toBe(HEAD);
    expect(next.get('flag/pay')?.environments['env-production']?.commit).toBe(BEFORE);
    expect(next.get('flag/pay')?.workspace?.commit).toBe(BEFORE);
    expect(next.get('segment/beta')?.environments['env-staging']?.commit).toBe(BEFORE);
  });

  it('is not taken up beyond the filters of the run', () => {
    const policy = { environments: unselected, only: new Set(['flag/pay']) };

    expect(places(after({ policy, equal: IDS }))).toEqual(['flag/pay: workspace, env-production']);
  });
});

describe('what was not found equal', () => {
  it('keeps what it had, and is not made ours', () => {
    const state = stateOf(both);
    const desired = aDesired({ flags: [changed], segments: [beta] });

    expect(after({ desired, state })).toEqual(state);
    expect(after({ desired, actual: anActual({ flags: [liveFlag('pay')] }), state })).toEqual(
      new Map(
        [...state].map(([key, entry]) => [
          key,
          key === 'flag/pay' ? { ...entry, id: 'id-pay' } : entry,
        ]),
      ),
    );
    expect(after({})).toEqual(NO_STATE);
  });

  it('keeps the id that was known where this look could not tell it', () => {
    const [[key, entry] = ['', undefined]] = stateOf(aDesired({ flags: [pay] }));
    const state: State = new Map([[key, { ...entry, id: 'id-then' } as never]]);

    expect(after({ desired: aDesired({ flags: [pay] }), state }).get('flag/pay')).toMatchObject({
      id: 'id-then',
    });
  });
});

describe('what the specs no longer have', () => {
  const state = stateOf(both);
  const nothing = aDesired();

  const quarantined = new Set(['flag/pay', 'segment/beta']);
  const gone = { flags: [noFlag('pay')], segments: [noSegment('beta')] };
  const [name, flag] = noFlag('pay');
  const ALL = [
    'flag/pay: workspace, env-staging, env-production',
    'segment/beta: workspace, env-staging, env-production',
  ];

  it.each<[string, Parameters<typeof anActual>[0], string[], Look?]>([
    ['all of it where nobody looked', {}, ALL],
    [
      'the places that the service has left',
      {
        flags: [liveFlag('pay', { production: {} })],
        segments: [liveSegment('beta', { production: [] })],
      },
      ['flag/pay: workspace, env-production', 'segment/beta: workspace, env-production'],
    ],
    ['nothing of it when the service has nothing any more', gone, []],
    [
      'its workspace level when only that is left',
      { flags: [liveFlag('pay')], segments: [liveSegment('beta')] },
      ['flag/pay: workspace', 'segment/beta: workspace'],
    ],
    [
      'its workspace level where a service cannot show whether the flag is there',
      { flags: [[name, { ...flag, existence: 'unknown' }]] },
      ['flag/pay: workspace', ALL[1] ?? ''],
    ],
    [
      'environments that the run does not select',
      gone,
      ['flag/pay: env-staging', 'segment/beta: env-staging'],
      { policy: { environments: unselected } },
    ],
    ['objects whose files are invalid', gone, ALL, { policy: { quarantined } }],
  ])('keeps %s', (_, actual, expected, rest = {}) => {
    const next = after({ desired: nothing, actual: anActual(actual), state, ...rest });

    expect(places(next)).toEqual(expected);
    if (expected === ALL) expect(next).toEqual(state);
  });
});

it('what the specs no longer name keeps its base whatever is live, until another directory has it', () => {
  const killed = [liveFlag('pay', { staging: {}, production: { killed: true } })];
  const state = stateOf(both);
  const look = (...moved: string[]) =>
    after({
      desired: aDesired({
        flags: [desiredFlag('pay', { environments: { staging: {} } })],
        segments: [beta],
      }),
      actual: anActual({ flags: killed }),
      state,
      policy: {
        held: new Map<string, HeldReason>([
          ['segment/beta', { why: 'still-in-use' }],
          ...moved.map((environment) => {
            const ref = { kind: 'flag', name: 'pay', environment } as const;
            return [objectId(ref), { why: 'still-in-use', moved: ref }] as const;
          }),
        ]),
      },
    });

  expect(look().get('flag/pay')?.environments).toEqual(state.get('flag/pay')?.environments);
  expect(places(look('production', 'elsewhere'))).toEqual([
    'flag/pay: workspace, env-staging',
    'segment/beta: workspace, env-staging, env-production',
  ]);
});

describe('before the first request', () => {
  const before = (changes: Parameters<typeof aChange>[], state: State = NO_STATE): State =>
    stateBeforeApply(
      { desired: both, actual: anActual(), state, policy: aPolicy() },
      changes.map((each) => aChange(...each)),
      HEAD,
    );
  const pending = { commit: HEAD, pending: 'create' };

  it('what is about to be made is ours already', () => {
    const changes: Parameters<typeof aChange>[] = [
      ['flag/pay', 'create'],
      ['flag/pay@staging', 'create'],
      ['segment/beta@production', 'activate'],
    ];

    const created = pay.environments.get('staging')?.fields;
    expect(Object.fromEntries(before(changes))).toEqual({
      'flag/pay': {
        ...{ kind: 'flag', name: 'pay', workspace: pending },
        environments: { 'env-staging': { ...pending, created } },
      },
      'segment/beta': {
        kind: 'segment',
        name: 'beta',
        environments: { 'env-production': pending },
      },
    });
  });

  it('what is about to be made again keeps the spec that it had, and the rest stays', () => {
    const state = stateOf(both);
    const held = state.get('flag/pay')?.environments['env-staging'];

    const next = before(
      [
        ['flag/pay@staging', 'create'],
        ['flag/pay', 'create'],
      ],
      state,
    );

    expect(next.get('flag/pay')).toMatchObject({
      workspace: { spec: { trafficType: 'user' }, ...pending },
      environments: {
        'env-staging': { spec: held?.spec, ...pending },
        'env-production': state.get('flag/pay')?.environments['env-production'],
      },
    });
    expect(next.get('segment/beta')).toBe(state.get('segment/beta'));
  });

  it('with what a definition is created, but for its kill: to take that back, it must have been seen', () => {
    const killed = desiredFlag('pay', { environments: { staging: { killed: true } } });
    const next = stateBeforeApply(
      {
        desired: aDesired({ flags: [killed] }),
        ...{ actual: anActual(), state: NO_STATE, policy: aPolicy() },
      },
      [aChange('flag/pay@staging', 'create')],
      HEAD,
    );

    const base = next.get('flag/pay')?.environments['env-staging'] as Base<Definition>;
    expect(base.created).toHaveProperty('defaultRule');
    expect(base.created).not.toHaveProperty('killed');
  });

  it('of a definition that somebody changed since it was created, the equal fields are of now', () => {
    const said = { ...onShare(5), trafficAllocation: 60 };
    const desired = aDesired({ flags: [desiredFlag('pay', { environments: { staging: said } })] });
    const state = before([
      ['flag/pay', 'create'],
      ['flag/pay@staging', 'create'],
    ]);
    const live = { ...onShare(40), trafficAllocation: 60 };

    const next = after({
      desired,
      actual: anActual({ flags: [liveFlag('pay', { staging: live })] }),
      state,
    });

    const base = next.get('flag/pay')?.environments['env-staging'];
    expect(next.get('flag/pay')?.workspace).toEqual({ commit: HEAD, pending: 'create' });
    expect(base).not.toHaveProperty('pending');
    expect(base).not.toHaveProperty('created');
    expect(base?.spec).toMatchObject({
      trafficAllocation: 60,
      defaultRule: pay.environments.get('staging')?.fields.defaultRule,
    });
  });

  it('what is about to go keeps its base, with the kill that was seen', () => {
    const [state, now] = [stateOf(both), '2026-10-03T10:00:00.000Z'];
    const next = stateBeforeApply(
      {
        desired: aDesired(),
        actual: anActual({ flags: [liveFlag('pay', { staging: { killed: true } })] }),
        ...{ state, policy: aPolicy() },
      },
      [aChange('flag/pay@staging', 'delete'), aChange('segment/beta@staging', 'deactivate')],
      HEAD,
      now,
    );

    const held = state.get('flag/pay');
    const seen = { liveKillSeenAt: HEAD, liveKillSeen: now, killedAsOf: '1' };
    const killed = { ...held?.environments['env-staging'], ...seen };
    expect(Object.fromEntries(next)).toEqual({
      'flag/pay': { ...held, environments: { ...held?.environments, 'env-staging': killed } },
      'segment/beta': state.get('segment/beta'),
    });
  });

  it('nothing else that changes is remembered', () => {
    const changes: Parameters<typeof aChange>[] = [
      ['flag/pay', 'update'],
      ['flag/pay@staging', 'delete'],
      ['segment/beta@staging', 'deactivate'],
      ['identities/user@staging', 'create'],
    ];

    expect(before(changes)).toEqual(NO_STATE);
  });
});

describe('after a creation', () => {
  const ID = 'flag/pay@staging';
  const [begun, before] = [{ commit: HEAD, pending: 'create' } as const, { commit: BEFORE }];
  const entryWith = (staging: Base<never>, name = 'pay'): State => flagState(name, { staging });
  const error = { code: 'BUG', message: '', status: null, transactionId: null } as const;
  const failed = { status: 'failed', error, partly: false } as const;
  const request = { ...{ id: 'cr-1', operation: 'CREATE', by: null, since: null }, approvers: [] };
  const asked = (is: 'open' | 'rejected') =>
    ({ status: 'skipped', why: 'approval', request: { ...request, is } }) as const;

  it.each<[string, Outcome | undefined, boolean]>([
    ['that was made', { status: 'applied' }, true],
    ['of which nothing is known', undefined, true],
    ['that the service refused', failed, false],
    ['that it refused in part', { ...failed, partly: true }, true],
    ['without an answer', { ...failed, fateUnknown: true }, true],
    ['that was never sent', { status: 'skipped', why: 'interrupted' }, false],
    ['that was sent in part', { status: 'skipped', why: 'interrupted', partly: true }, true],
    ['for which a change request is open', asked('open'), true],
    ['for which a change request was rejected', asked('rejected'), false],
  ])('%s, the object is ours or has the base that it had', (_, outcome, isOurs) => {
    const outcomes = new Map(outcome && [[ID, outcome]]);
    const changes = [aChange(ID, 'create'), aChange('flag/cart@staging', 'update')];
    const [first, again] = [NO_STATE, entryWith(before)].map((state) =>
      stateAfterRefusals(entryWith(begun), { state, policy: aPolicy() }, changes, outcomes),
    );

    expect(first).toEqual(isOurs ? entryWith(begun) : NO_STATE);
    expect(again).toEqual(entryWith(isOurs ? begun : before));
  });

  it('of a change that is none, it stays as it is', () => {
    const outcomes = new Map([[ID, failed]]);
    const changes = [aChange(ID, 'update')];
    const state = entryWith(begun);

    expect(
      stateAfterRefusals(state, { state: NO_STATE, policy: aPolicy() }, changes, outcomes),
    ).toBe(state);
  });

  it('by a HEAD that is older, only what it covers gets another base', () => {
    const then = stateOf(both);
    const now = [...entryWith(begun), ...entryWith(begun, 'new')];
    const seen: State = new Map(now.map(([key, entry]) => [key, { ...entry, id: 'id' } as never]));
    const reviewed = new Set([ID, 'flag/pay', 'flag/new@staging', 'flag/new@elsewhere']);
    const { environments } = aPolicy();

    const next = stateOfCovered(then, seen, { reviewed, environments });

    const pay = then.get('flag/pay');
    expect(Object.fromEntries(next)).toEqual({
      'flag/pay': {
        ...{ kind: 'flag', name: 'pay' },
        environments: { ...pay?.environments, 'env-staging': begun },
      },
      'segment/beta': then.get('segment/beta'),
      'flag/new': seen.get('flag/new'),
    });
    expect(stateOfCovered(then, seen, { reviewed: null, environments })).toEqual(then);
  });
});

describe('after answers that nothing can be verified against', () => {
  const unlisted = { ...anActual(), allFlags: null, showsFlags: false };
  const described = desiredFlag('pay', { fields: { description: 'New' } });
  const state = stateOf(both);
  const answered = (
    changes: Parameters<typeof aChange>[],
    given: Look & { status?: 'applied' | 'skipped' | null } = {},
  ): State => {
    const { desired = aDesired({ flags: [described] }), actual = unlisted } = given;
    const made = changes.map((each) => aChange(...each));
    const { status = 'applied' } = given;
    const outcomes = new Map(status && made.map(({ id }) => [id, { status } as Outcome]));
    return stateAfterAnswers(inputOf(desired, actual, { state }), made, outcomes, HEAD);
  };

  it('the workspace level of a flag is what was written, and its definitions stay', () => {
    const next = answered([['flag/pay', 'update']]);

    expect(next.get('flag/pay')).toEqual({
      ...state.get('flag/pay'),
      workspace: { spec: { trafficType: 'user', fields: { description: 'New' } }, commit: HEAD },
    });
    expect(next.get('segment/beta')).toBe(state.get('segment/beta'));
  });

  it('the workspace level of a flag is gone that was deleted', () => {
    const next = answered([['flag/pay', 'delete']], { desired: aDesired() });

    expect(next.get('flag/pay')).not.toHaveProperty('workspace');
    expect(places(next)[0]).toBe('flag/pay: env-staging, env-production');
  });

  it.each<[string, Parameters<typeof aChange>, Parameters<typeof answered>[1]]>([
    ['where the service can show it', ['flag/pay', 'update'], { actual: anActual() }],
    ['where the write was not made', ['flag/pay', 'update'], { status: 'skipped' }],
    ['where nothing is known of the write', ['flag/pay', 'update'], { status: null }],
    ['of a definition', ['flag/pay@staging', 'update'], {}],
    ['of a segment', ['segment/pay', 'create'], {}],
    ['of what was never ours', ['flag/cart', 'delete'], {}],
    ['of what the specs do not have', ['flag/pay', 'update'], { desired: aDesired() }],
  ])('nothing else is remembered: %s', (_, change, given) => {
    expect(answered([change], given)).toEqual(state);
  });
});

describe('what is remembered of corrections', () => {
  const ID = 'flag/pay@staging';
  const at = (...times: string[]): string[] => times.map((time) => `2026-10-03T${time}:00.000Z`);
  const [now = ''] = at('10:00');
  const base: Base<never> = { commit: null };
  const state: State = new Map([
    ['flag/pay', { kind: 'flag', name: 'pay', environments: { 'env-staging': base } }],
    ['flag/new', { kind: 'flag', name: 'new', workspace: base as never, environments: {} }],
    ['segment/vip', { kind: 'segment', name: 'vip', environments: { 'env-staging': base } }],
    ['segment/new', { kind: 'segment', name: 'new', environments: { 'env-staging': base } }],
  ]);
  const drift = (path: string) => ({ ...aField(path, 1, 2), reason: 'drift' as const });
  const corrected = (from: State, changes: readonly Change[], time: string): State => {
    const outcomes = new Map(changes.map(({ id }) => [id, { status: 'applied' } as const]));
    return stateAfterCorrections({ state: from, policy: aPolicy() }, changes, outcomes, time);
  };

  it('is when each field was corrected, and the latest three times only', () => {
    const changes = [aChange(ID, 'update', { fields: [drift('/rules'), aField('/killed', 1, 2)] })];
    const first = [aChange(ID, 'update', { fields: [drift('/tags')] })];
    const seen = at('10:00', '10:01', '10:02', '10:03').reduce(
      (last, time) => corrected(last, changes, time),
      corrected(state, first, at('09:59').join()),
    );

    expect(seen.get('flag/pay')?.environments['env-staging']?.corrections).toEqual({
      '/rules': at('10:01', '10:02', '10:03'),
      '/tags': at('09:59'),
    });
    expect(seen.get('segment/vip')).toEqual(state.get('segment/vip'));
  });

  it('is that of the keys of a segment, and of an object that was deleted and made again', () => {
    const keys = { added: ['a'], removed: [], sha256: '' };
    const changes = [
      aChange('segment/vip@staging', 'update', { reason: 'drift', keys }),
      aChange(ID, 'create', { reason: 'drift', fields: [drift('/rules')] }),
      aChange('segment/new@staging', 'activate', { reason: 'drift', keys }),
      aChange('flag/new', 'update', { fields: [drift('/tags')] }),
    ];
    const seen = corrected(state, changes, now);

    expect(
      [...seen.values()].map(({ workspace, environments }) =>
        [workspace, environments['env-staging']].map((each) => each?.corrections),
      ),
    ).toEqual([
      [undefined, { '': [now] }],
      [{ '/tags': [now] }, undefined],
      [undefined, { '/keys': [now] }],
      [undefined, { '': [now] }],
    ]);
  });

  it('is nothing of what was not applied, and nothing of what git changed', () => {
    const changes = [aChange(ID, 'update', { fields: [drift('/rules')] })];
    const skipped = new Map([[ID, { status: 'skipped', why: 'interrupted' } as const]]);
    const keys = { added: ['a'], removed: [], sha256: '' };
    const byCommit = [
      aChange(ID, 'create'),
      aChange('segment/vip@staging', 'update', { keys }),
      aChange('flag/new@elsewhere', 'create', { reason: 'drift' }),
    ];

    for (const outcomes of [skipped, new Map()]) {
      expect(stateAfterCorrections({ state, policy: aPolicy() }, changes, outcomes, now)).toEqual(
        state,
      );
    }
    expect(corrected(state, byCommit, now)).toEqual(state);
  });

  it('is forgotten once the object is equal more than an hour after the last', () => {
    const corrections = { '/rules': at('08:00', '09:00', '10:00'), '/tags': at('08:00') };
    const found = (time?: string) => {
      const [[key, entry] = ['', undefined]] = stateOf(aDesired({ flags: [pay] }));
      const workspace = { ...entry?.workspace, corrections };
      const input = {
        ...{ desired: both, actual: anActual(), policy: aPolicy() },
        state: new Map([[key, { ...entry, workspace } as never]]),
      };
      return stateAfterVerify(input, new Set(['flag/pay']), HEAD, time).get(key)?.workspace;
    };
    const [within, after] = at('11:00', '11:01');

    expect(found(within)?.corrections).toEqual({ '/rules': at('08:00', '09:00', '10:00') });
    expect(found(after)).not.toHaveProperty('corrections');
    expect(found()?.corrections).toEqual(corrections);
  });
});
