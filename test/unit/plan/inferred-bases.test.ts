import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../src/model/desired.js';
import type { Reason } from '../../../src/model/plan.js';
import type { State } from '../../../src/model/state.js';
import { hasUnremembered, stateWithInferredBases } from '../../../src/plan/inferred-bases.js';
import { planChanges } from '../../../src/plan/plan.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  desiredFlag,
  desiredKill,
  desiredSegment,
  liveFlag,
  liveSegment,
  NO_STATE,
  onShare,
  planLines,
  type Said,
} from '../../support/builders.js';
import { aChange, aField, aPlan, aWithheld } from '../../support/plan-builder.js';
import { flagState, inputOf } from '../../support/planning.js';

const PAY = 'flag/pay@production';
const BEFORE = 'b'.repeat(40);
const [OPEN, CLOSED] = [
  anEnvironment('staging'),
  anEnvironment('production', { protected: true, onDrift: 'report', onConflict: 'hold' }),
];
const LISTED = desiredKill('pay');

interface World {
  /** Of the flag `pay` in production: what the specs before the push say, those of now, and the service. */
  readonly before?: Said | null;
  readonly now?: Said | null;
  readonly live?: Said;
  /** The environment where all this is, instead of production. */
  readonly place?: string;
  /** In the specs before the push alone. */
  readonly kills?: DesiredKill[];
  readonly state?: State;
  readonly policy?: Partial<PlanPolicy>;
}

/** The specs before a push, and what the planner is given after it; a protected production, and no memory. */
function worldOf(world: World) {
  const {
    before = onShare(10),
    now = onShare(20),
    live = onShare(10),
    state,
    policy,
    kills,
  } = world;
  const { place = 'production' } = world;
  const specs = (said: Said | null, more = {}): BoundDesired =>
    aDesired({
      flags: said ? [desiredFlag('pay', { environments: { [place]: said } })] : [],
      ...more,
    });
  const input = inputOf(
    specs(now),
    { flags: [liveFlag('pay', { [place]: live })] },
    { state: state ?? NO_STATE, policy: { environments: [OPEN, CLOSED], ...policy } },
  );
  return { input, earlier: { desired: specs(before, kills && { kills }), commit: BEFORE } };
}

function linesOf(world: World): string[] {
  const { input, earlier } = worldOf(world);
  const state = stateWithInferredBases(input, earlier);
  return planLines(planChanges({ ...input, state }));
}

