import { describe, expect, it } from 'vitest';
import { identitiesSha256, type Attributes } from '../../../../src/model/identities.js';
import type { DesiredIdentities } from '../../../../src/model/desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import type { Outcome, Outcomes } from '../../../../src/model/outcome.js';
import type { State } from '../../../../src/model/state.js';
import { guardFindings } from '../../../../src/plan/guards/guards.js';
import { stateAfterAnswers, stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import { areIdentitiesTaken } from '../../../../src/plan/objects/identities.js';
import { planHash } from '../../../../src/plan/reviewed.js';
import { pendingWithheld, planChanges, touchedKeys } from '../../../../src/plan/plan.js';
import type { PlanInput } from '../../../../src/plan/input.js';
import { verifyingPolicy, type PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anEnvironment,
  desiredIdentities,
  NO_STATE,
  planLines,
} from '../../../support/builders.js';
import { inputOf } from '../../../support/planning.js';
import { allTaken } from '../../../support/service-model.js';

const HEAD = 'a'.repeat(40);
const LATER = 'b'.repeat(40);
const STAGING = 'identities/user@staging';
const ANA = { ana: { plan: 'pro' } };
const ANA_AND_BOB = { ...ANA, bob: { plan: 'free', seats: '5' } };

function inputFor(
  identities: DesiredIdentities[],
  state: State = NO_STATE,
  policy: Partial<PlanPolicy> = {},
): PlanInput {
  return inputOf(aDesired({ identities }), {}, { state, policy });
}

function staging(keys: Readonly<Record<string, Attributes>>): DesiredIdentities[] {
  return [desiredIdentities({ staging: keys })];
}

/** One run: plan, answers, look again, remember. */
function run(
  input: PlanInput,
  { outcomes, head = HEAD }: { outcomes?: Outcomes; head?: string } = {},
): { plan: Plan; left: Plan; state: State } {
  const plan = planChanges(input);
  const untouched = stateAfterVerify(input, new Set(plan.unchanged), head);
  const before = { ...input, state: untouched };
  const state = stateAfterAnswers(before, plan.changes, outcomes ?? allTaken(plan), head);
  if (plan.changes.length === 0) return { plan, left: plan, state: untouched };
  const policy = verifyingPolicy(input.policy, touchedKeys(plan), plan);
  const again = { ...input, state, policy };
  const left = planChanges(again);
  return { plan, left, state: stateAfterVerify(again, new Set(left.unchanged), head) };
}

function after(keys: Readonly<Record<string, Attributes>>): State {
  return run(inputFor(staging(keys))).state;
}

function refusing(...keys: string[]): Outcomes {
  const failed = keys.map((key) => ({ key, status: 400, message: 'no' }));
  const written = Object.keys(ANA_AND_BOB).filter((key) => !keys.includes(key));
  const outcome: Outcome = {
    status: 'failed',
    error: { code: 'IDENTITIES_REFUSED', message: '', status: null, transactionId: null },
    partly: written.length > 0,
    identities: { written, failed },
  };
  return new Map([[STAGING, outcome]]);
}

function sent({ steps }: Plan): string[] {
  return steps.flatMap((step) =>
    step.action === 'write-identities' ? step.identities.map(({ key }) => key) : [],
  );
}

describe('identities', () => {
  it('are written once, with all of their attributes, to the traffic type by its id', () => {
    const { plan, left } = run(inputFor(staging(ANA_AND_BOB)));

    expect(planLines(plan)).toEqual([`create ${STAGING}`]);
    expect(plan.steps).toEqual([
      {
        ...{ id: `${STAGING}#1-write-identities`, change: STAGING, needs: [] },
        ...{ action: 'write-identities', environment: 'staging' },
        ...{ trafficType: 'user', trafficTypeId: 'tt-user' },
        identities: Object.entries(ANA_AND_BOB).map(([key, values]) => ({ key, values })),
      },
    ]);
    expect(planLines(left)).toEqual([]);
    expect(left.unchanged).toEqual([STAGING]);
  });

  it('go by the name of the traffic type where no answer said its id', () => {
    const input = inputFor(staging(ANA));
    const actual = { ...input.actual, trafficTypeIds: new Map<string, string>() };

    const [step] = planChanges({ ...input, actual }).steps;

    expect(step).toMatchObject({ trafficTypeId: 'user' });
  });

  it('are written again only where they changed in git', () => {
    const next = staging({ ana: { plan: 'team' }, bob: ANA_AND_BOB.bob, cy: {} });

    const { plan, left, state } = run(inputFor(next, after(ANA_AND_BOB)), { head: LATER });

    expect(planLines(plan)).toEqual([`update ${STAGING}`]);
    expect(plan.changes[0]?.keys).toMatchObject({ added: ['cy'], changed: ['ana'], removed: [] });
    expect(sent(plan)).toEqual(['cy', 'ana']);
    expect(planLines(left)).toEqual([]);
    expect(baseOf(state)?.commit).toBe(LATER);
  });

  it('are many in few requests, and fewer in each where their attributes are long', () => {
    const stepsFor = (keys: Readonly<Record<string, Attributes>>) =>
      planChanges(inputFor(staging(keys))).steps.map((step) => [
        'identities' in step && step.identities.length,
        step.needs.length,
      ]);
    const many = Array.from({ length: 25_000 }, (_, index) => [`user-${index}`, ANA.ana] as const);
    const long = { note: 'x'.repeat(1_200_000) };

    expect(stepsFor(Object.fromEntries(many))).toEqual([
      [10_000, 0],
      [10_000, 1],
      [5_000, 1],
    ]);
    expect(stepsFor({ a: long, b: long, c: long, d: long, e: {} })).toEqual([
      [3, 0],
      [2, 1],
    ]);
  });

  it('stay on the service when they leave git: told, never deleted, and forgotten once that was told', () => {
    const { plan, state } = run(inputFor(staging(ANA), after(ANA_AND_BOB)));

    expect(plan.withheld).toEqual([
      {
        ...{ id: STAGING, action: 'delete', reason: 'prune', fields: [], dependsOn: [] },
        ref: { kind: 'identities', name: 'user', environment: 'staging' },
        location: staging(ANA)[0]?.location,
        keys: { added: [], removed: ['bob'], changed: [], sha256: identitiesSha256([]) },
        why: 'stays-on-service',
        because: 'flagkeel deletes no identity and no attribute of one',
      },
    ]);
    expect(plan.steps).toEqual([]);
    expect(plan.unchanged).toEqual([STAGING]);
    expect(pendingWithheld(plan)).toEqual([]);
    expect(planLines(planChanges(inputFor(staging(ANA), state)))).toEqual([]);
    expect(sent(planChanges(inputFor(staging(ANA_AND_BOB), state)))).toEqual(['bob']);
  });

  it('that lose an attribute are written without it, and it stays', () => {
    const fewer = { ...ANA, bob: { plan: 'free' } };

    const { plan, left, state } = run(inputFor(staging(fewer), after(ANA_AND_BOB)));

    expect(planLines(plan)).toEqual([
      `update ${STAGING}`,
      `withheld update ${STAGING}: stays-on-service`,
    ]);
    expect(plan.withheld[0]?.keys).toMatchObject({ removed: [], changed: ['bob'] });
    expect(planLines(left)).toEqual([]);
    expect(planLines(planChanges(inputFor(staging(fewer), state)))).toEqual([]);
  });

  it('of which nothing is left in git leave the inventory', () => {
    const { plan, state } = run(inputFor([], after(ANA)));

    expect(planLines(plan)).toEqual([`withheld delete ${STAGING}: stays-on-service`]);
    expect(plan.withheld[0]?.location).toBeNull();
    expect(state.size).toBe(0);
  });

  it('that the service refuses keep the base that they had, and the others get theirs', () => {
    const next = staging({ ...ANA_AND_BOB, cy: {} });
    const { left, state } = run(inputFor(next, after({ bob: { plan: 'old' } })), {
      outcomes: refusing('bob', 'cy'),
      head: LATER,
    });

    expect(planLines(left)).toEqual([`update ${STAGING}`]);
    expect(sent(left)).toEqual(['cy', 'bob']);
    expect(left.changes[0]?.keys).toMatchObject({ added: ['cy'], changed: ['bob'] });
    expect(baseOf(state)?.commit).toBe(HEAD);
  });

  it('that are refused at first contact leave no commit behind: what came before it is not over', () => {
    const { state } = run(inputFor(staging(ANA_AND_BOB)), { outcomes: refusing('bob') });

    expect(baseOf(state)?.commit).toBeNull();
    const next = run(inputFor(staging(ANA_AND_BOB), state), { head: LATER });
    expect(sent(next.plan)).toEqual(['bob']);
    expect(baseOf(next.state)?.commit).toBe(LATER);
  });

  it('need no word of --adopt in a protected environment: there is no live value that anybody could look at', () => {
    const environments = [anEnvironment('staging', { protected: true, onDrift: 'report' })];

    expect(planLines(planChanges(inputFor(staging(ANA), NO_STATE, { environments })))).toEqual([
      `create ${STAGING}`,
    ]);
  });

  it('are not written without a memory, unless they are asked for', () => {
    const stateless = { stateless: true } as const;
    const unasked = inputFor(staging(ANA), NO_STATE, { ...stateless, identities: 'none' });
    const asked = inputFor(staging(ANA), NO_STATE, { ...stateless, identities: 'all' });

    const held = planChanges(unasked);
    expect(planLines(held)).toEqual([`withheld create ${STAGING}: not-remembered`]);
    expect(held.withheld[0]?.because).toBe('the service cannot show them either');
    expect(pendingWithheld(held)).toEqual([]);
    expect(held.unchanged).toEqual([]);
    const { plan, left } = run(asked);
    expect(planLines(plan)).toEqual([`create ${STAGING} (unknown)`]);
    expect(planLines(left)).toEqual([]);
  });

  it('are all written again where they are asked for', () => {
    const state = after(ANA_AND_BOB);

    const { plan, left } = run(inputFor(staging(ANA_AND_BOB), state, { identities: 'all' }));

    expect(planLines(plan)).toEqual([`update ${STAGING} (unknown)`]);
    expect(sent(plan)).toEqual(['ana', 'bob']);
    const more = staging({ zoe: {}, cy: {}, ...ANA_AND_BOB });
    expect(sent(planChanges(inputFor(more, state, { identities: 'all' })))).toEqual([
      ...['cy', 'zoe', 'ana', 'bob'],
    ]);
    expect(planLines(left)).toEqual([]);
  });

  it('of which an environment or the traffic type is filtered out, or a file is invalid, keep their base', () => {
    const before = after(ANA);
    const others = [anEnvironment('staging', { selected: false }), anEnvironment('production')];
    const only = new Set(['identities/account']);
    const quarantined = new Set(['identities/*']);

    for (const policy of [{ environments: others }, { only }, { quarantined }]) {
      const { plan, state } = run(inputFor([], before, policy));

      expect(planLines(plan)).toEqual([]);
      expect(state).toEqual(before);
    }
  });
});

const inBoth = [desiredIdentities({ staging: ANA, production: ANA })];
const inStaging = anEnvironment('staging');
const production = anEnvironment('production', { selected: false });

it.each<[string, DesiredIdentities[], Partial<PlanPolicy>, State | undefined, boolean]>([
  ['all that a base has', staging(ANA), {}, undefined, true],
  ['no new one', staging(ANA_AND_BOB), {}, undefined, false],
  ['no changed one', staging({ ana: { plan: 'team' } }), {}, undefined, false],
  ['none without a base', staging(ANA), {}, NO_STATE, false],
  ['none where all are to be written again', staging(ANA), { identities: 'all' }, undefined, false],
  ['all of none', [], { identities: 'all' }, NO_STATE, true],
  ['not those of one of two environments', inBoth, {}, undefined, false],
  ['all of the known environments', inBoth, { environments: [inStaging] }, undefined, true],
  ['all of the selected', inBoth, { environments: [inStaging, production] }, undefined, true],
])('the service accepted %s', (_, identities, policy, state = after(ANA), expected) => {
  expect(areIdentitiesTaken(inputFor(identities, state, policy))).toBe(expected);
});

describe('the plan hash', () => {
  const place = { origin: 'embedded', workspaceId: 'ws-1' };
  const hashOf = (identities: DesiredIdentities[], state?: State): string =>
    planHash(planChanges(inputFor(identities, state)), place);

  it('covers the attributes of identities, and not their order', () => {
    const turned = staging({ bob: { seats: '5', plan: 'free' }, ...ANA });

    expect(hashOf(turned)).toBe(hashOf(staging(ANA_AND_BOB)));
    expect(hashOf(staging({ ...ANA_AND_BOB, ana: { plan: 'team' } }))).not.toBe(
      hashOf(staging(ANA_AND_BOB)),
    );
  });

  it('covers which identities are written', () => {
    const both = staging(ANA_AND_BOB);

    expect(hashOf(both, after(ANA))).not.toBe(hashOf(both, after({ bob: ANA_AND_BOB.bob })));
  });
});

it('lets guards see no emptied repository where there were identities only', () => {
  const input = inputFor([], after(ANA));

  expect(guardFindings(planChanges(input), input, input.desired.config)).toEqual([]);
});

function baseOf(state: State) {
  const entry = state.get('identities/user');
  return entry?.kind === 'identities' ? entry.environments['env-staging'] : undefined;
}
