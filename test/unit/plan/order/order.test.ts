import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../../../src/admin-api/wire.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { patchOperations, withFields } from '../../../../src/model/flag/wire.js';
import type { Action, StepRequest } from '../../../../src/model/plan.js';
import type { PlannedChange } from '../../../../src/plan/planned-change.js';
import { circleAmong, orderChanges } from '../../../../src/plan/order/order.js';
import type { Use } from '../../../../src/plan/planned-change.js';
import {
  anActual,
  DEFINITION,
  dependingOn,
  inSegment,
  liveDefinition,
  liveFlag,
  serving,
} from '../../../support/builders.js';
import { aChange, refOf } from '../../../support/plan-builder.js';

const ENVIRONMENTS = ['staging', 'production'];

interface DraftParts {
  readonly requests?: readonly StepRequest[];
  readonly after?: readonly string[];
  readonly uses?: readonly Use[];
}

/** A draft of one request that says nothing, unless parts say otherwise. */
function aDraft(id: string, action: Action, parts: DraftParts = {}): PlannedChange {
  const { dependsOn, ...change } = aChange(id, action);
  const request: StepRequest = { action: 'delete-flag', flag: change.ref.name };
  return { change, requests: [request], after: [], uses: [], ...parts };
}

/** A draft that changes a live definition. */
function patching(
  id: string,
  before: Definition,
  after: Definition,
  uses: Use[] = [],
): PlannedChange {
  const { name, environment } = refOf(id);
  const expected = liveDefinition(name, environment ?? '', before);
  const target = withFields(expected, { ...DEFINITION, ...after });
  const request: StepRequest = {
    ...{ action: 'patch-definition', flag: name, environment: environment ?? '', expected },
    operations: patchOperations(expected, target),
  };
  return aDraft(id, 'update', { requests: [request], uses });
}

const kill = (flag: string, environment: string): PlannedChange =>
  aDraft(`flag/${flag}@${environment}`, 'update', {
    requests: [{ action: 'kill-flag', flag, environment }],
  });

const inOrder = (
  drafts: readonly PlannedChange[],
  actual = anActual(),
  kills: readonly PlannedChange[] = [],
) => orderChanges(drafts, kills, actual, ENVIRONMENTS);
const changesOf = (drafts: readonly PlannedChange[], actual = anActual()) =>
  inOrder(drafts, actual).changes.map(({ id }) => id);

const on = (flag: string, ...treatments: string[]): Use => ({
  id: `flag/${flag}@staging`,
  treatments,
});
const withLive = (name: string, staging: Definition) =>
  anActual({ flags: [liveFlag(name, { staging })] });
const [A, B, Z] = ['flag/a@staging', 'flag/b@staging', 'flag/z@staging'] as const;

describe('drafts that do not need each other', () => {
  it('go by workspace level, environments as the config has them, kinds, and names', () => {
    const drafts = [
      aDraft('flag/a@production', 'update'),
      aDraft('segment/b@production', 'update'),
      aDraft('identities/a@staging', 'update'),
      aDraft('flag/b@staging', 'update'),
      aDraft('flag/a@staging', 'update'),
      aDraft('segment/z@staging', 'update'),
      aDraft('flag/z', 'update'),
      aDraft('segment/z', 'create'),
    ];

    expect(changesOf(drafts)).toEqual([
      'segment/z',
      'flag/z',
      'segment/z@staging',
      'flag/a@staging',
      'flag/b@staging',
      'identities/a@staging',
      'segment/b@production',
      'flag/a@production',
    ]);
    expect(changesOf([...drafts].reverse())).toEqual(changesOf(drafts));
  });

  it('go the other way round where they remove, after what does not, and the workspace level last', () => {
    const drafts = [
      aDraft('segment/a', 'delete'),
      aDraft('flag/b', 'delete'),
      aDraft('segment/a@staging', 'deactivate'),
      aDraft('flag/b@staging', 'delete'),
      aDraft('flag/c@staging', 'update'),
      aDraft('flag/c', 'update'),
    ];

    expect(changesOf(drafts)).toEqual([
      'flag/c',
      'flag/c@staging',
      'flag/b@staging',
      'segment/a@staging',
      'flag/b',
      'segment/a',
    ]);
  });
});

