import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import type { ChangeRequest, RequestMark } from '../../../src/model/change-request.js';
import type { Outcome } from '../../../src/model/outcome.js';
import type { Plan, Withheld } from '../../../src/model/plan.js';
import { flagEntry, type Base, type State } from '../../../src/model/state.js';
import { stateWithRequests } from '../../../src/plan/bases/requests-state.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import { requestsWanted } from '../../../src/plan/requests.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
  onShare,
  planLines,
  type Said,
} from '../../support/builders.js';
import { manyKeys, refOf } from '../../support/plan-builder.js';
import { flagState, inputOf, planOf } from '../../support/planning.js';
import { stateOf } from '../../support/state-of.js';

const ID = 'flag/pay@production';
const ASKING = [anEnvironment('production', { submitsRequests: true })];
const FROZEN = new Map([['production', { why: 'frozen', until: null, untilText: null }]]);

interface World {
  readonly share?: number;
  readonly said?: Said;
  readonly live?: Said;
  readonly requests?: readonly ChangeRequest[];
  readonly state?: State;
  readonly policy?: Partial<PlanPolicy>;
}

/** Git wants a share, and perhaps more; the service serves 10 %. */
function planFor({ share = 20, said, live, requests = [], state, policy }: World = {}): Plan {
  const production = { ...onShare(share), ...said };
  const desired = aDesired({ flags: [desiredFlag('pay', { environments: { production } })] });
  const actual = anActual({
    flags: [liveFlag('pay', { production: { ...onShare(10), ...live } })],
  });
  const seen = { ...actual, requests: new Map([[ID, requests]]) };
  const all = { environments: ASKING, adopt: true, ...policy };
  return planOf(desired, seen, { policy: all, ...(state && { state }) });
}

const KILL: World = { said: { killed: true } };
/** Git takes back a kill that the service has. */
const RESTORE: World = {
  live: { killed: true },
  policy: { restorable: new Map([[ID, refOf(ID)]]) },
};

/** Of the last write: a kill goes before. */
function markOf(plan: Plan): RequestMark {
  const marks = plan.steps.flatMap(({ ask }) => ask?.mark ?? []);
  return marks.at(-1) ?? { wanted: 'none', content: 'none' };
}

const MARK = markOf(planFor());
const OTHER: RequestMark = { ...MARK, content: '0'.repeat(16) };
const UNWANTED: RequestMark = { ...MARK, wanted: '0'.repeat(16) };
const KILL_MARK = markOf(planFor({ ...KILL, share: 10 }));

function request(members: Partial<ChangeRequest> = {}): ChangeRequest {
  const facts = { id: 'cr-1', is: 'open', by: 'ana', since: null, approvers: [], reason: null };
  return { ...facts, operation: 'UPDATE', ...members } as ChangeRequest;
}

function operationsOf({ steps }: Plan): unknown[] {
  return steps.map(({ action, ask }) => [action, ask?.operation]);
}

