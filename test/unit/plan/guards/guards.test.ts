import { describe, expect, it } from 'vitest';
import type { Guards } from '../../../../src/model/desired.js';
import { guardFindings, movedShare, strictestGuards } from '../../../../src/plan/guards/guards.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlanInput } from '../../../../src/plan/input.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
  NO_STATE,
  onShare,
} from '../../../support/builders.js';

const HEAD = 'a'.repeat(40);

/** Twelve flags and a segment of ours, of which the specs now declare only what `desired` says. */
function inputWith(desired: PlanInput['desired']): PlanInput {
  const names = Array.from({ length: 12 }, (_, index) => `flag-${String(index).padStart(2, '0')}`);
  const keys = Array.from({ length: 20 }, (_, index) => `user-${index}`);
  const before = aDesired({
    flags: names.map((name) => desiredFlag(name, { environments: { production: onShare(10) } })),
    segments: [desiredSegment('beta', { production: keys })],
  });
  const ids = [
    ...names.flatMap((name) => [`flag/${name}`, `flag/${name}@production`]),
    'segment/beta',
    'segment/beta@production',
  ];
  const actual = anActual({
    flags: names.map((name) => liveFlag(name, { production: onShare(10) })),
    segments: [liveSegment('beta', { production: keys })],
  });
  const policy = aPolicy({
    prune: true,
    provenRemovals: new Set(ids),
    environments: [anEnvironment('staging'), anEnvironment('production', { protected: true })],
  });
  const state = stateAfterVerify(
    { desired: before, actual, state: NO_STATE, policy },
    new Set(ids),
    HEAD,
  );
  return { desired, actual, state, policy };
}

function findings(input: PlanInput, guards: Guards = {}): string[] {
  const config = { ...input.desired.config, guards };
  return guardFindings(planChanges(input), input, config).map(
    ({ guard, environment, id, found, limit }) =>
      `${guard} ${id ?? environment ?? 'workspace'}: ${found} > ${limit}`,
  );
}

function keptFlags(from: number): PlanInput['desired'] {
  const names = Array.from(
    { length: 12 - from },
    (_, index) => `flag-${String(index + from).padStart(2, '0')}`,
  );
  return aDesired({
    flags: names.map((name) => desiredFlag(name, { environments: { production: onShare(10) } })),
    segments: [
      desiredSegment('beta', {
        production: Array.from({ length: 20 }, (_, index) => `user-${index}`),
      }),
    ],
  });
}

describe('guards', () => {
  it('stand against another workspace than that of the states there are', () => {
    const input = inputWith(keptFlags(0));
    const elsewhere = [{ workspaceId: 'ws-old', objects: 13 }];

    expect(guardFindings(planChanges(input), input, input.desired.config, elsewhere)).toEqual([
      {
        guard: 'anotherWorkspace',
        environment: null,
        workspace: 'ws-old',
        found: 13,
        limit: 0,
      },
    ]);
  });

  it('let a few deletions pass', () => {
    expect(findings(inputWith(keptFlags(3)))).toEqual([]);
  });

  it('stand against more deletions than the limit, by number and by share, wherever they are', () => {
    expect(findings(inputWith(keptFlags(6)))).toEqual([
      'maxDeletes workspace: 6 > 5',
      'maxDeletePercent workspace: 47 > 30',
      'maxDeletes production: 6 > 5',
      'maxDeletePercent production: 47 > 30',
    ]);
  });

  it('take their limits from the config', () => {
    const loose = { maxDeletes: 6, maxDeletePercent: 50 };

    expect(findings(inputWith(keptFlags(6)), loose)).toEqual([]);
  });

  it('stand against the removal of too many keys of one segment', () => {
    const desired = keptFlags(0);
    const fewer = desiredSegment('beta', {
      production: Array.from({ length: 15 }, (_, index) => `user-${index}`),
    });

    expect(findings(inputWith({ ...desired, segments: new Map([['beta', fewer]]) }))).toEqual([
      'maxKeyRemovalPercent segment/beta@production: 25 > 20',
    ]);
  });

  it('stand against a protected environment in which everybody gets another treatment', () => {
    const desired = keptFlags(0);
    const flipped = desiredFlag('flag-00', {
      environments: {
        production: {
          defaultRule: [
            { treatment: 'off', size: 10 },
            { treatment: 'on', size: 90 },
          ],
        },
      },
    });
    const input = inputWith({
      ...desired,
      flags: new Map([...desired.flags, ['flag-00', flipped]]),
    });

    expect(findings(input)).toEqual(['fullFlip flag/flag-00@production: 100 > 99']);
  });

  it('stand against specs in which everything has vanished', () => {
    expect(findings(inputWith(aDesired()))[0]).toBe('emptyRepository workspace: 13 > 0');
  });
});

describe('the share that moves', () => {
  it('is exact for ramps, for swapped buckets, and for a ramp in the middle', () => {
    const three = (a: number, b: number, c: number) => [
      { treatment: 'a', size: a },
      { treatment: 'b', size: b },
      { treatment: 'c', size: c },
    ];

    expect(movedShare(onShare(10).defaultRule, onShare(25).defaultRule)).toBe(15);
    expect(movedShare(onShare(10).defaultRule, [...onShare(10).defaultRule].reverse())).toBe(20);
    expect(movedShare(three(10, 20, 70), three(20, 20, 60))).toBe(20);
  });
});

describe('the stricter of two configs', () => {
  const config = (guards: Guards, production: Guards = {}) => ({
    ...aDesired().config,
    guards,
    environments: [{ name: 'production', guards: production }],
  });

  it('holds, so that a change cannot loosen the guard that stands against it', () => {
    const strict = strictestGuards(config({ maxDeletes: 100 }), config({ maxDeletes: 3 }));

    expect(strict.guards).toMatchObject({ maxDeletes: 3, maxDeletePercent: 30 });
    expect(strict.environments[0]?.guards).toMatchObject({ maxDeletes: 3 });
  });

  it('takes defaults for what neither says, and an environment over the top of its config', () => {
    const strict = strictestGuards(
      config({}, { maxDeletes: 50 }),
      config({ maxDeletes: 10 }, { maxDeletes: 20 }),
    );

    expect(strict.guards).toMatchObject({ maxDeletes: 5 });
    expect(strict.environments[0]?.guards).toMatchObject({ maxDeletes: 20 });
  });
});