describe('drafts that need each other', () => {
  it('go before what they use no longer, where that is removed or loses the treatment', () => {
    const first = (used: PlannedChange, ...treatments: string[]) =>
      changesOf([aDraft(Z, 'update'), used], withLive('z', dependingOn('b', ...treatments)))[0];
    const losing = (...left: string[]) =>
      patching(B, serving('on', 'off'), serving(...left, 'new'));

    expect(first(aDraft(B, 'delete'), 'on')).toBe(Z);
    expect(first(losing('off'), 'on')).toBe(Z);
    expect(first(losing('on'), 'on')).toBe(B);
    expect(first(losing('off'), 'on', 'off')).toBe(Z);
    expect(first(losing('off'), 'off')).toBe(B);
  });

  it('may name themselves', () => {
    const actual = withLive('a', dependingOn('a'));
    const own = { uses: [on('a', 'on')] };

    expect(changesOf([aDraft('flag/a@staging', 'delete', own)], actual)).toHaveLength(1);
    expect(changesOf([aDraft('flag/a@staging', 'create', own)])).toHaveLength(1);
  });

  it.each([
    ['y', 'z'],
    ['z', 'y'],
  ])('go after what they use in the order of names, though they name %s before %s', (...named) => {
    const user = aDraft(A, 'create', { uses: named.map((name) => on(name, 'on')) });
    const used = ['flag/y@staging', Z].map((id) => aDraft(id, 'create'));

    expect(changesOf([user, ...used])).toEqual(['flag/y@staging', Z, A]);
  });

  it('go by what a flag uses live, and not by a flag that is called like a segment', () => {
    const segments = ['segment/b@staging', 'segment/z@staging'];
    const drafts = segments.toReversed().map((id) => aDraft(id, 'deactivate'));

    expect(changesOf(drafts, withLive('z', inSegment('b')))).toEqual(segments);
  });

  it('are refused in a circle, with the way round it, and not the way to it', () => {
    expect(() =>
      inOrder([
        aDraft('flag/0', 'create', { after: ['flag/a'] }),
        aDraft('flag/a', 'create', { after: ['flag/b'] }),
        aDraft('flag/b', 'create', { after: ['flag/a'] }),
      ]),
    ).toThrow('bug: changes need each other: flag/a → flag/b → flag/a');
  });
});

describe('a treatment that comes and one that goes', () => {
  const targeting = (treatment: string): Definition => {
    return { ...serving('on', 'off', treatment), targets: { [treatment]: ['u1'] } };
  };
  const swap = patching('flag/b@staging', targeting('v1'), targeting('v2'));
  const usesOld = withLive('a', dependingOn('b', 'v1'));
  const steps = (drafts: readonly PlannedChange[], actual = usesOld) =>
    inOrder(drafts, actual).steps.map(({ id, needs }) => [id, needs]);

  it('are two steps around a flag that moves from the one to the other', () => {
    const mover = aDraft('flag/a@staging', 'update', { uses: [on('b', 'v2')] });
    const { changes, steps: made } = inOrder([mover, swap], usesOld);

    expect(made.map(({ id, needs }) => [id, needs])).toEqual([
      ['flag/b@staging#1-patch-definition', []],
      ['flag/a@staging#1-delete-flag', ['flag/b@staging#1-patch-definition']],
      [
        'flag/b@staging#2-patch-definition',
        ['flag/a@staging#1-delete-flag', 'flag/b@staging#1-patch-definition'],
      ],
    ]);
    expect(changes.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['flag/a@staging', ['flag/b@staging']],
      ['flag/b@staging', ['flag/a@staging']],
    ]);
    expect(names(made[0])).toEqual({
      expected: ['on', 'off', 'v1 u1'],
      after: ['on', 'off', 'v1 u1', 'v2'],
    });
    expect(names(made[2])).toEqual({
      expected: ['on', 'off', 'v1 u1', 'v2'],
      after: ['on', 'off', 'v2 u1'],
    });
  });

  it('are one step where nobody needs the one, or nobody uses the other', () => {
    const leaver = aDraft('flag/a@staging', 'update', { uses: [on('b', 'on')] });
    const comer = aDraft('flag/a@staging', 'update', { uses: [on('b', 'v2')] });

    expect(steps([leaver, swap])).toEqual([
      ['flag/a@staging#1-delete-flag', []],
      ['flag/b@staging#1-patch-definition', ['flag/a@staging#1-delete-flag']],
    ]);
    const stays = withLive('a', dependingOn('b'));
    expect(steps([comer, swap], stays)).toEqual(steps([comer, swap], anActual()));
    expect(steps([comer, swap], anActual())).toEqual([
      ['flag/b@staging#1-patch-definition', []],
      ['flag/a@staging#1-delete-flag', ['flag/b@staging#1-patch-definition']],
    ]);
  });
});