describe('a write that the service may refuse', () => {
  it('has a draft with the whole definition that it makes, its place in git and a mark', () => {
    const [step] = planFor().steps;

    expect(step?.ask).toMatchObject({
      ...{ operation: 'UPDATE', body: onShare(20), mark: MARK, file: 'spec.yaml:1' },
    });
    expect(MARK.wanted).toMatch(/^[0-9a-f]{16}$/);
    expect(MARK.content).toMatch(/^[0-9a-f]{16}$/);
    expect(markOf(planFor())).toEqual(MARK);
    expect(markOf(planFor({ share: 30 }))).not.toEqual(MARK);
  });

  it('is told by what it does to the object', () => {
    const policy = {
      environments: ASKING,
      adopt: true,
      prune: true,
      provenRemovals: new Set([ID]),
    };
    const specs = (production?: object) =>
      aDesired({
        flags: [desiredFlag('pay', { environments: production ? { production } : {} })],
      });
    const live = (...keys: string[][]) => ({
      segments: [
        liveSegment('staff', Object.fromEntries(keys.map((each) => ['production', each]))),
      ],
    });
    const staff = aDesired({ segments: [desiredSegment('staff', { production: ['a', 'c'] })] });
    const created = planOf(specs({}), { flags: [liveFlag('pay', {})] }, { policy });
    const state = stateOf(specs({}));
    const removed = planOf(
      specs(),
      { flags: [liveFlag('pay', { production: {} })] },
      { state, policy },
    );
    const asks = ({ steps }: Plan) => steps.map(({ ask }) => ask);

    expect(operationsOf(planFor(KILL))).toEqual([
      ['kill-flag', 'KILL'],
      ['patch-definition', 'UPDATE'],
    ]);
    expect(operationsOf(created)).toEqual([['create-definition', 'CREATE']]);
    expect(asks(created)).toMatchObject([{ body: { defaultTreatment: 'off' } }]);
    expect(operationsOf(removed)).toEqual([['delete-definition', 'ARCHIVE']]);
    expect(asks(planOf(staff, live(['b', 'c']), { policy }))).toMatchObject([
      { operation: 'CREATE', keys: ['a'], keysAfter: { count: 3 } },
      { operation: 'ARCHIVE', keys: ['b'], keysAfter: { count: 1 } },
    ]);
    expect(asks(planOf(staff, live(), { policy }))).toMatchObject([
      undefined,
      { operation: 'CREATE', keys: ['a', 'c'], keysAfter: { count: 2 } },
    ]);
  });

  it('has another mark for each part of long keys, for other keys, and for other targets', () => {
    const marks = (wanted: readonly string[], live: readonly string[]) => {
      const segments = [desiredSegment('staff', { production: wanted })];
      const actual = { segments: [liveSegment('staff', { production: live })] };
      const { steps } = planOf(aDesired({ segments }), actual, {
        policy: { environments: ASKING },
      });
      return steps.map(({ ask }) => ask?.mark);
    };
    const parts = marks(manyKeys('new', 10_001), manyKeys('old', 10_001));
    const targeting = (key: string) => markOf(planFor({ said: { targets: { on: [key] } } }));

    expect(new Set(parts.map((each) => each?.content)).size).toBe(4);
    expect(new Set(parts.map((each) => each?.wanted)).size).toBe(1);
    expect(marks(['a', 'b'], ['a'])[0]?.wanted).not.toBe(marks(['a', 'c'], ['a'])[0]?.wanted);
    expect(targeting('u-1').wanted).not.toBe(targeting('u-2').wanted);
  });

  it('is a request of its own for a restore, which goes on while the rest waits', () => {
    const { body } = planFor().steps[0]?.ask ?? {};
    const [restore, rest] = planFor(RESTORE).steps;
    expect([restore?.ask?.operation, rest?.ask]).toMatchObject(['RESTORE', { mark: MARK, body }]);

    const waiting = planFor({ ...RESTORE, requests: [request({ mark: MARK })] });
    expect(planLines(waiting)).toEqual([
      `update ${ID} (restore)`,
      `withheld update ${ID}: approval-needed`,
    ]);
    expect(waiting.steps).toEqual([restore]);
    expect(waiting.changes[0]?.fields.map(({ path }) => path)).toEqual(['/killed']);
    expect(waiting.withheld).toMatchObject([{ fields: [{ path: '/defaultRule' }], dependsOn: [] }]);
  });

  it.each<[string, Said]>([
    ['a share that grows smaller', onShare(5)],
    ['a treatment that goes', { ...onShare(10), defaultTreatment: 'on' }],
    ['what is no share', { ...onShare(10), targets: { on: ['a'] } }],
  ])('is asked for %s before the flag comes back', (_, said) => {
    const smaller: World = { ...RESTORE, said };
    const [rest, restore] = planFor(smaller).steps;
    expect([rest?.ask?.operation, restore?.ask?.operation]).toEqual(['UPDATE', 'RESTORE']);

    const mark = rest?.ask?.mark;
    const { steps, withheld } = planFor({ ...smaller, requests: [request(mark && { mark })] });
    expect([steps, withheld]).toMatchObject([[], [{ why: 'approval-needed', reason: 'restore' }]]);
    expect(withheld[0]?.fields.map(({ path }) => path)).toContain('/killed');
  });

  const [open, later] = [request({ mark: MARK }), request({ mark: MARK, id: 'cr-2' })];
  const stale = request({ mark: OTHER, id: 'cr-3' });
  const rejected = { ...stale, is: 'rejected', mark: OTHER } as const;
  const unwanted = request({ mark: UNWANTED, id: 'cr-4' });
  const killing = request({ mark: KILL_MARK, id: 'cr-5' });
  const [off, frozen] = [{ suspended: SUSPENDED_BY_CONFIG }, { closed: FROZEN }];
  const [others, older] = [
    new Set(['flag/buy']),
    { behind: true, reviewed: new Set<string>() } as const,
  ];
  const unasking = { environments: [anEnvironment('production')] };
  const unselected = { environments: ASKING.map((each) => ({ ...each, selected: false })) };
  const known = flagState('pay', { production: { request: rejected } });
  const [patch, back] = ['patch-definition', { share: 10 }];
  it.each<[situation: string, requests: ChangeRequest[], result: string, World?]>([
    ['waits for an open request of the same content', [open], 'cr-1 waits'],
    ['is not asked for again after a rejection', [rejected], 'cr-3 waits'],
    ['is not after one that only the state still has', [], 'cr-3 waits', { state: known }],
    ['leaves a rejection of what git wants no more', [{ ...unwanted, is: 'rejected' }], patch],
    ['is asked for anew with another content', [stale], `${patch}, cr-3 goes`],
    ['leaves requests of others', [request()], patch],
    ['keeps the older of two requests', [open, later], 'cr-1 waits, cr-2 goes'],
    ['keeps the request of its content', [open, stale], 'cr-1 waits, cr-3 goes'],
    ['goes on with a kill while the rest waits', [open], 'kill-flag, cr-1 waits', KILL],
    ['tries a kill that has a request', [killing], 'kill-flag', { ...KILL, ...back }],
    ['withdraws a kill taken back', [killing], `${patch}, cr-5 goes`, { ...RESTORE, ...back }],
    ['withdraws nothing while suspended', [open, later], '', { policy: off }],
    ['withdraws nothing elsewhere', [open, later], '', { policy: unselected }],
    ['withdraws what git takes back', [open], 'cr-1 goes', back],
    ['withdraws nothing that is left out', [open], '', { ...back, policy: { only: others } }],
    ['withdraws nothing that a newer commit changed', [open], '', { ...back, policy: older }],
    ['withdraws nothing during a freeze', [open], '', { policy: frozen }],
    ['withdraws the unwanted during a freeze', [unwanted], 'cr-4 goes', { policy: frozen }],
    ['withdraws what nobody asks for', [open], `${patch}, cr-1 goes`, { policy: unasking }],
  ])('%s', (_, requests, result, world) => {
    const { steps, withheld, withdrawals } = planFor({ ...world, requests });

    expect(withdrawals).not.toEqual([]);
    const acts = [
      ...steps.flatMap(({ action }) => (action === 'withdraw-request' ? [] : action)),
      ...withheld.flatMap(({ request: answer }) => (answer ? `${answer.id} waits` : [])),
      ...(withdrawals ?? []).map(({ request: { id } }) => `${id} goes`),
    ];
    expect(acts.join(', ')).toBe(result);
  });

  it('withdraws those of all objects of ours in their order, and leaves those of other repositories', () => {
    const actual = anActual({ flags: [liveFlag('pay', { production: onShare(10) })] });
    const names = ['theirs', 'removed', 'pay'];
    const requests = new Map(names.map((name) => [`flag/${name}@production`, [open]] as const));
    const said = { fields: { description: 'd' }, environments: { production: onShare(10) } };
    const desired = aDesired({ flags: [desiredFlag('pay', said)] });
    const given = { state: flagState('removed', {}), policy: { environments: ASKING } };

    const { withdrawals = [] } = planOf(desired, { ...actual, requests }, given);
    expect(withdrawals.map(({ id }) => id)).toEqual([ID, 'flag/removed@production']);
  });
});

