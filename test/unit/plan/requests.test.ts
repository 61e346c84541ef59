import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import type { ChangeRequest, RequestMark } from '../../../src/model/change-request.js';
import type { Outcome } from '../../../src/model/outcome.js';
import type { Plan, Withheld } from '../../../src/model/plan.js';
import { flagEntry, type Base, type State } from '../../../src/model/state.js';
import { stateWithRequests } from '../../../src/plan/bases/requests-state.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
  onShare,
} from '../../support/builders.js';
import { flagState, inputOf, planOf } from '../../support/planning.js';

const ID = 'flag/pay@production';
const ASKING = [anEnvironment('production', { submitsRequests: true })];
const FROZEN = new Map([['production', { why: 'frozen', until: null, untilText: null }]]);

interface World {
  readonly share?: number;
  readonly killed?: boolean;
  readonly requests?: readonly ChangeRequest[];
  readonly policy?: Partial<PlanPolicy>;
}

/** Git wants a share, and perhaps the kill; the service serves 10 %. */
function planFor({ share = 20, killed, requests = [], policy }: World = {}): Plan {
  const said = { ...onShare(share), ...(killed === undefined ? {} : { killed }) };
  const desired = aDesired({ flags: [desiredFlag('pay', { environments: { production: said } })] });
  const actual = anActual({ flags: [liveFlag('pay', { production: onShare(10) })] });
  const live = { ...actual, requests: new Map([[ID, requests]]) };
  return planOf(desired, live, { policy: { environments: ASKING, adopt: true, ...policy } });
}

/** Of the last write: a kill goes before. */
function markOf(plan: Plan): RequestMark {
  const mark = plan.steps.flatMap(({ ask }) => ask?.mark ?? []).at(-1);
  if (!mark) throw new Error('no draft');
  return mark;
}

const MARK = markOf(planFor());
const OTHER: RequestMark = { ...MARK, content: '0'.repeat(16) };

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
    const policy = { environments: ASKING, adopt: true };
    const created = planOf(
      aDesired({ flags: [desiredFlag('pay', { environments: { production: {} } })] }),
      { flags: [liveFlag('pay', {})] },
      { policy },
    );
    const keys = planOf(
      aDesired({ segments: [desiredSegment('staff', { production: ['a', 'c'] })] }),
      { segments: [liveSegment('staff', { production: ['b', 'c'] })] },
      { policy },
    );

    expect(operationsOf(planFor({ killed: true }))).toEqual([
      ['kill-flag', 'KILL'],
      ['patch-definition', 'UPDATE'],
    ]);
    expect(operationsOf(created)).toEqual([['create-definition', 'CREATE']]);
    expect(keys.steps.map(({ ask }) => ask)).toMatchObject([
      { operation: 'CREATE', keys: ['a'], keysAfter: { count: 3 } },
      { operation: 'ARCHIVE', keys: ['b'], keysAfter: { count: 1 } },
    ]);
  });

  it('has no draft where the config wants none', () => {
    expect(planFor({ policy: { environments: [anEnvironment('production')] } }).steps).toEqual([
      expect.not.objectContaining({ ask: expect.anything() as unknown }),
    ]);
  });

  const open = request({ mark: MARK });
  const later = request({ mark: MARK, id: 'cr-2' });
  const [off, frozen] = [{ suspended: SUSPENDED_BY_CONFIG }, { closed: FROZEN }];
  const unasking = { environments: [anEnvironment('production')] };
  const unselected = { environments: ASKING.map((each) => ({ ...each, selected: false })) };
  const rejected = request({ mark: OTHER, is: 'rejected' });
  it.each<[situation: string, World, steps: string[], held: string[], withdrawn: string[]]>([
    ['waits for an open request of the same content', { requests: [open] }, [], ['cr-1'], []],
    ['is not asked for again after a rejection', { requests: [rejected] }, [], ['cr-1'], []],
    [
      'is asked for anew with another content, and the request of before withdrawn',
      { requests: [request({ mark: OTHER })] },
      ['patch-definition'],
      [],
      ['cr-1'],
    ],
    ['leaves requests of others', { requests: [request()] }, ['patch-definition'], [], []],
    ['keeps the older of two requests', { requests: [open, later] }, [], ['cr-1'], ['cr-2']],
    [
      'goes on with a kill while the rest waits',
      { killed: true, requests: [request({ mark: markOf(planFor({ killed: true })) })] },
      ['kill-flag'],
      ['cr-1'],
      [],
    ],
    ['withdraws nothing while suspended', { requests: [open, later], policy: off }, [], [], []],
    ['withdraws nothing elsewhere', { requests: [open, later], policy: unselected }, [], [], []],
    ['withdraws what git takes back', { share: 10, requests: [open] }, [], [], ['cr-1']],
    [
      'withdraws nothing of an object that the run leaves out',
      { share: 10, requests: [open], policy: { only: new Set(['flag/buy']) } },
      [],
      [],
      [],
    ],
    ['withdraws nothing during a freeze', { requests: [open], policy: frozen }, [], [], []],
    [
      'withdraws what the config wants no more, though a freeze holds the change',
      { requests: [open], policy: { ...unasking, ...frozen } },
      [],
      [],
      ['cr-1'],
    ],
    [
      'withdraws what the config wants no more',
      { requests: [open], policy: unasking },
      ['patch-definition'],
      [],
      ['cr-1'],
    ],
  ])('%s', (_, world, steps, held, withdrawn) => {
    const plan = planFor(world);

    const actions = plan.steps.map(({ action }) => action);
    expect(actions.filter((action) => action !== 'withdraw-request')).toEqual(steps);
    expect(plan.withheld.flatMap(({ request: answer }) => answer?.id ?? [])).toEqual(held);
    expect((plan.withdrawals ?? []).map(({ request: { id } }) => id)).toEqual(withdrawn);
  });
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