/** Its definitions go with the request of the flag. */
function archiving(id: string): PlannedChange {
  const { name, environment } = refOf(id);
  const parts = environment === null ? {} : { requests: [], after: [`flag/${name}`] };
  const { change, ...draft } = aDraft(id, 'delete', parts);
  return { ...draft, change: { ...change, archive: true } };
}

it('a flag that is archived takes its definitions along in its one step, for which what they use waits', () => {
  const { changes, steps } = inOrder(
    [
      aDraft('segment/b@staging', 'deactivate'),
      archiving('flag/z@staging'),
      archiving('flag/z'),
      aDraft('flag/a', 'update', { requests: [] }),
    ],
    withLive('z', inSegment('b')),
  );

  expect(changes.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ['flag/z', []],
    ['flag/z@staging', ['flag/z']],
    ['segment/b@staging', ['flag/z@staging']],
  ]);
  expect(steps.map(({ id, needs }) => [id, needs])).toEqual([
    ['flag/z#1-delete-flag', []],
    ['segment/b@staging#1-delete-flag', ['flag/z#1-delete-flag']],
  ]);
});

it('a circle through both halves of a change names it once at a time', () => {
  const swapped = (place: string) =>
    patching(`flag/b@${place}`, serving('on', 'off', 'v1'), serving('on', 'off', 'v2'));
  const use = { id: 'flag/b@production', treatments: ['v2'] };
  const drafts = [
    swapped('staging'),
    swapped('production'),
    aDraft('flag/x@production', 'update', { uses: [use] }),
    archiving('flag/d'),
    archiving('flag/d@staging'),
    archiving('flag/d@production'),
  ];
  const actual = anActual({
    flags: [
      liveFlag('b', { production: dependingOn('d', 'on') }),
      liveFlag('d', { staging: dependingOn('b', 'v1'), production: {} }),
      liveFlag('x', { production: dependingOn('b', 'v1') }),
    ],
  });

  expect(circleAmong(drafts, actual, ENVIRONMENTS)).toEqual([
    'flag/b@staging',
    'flag/d@staging',
    'flag/d',
    'flag/b@production',
    'flag/b@staging',
  ]);
});

describe('a kill', () => {
  it('is the first step, whatever its place, and needs nothing', () => {
    const { changes, steps } = inOrder([aDraft('flag/a', 'create')], anActual(), [
      kill('z', 'production'),
      kill('y', 'staging'),
    ]);

    expect(steps.map(({ id, needs }) => [id, needs])).toEqual([
      ['flag/y@staging#1-kill-flag', []],
      ['flag/z@production#1-kill-flag', []],
      ['flag/a#1-delete-flag', []],
    ]);
    expect(changes.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['flag/y@staging', []],
      ['flag/z@production', []],
      ['flag/a', []],
    ]);
  });

  it('comes before the rest of its change, which waits for it and for its other needs', () => {
    const drafts = [
      aDraft('segment/b@staging', 'activate'),
      aDraft('flag/z@staging', 'update', { after: ['segment/b@staging'] }),
    ];
    const { changes, steps } = inOrder(drafts, anActual(), [kill('z', 'staging')]);

    expect(steps.map(({ id, needs }) => [id, needs])).toEqual([
      ['flag/z@staging#1-kill-flag', []],
      ['segment/b@staging#1-delete-flag', []],
      [
        'flag/z@staging#2-delete-flag',
        ['flag/z@staging#1-kill-flag', 'segment/b@staging#1-delete-flag'],
      ],
    ]);
    expect(changes.map(({ id }) => id)).toEqual(['segment/b@staging', 'flag/z@staging']);
  });
});

/** The treatments that a patch expects, and those that it leaves, with their targets. */
function names(step: object | undefined): { expected?: string[]; after?: string[] } {
  const patch = step as Extract<StepRequest, { action: 'patch-definition' }>;
  const value = patch.operations.find(({ path }) => path === '/treatments')?.value;
  const listed = (treatments: WireDefinition['treatments']) =>
    treatments.map(({ name, keys = [] }) => [name, ...keys].join(' '));
  return {
    expected: listed(patch.expected.treatments),
    after: listed(value as WireDefinition['treatments']),
  };
}