it('is asked of the service which requests are open where the config wants them, or a run remembers one', () => {
  const pay = flagState('pay', {
    staging: { request: { ...request(), mark: MARK } },
    canary: { request: { ...request(), mark: MARK } },
    production: {},
  });
  const state = new Map([...flagState('cart', {}), ...pay]);
  const environments = [
    anEnvironment('eu', { submitsRequests: true }),
    anEnvironment('us', { submitsRequests: true, selected: false }),
    anEnvironment('canary', { selected: false }),
    anEnvironment('staging'),
    anEnvironment('production'),
  ];

  expect([...requestsWanted(state, { environments })]).toEqual(['eu', 'staging']);
});

describe('the state', () => {
  const HEAD = 'c'.repeat(40);
  const SENT = request({ mark: MARK });
  const skipped = (asked: ChangeRequest): Outcome => ({
    status: 'skipped',
    why: 'sent',
    request: asked,
  });
  const before = (members: object): State => flagState('pay', { production: members });

  /** What it has of the flag in production after a run that planned it. */
  function remembered(
    state: State,
    { outcome, held, policy }: { outcome?: Outcome; held?: ChangeRequest; policy?: object } = {},
  ): unknown {
    const desired = aDesired({
      flags: [desiredFlag('pay', { environments: { production: onShare(20) } })],
    });
    const live = { flags: [liveFlag('pay', { production: onShare(10) })] };
    const asking = { environments: ASKING, adopt: true };
    const { steps, changes, withheld } = planOf(desired, live, { policy: asking });
    const waiting = held ? [{ ...changes[0], request: held } as Withheld] : [];
    const answers = { steps, changes, withheld: [...withheld, ...waiting] };
    const outcomes = new Map(outcome && ([[ID, outcome]] as const));
    const input = inputOf(desired, live, { state, policy: { ...asking, ...policy } });
    const next = stateWithRequests(state, answers, outcomes, input, HEAD);
    return flagEntry(next, 'pay')?.environments['env-production'];
  }

  it('remembers a request that the run submitted, with the spec that it asks for', () => {
    const request = { ...SENT, asked: expect.objectContaining(onShare(20)) as unknown };

    expect(remembered(new Map(), { outcome: skipped(SENT) })).toEqual({
      ...{ commit: HEAD, pending: 'create', request },
    });
    expect(remembered(before({ commit: 'b' }), { outcome: skipped(SENT) })).toEqual({
      ...{ commit: 'b', request },
    });
  });

  it('keeps of a request that it knows what that asked for, and does not know it of one that it never knew', () => {
    const asked = onShare(30);
    const known = before({ request: { ...SENT, asked } });

    expect(remembered(known, { held: SENT })).toMatchObject({ request: { id: 'cr-1', asked } });
    expect(remembered(new Map(), { held: request({ mark: OTHER }) })).toMatchObject({
      request: expect.not.objectContaining({ asked: expect.anything() as unknown }) as unknown,
    });
    const another = remembered(known, { held: request({ mark: MARK, id: 'cr-2' }) });
    expect(another).toMatchObject({ request: { id: 'cr-2', asked: onShare(20) } });
  });

  it('forgets a request that is over, or is of others, and keeps those of objects and places that the run left out', () => {
    const known = before({ request: SENT });
    const kept = { commit: null, request: SENT };

    expect(remembered(known)).toEqual({ commit: null });
    expect(remembered(known, { outcome: { status: 'applied' } })).toEqual({ commit: null });
    expect(remembered(known, { outcome: skipped(request()) })).toEqual({ commit: null });
    const only = new Set(['flag/buy']);
    expect(remembered(known, { policy: { only } })).toEqual(kept);
    const environments = ASKING.map((each) => ({ ...each, selected: false }));
    expect(remembered(known, { policy: { environments } })).toEqual(kept);
    expect(remembered(before({ commit: 'b' }))).toEqual({ commit: 'b' });
  });

  it('remembers of keys how many a request leaves, and of a creation no spec, which would be a base', () => {
    const desired = aDesired({
      flags: [desiredFlag('pay', { environments: { production: {} } })],
      segments: [desiredSegment('staff', { production: ['a', 'c'] })],
    });
    const live = {
      flags: [liveFlag('pay', {})],
      segments: [liveSegment('staff', { production: ['c'] })],
    };
    const given = { policy: { environments: ASKING, adopt: true } };
    const plan = planOf(desired, live, given);
    const outcomes = plan.steps.flatMap(({ change, ask }) =>
      ask ? [[change, skipped(request({ mark: ask.mark }))] as const] : [],
    );

    const next = stateWithRequests(
      new Map(),
      plan,
      new Map(outcomes),
      inputOf(desired, live, given),
      HEAD,
    );

    const asked = [...next.values()].map(({ environments }) => {
      return (environments['env-production'] as Base<unknown>).request?.asked;
    });
    expect(asked).toEqual([{ keys: expect.objectContaining({ count: 2 }) as unknown }, undefined]);
  });
});