describe('what a push changed and no run remembers', () => {
  const held = [`withheld update ${PAY}: adopt-needed`];
  const [stateless, staging] = [{ stateless: true }, 'staging'];
  const killed = { ...onShare(10), killed: true };
  const restoring = { ...onShare(20), killed: false };
  const live = [`update ${PAY}`, `withheld update ${PAY}: live-kill`];
  it.each<[situation: string, World, lines: string[]]>([
    ['is a change of the commit where the service has what was before', {}, [`update ${PAY}`]],
    ['is held where somebody changed that by hand', { live: onShare(5) }, held],
    ['is held where the push left it as it was', { before: onShare(20) }, held],
    ['is held where it is new in git', { before: null }, held],
    ['is nothing where git has it no more', { now: null }, []],
    ['is nothing beyond the run', { place: staging, policy: { environments: [CLOSED] } }, []],
    ['is held without any state, since the push may be an old one', { policy: stateless }, held],
    [
      'is a change of a push that is named, also without any state',
      { policy: { ...stateless, reviewed: new Set([PAY]) } },
      [`update ${PAY}`],
    ],
    [
      'is a change of the commit, without any state, where nothing is protected',
      { policy: stateless, place: staging },
      ['update flag/pay@staging'],
    ],
    ['is all but a kill, which stays', { before: killed, now: restoring, live: killed }, live],
    ['is all but a kill of a list', { kills: [LISTED], now: restoring, live: killed }, live],
    ['is a change where a listed kill was over already', { kills: [LISTED] }, [`update ${PAY}`]],
  ])('%s', (_, world, lines) => {
    expect(linesOf(world)).toEqual(lines);
  });

  it.each<[situation: string, World]>([
    ['a base', { state: flagState('pay', { production: { spec: onShare(5) } }) }],
    ['a creation that began', { state: flagState('pay', { production: { pending: 'create' } }) }],
    ['an equal commit before', { before: onShare(20) }],
    ['another value by hand', { live: onShare(5) }],
  ])('leaves the state as it is for the sake of %s', (_, world) => {
    const { input, earlier } = worldOf(world);
    expect(stateWithInferredBases(input, earlier)).toBe(input.state);
  });

  it('gets the specs before the push as its base, of flags, their definitions and keys, and nothing else does', () => {
    const specs = (version: number, ...keys: string[]): BoundDesired => {
      const environments = { production: onShare(version) };
      const fields = { description: `v${String(version)}` };
      return aDesired({
        flags: [
          desiredFlag('pay', { fields, environments }),
          desiredFlag('cart', { environments }),
          desiredFlag(version === 1 ? 'gone' : 'new', { environments }),
        ],
        segments: [desiredSegment('beta', { production: keys })],
      });
    };
    const actual = anActual({
      flags: [
        liveFlag('pay', { production: onShare(1) }, { description: 'v1' }),
        liveFlag('cart', { production: onShare(5) }),
        liveFlag('new', { production: onShare(1) }),
      ],
      segments: [liveSegment('beta', { production: ['a', 'b'] })],
    });
    const input = inputOf(specs(2, 'a', 'c'), actual, { policy: { environments: [CLOSED] } });

    const state = stateWithInferredBases(input, { desired: specs(1, 'a', 'b'), commit: BEFORE });
    const base = (spec: unknown) => ({ spec, commit: BEFORE });
    const keys = expect.objectContaining({ count: 2 }) as unknown;
    expect([...state.keys()]).toEqual(['flag/pay', 'segment/beta']);
    expect(state.get('flag/pay')).toMatchObject({
      id: 'id-pay',
      workspace: base({ trafficType: 'user', fields: { description: 'v1' } }),
      environments: { 'env-production': base(expect.objectContaining(onShare(1))) },
    });
    expect(state.get('segment/beta')?.environments).toEqual({ 'env-production': base({ keys }) });
  });

  it('is looked for in what the run observed alone, where the push removed something too', () => {
    const { production, ...parts } = { production: onShare(10), staging: onShare(10) };
    const before = aDesired({
      flags: [
        desiredFlag('pay', { environments: { ...parts, production } }),
        desiredFlag('old', { environments: { production } }),
      ],
      segments: [desiredSegment('old', { production: ['a'] })],
    });
    const now = aDesired({
      flags: [desiredFlag('pay', { environments: { production: onShare(20) } })],
    });
    const [name, live] = liveFlag('pay', { production });
    const definitions = new Map([...live.definitions].filter(([place]) => place === 'production'));
    const seen = anActual({ flags: [[name, { ...live, definitions }]] });
    const input = inputOf(now, seen, { policy: { environments: [OPEN, CLOSED] } });

    const state = stateWithInferredBases(input, { desired: before, commit: BEFORE });
    expect(planLines(planChanges({ ...input, state }))).toEqual([`update ${PAY}`]);
  });
});

it.each<[boolean, Reason, ofField: Reason]>([
  [false, 'commit', 'drift'],
  [true, 'adopt', 'adopt'],
  [true, 'unknown', 'unknown'],
  [true, 'commit', 'adopt'],
])(
  'says %s of differences without a known cause: %s of an object, %s of a field',
  (is, reason, ofField) => {
    const members = { reason, fields: [{ ...aField('/rules', [], []), reason: ofField }] };
    expect(hasUnremembered(aPlan({ changes: [aChange(PAY, 'update', members)] }))).toBe(is);
    const withheld = [aWithheld(PAY, 'update', 'adopt-needed', members)];
    expect(hasUnremembered(aPlan({ withheld }))).toBe(is);
  },
);
