import { describe, expect, it } from 'vitest';
import { keyList } from '../../../../src/model/segment-keys.js';
import type { ActualSegment } from '../../../../src/model/actual.js';
import type { DesiredSegment, SegmentMode } from '../../../../src/model/desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import type { State } from '../../../../src/model/state.js';
import {
  aDesired,
  anEnvironment,
  desiredSegment,
  liveSegment,
  noSegment,
  planLines,
} from '../../../support/builders.js';
import { manyKeys } from '../../../support/plan-builder.js';
import { planOf, segmentState, type Given } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';

type Live = [string, ActualSegment];
type Segment = ActualSegment['segment'] & object;

function planFor(segment: DesiredSegment, live: Live, given: Given = {}): Plan {
  return planOf(aDesired({ segments: [segment] }), { segments: [live] }, given);
}

const beta = (keys: string[] | undefined, mode?: SegmentMode): DesiredSegment =>
  desiredSegment('beta', { staging: keys }, mode);
const found = (...segments: DesiredSegment[]): State => stateOf(aDesired({ segments }));
const live = (...keys: string[]) => liveSegment('beta', { staging: keys });

describe('a segment that is not there', () => {
  it('is made with its traffic type and description, and then filled', () => {
    const segment = { ...beta(['a']), description: 'Opted in' };
    const plan = planFor(segment, noSegment('beta'));

    expect(plan.changes[0]?.fields).toEqual([
      { path: '/trafficType', reason: 'commit', after: 'user' },
      { path: '/description', reason: 'commit', after: 'Opted in' },
    ]);
    expect(plan.changes[1]).toMatchObject({
      action: 'activate',
      fields: [],
      keys: { added: ['a'], removed: [], sha256: keyList(['a']).digest.sha256 },
      dependsOn: ['segment/beta'],
    });
    expect(plan.steps).toMatchObject([
      { action: 'create-segment', segment: 'beta', trafficType: 'user', description: 'Opted in' },
      { action: 'activate-segment', segment: 'beta', environment: 'staging' },
      { action: 'upload-keys', segment: 'beta', environment: 'staging', keys: ['a'] },
    ]);
    expect(plan.steps[2]).not.toHaveProperty('before');
  });

  it('shows no description where it has none, and no keys where they are not managed', () => {
    const plan = planFor(beta(undefined), noSegment('beta'));

    expect(plan.changes[0]?.fields.map(({ path }) => path)).toEqual(['/trafficType']);
    expect(plan.changes[1]).not.toHaveProperty('keys');
    expect(plan.steps.map(({ action }) => action)).toEqual(['create-segment', 'activate-segment']);
  });
});

describe('what the service sets at creation only', () => {
  it('is withheld, and the keys are written all the same', () => {
    const plan = planFor({ ...beta(['a']), description: 'New' }, live());

    expect(planLines(plan)).toEqual([
      'update segment/beta@staging (adopt)',
      'withheld update segment/beta: immutable',
    ]);
    expect(plan.withheld[0]).toMatchObject({
      fields: [{ path: '/description', reason: 'conflict', before: '', after: 'New' }],
      because: 'the service sets it when the segment is created',
    });
  });

  it('is no difference where the specs say nothing of it', () => {
    const [name, actual] = liveSegment('beta', {});
    const described = { ...actual.segment, description: 'Theirs' } as Segment;

    const plan = planFor(desiredSegment('beta', {}), [name, { ...actual, segment: described }]);

    expect(plan.withheld).toEqual([]);
    expect(plan.unchanged).toEqual(['segment/beta']);
  });

  it('is no difference where an answer says nothing of it either', () => {
    const [name, actual] = liveSegment('beta', {});
    const silent = { ...actual.segment, description: null } as unknown as Segment;
    const given: Live = [name, { ...actual, segment: silent }];
    const described = { ...desiredSegment('beta', {}), description: 'New' };

    expect(planFor(desiredSegment('beta', {}), given).withheld).toEqual([]);
    expect(planFor(described, given).withheld[0]?.fields).toMatchObject([
      { before: '', after: 'New' },
    ]);
  });

  it('blocks the whole segment where it is the traffic type', () => {
    const plan = planFor({ ...beta(['a']), trafficType: 'account' }, live());

    expect(planLines(plan)).toEqual(['withheld update segment/beta: immutable']);
    expect(plan.withheld[0]?.fields).toEqual([
      { path: '/trafficType', reason: 'conflict', before: 'user', after: 'account' },
    ]);
  });
});

it('the environments of a segment are equal whatever keys others hold there', () => {
  expect(planLines(planFor(beta(['a'], 'external'), live('b')))).toEqual([]);
  expect(planLines(planFor(beta(['a'], 'add-only'), live('a', 'b')))).toEqual([]);
});

describe('why keys differ', () => {
  const reasonOf = (...given: Parameters<typeof planFor>) =>
    planFor(...given).changes.at(-1)?.reason;

  it.each<[string, DesiredSegment, string[], DesiredSegment]>([
    ['commit', beta(['a', 'b']), ['a'], beta(['a'])],
    ['drift', beta(['a']), ['b'], beta(['a'])],
    ['conflict', beta(['a', 'b']), ['c'], beta(['a'])],
    ['commit', beta(['a', 'b'], 'add-only'), ['c'], beta(['a'])],
    ['drift', beta(['a'], 'add-only'), ['c'], beta(['a'])],
    ['commit', beta(['a']), ['b'], beta(undefined)],
  ])('%s: specs, service, base', (reason, segment, keys, base) => {
    expect(reasonOf(segment, live(...keys), { state: found(base) })).toBe(reason);
  });

  it('is that of an interrupted upload, but for keys that others put there', () => {
    const state = segmentState('beta', { staging: { pending: 'create' } });

    expect(reasonOf(beta(['a', 'b']), live('a'), { state })).toBe('commit');
    expect(reasonOf(beta(['a', 'b']), live('c'), { state })).toBe('adopt');
  });

  it('is told of drift where that is only reported', () => {
    const policy = { environments: [anEnvironment('staging', { onDrift: 'report' })] };

    expect(
      planLines(planFor(beta(['a']), live('b'), { state: found(beta(['a'])), policy })),
    ).toEqual(['withheld update segment/beta@staging: drift-reported']);
  });
});

describe('the requests for keys', () => {
  const requests = ({ steps }: Plan): string =>
    steps
      .map((step) => {
        const keys = 'keys' in step ? ` ${step.keys.length}` : '';
        const before = 'before' in step ? ` over ${step.before.length}` : '';
        return step.action.replace('-keys', '') + keys + before;
      })
      .join(', ');
  const planWith = (desired: string[], held: string[]) => planFor(beta(desired), live(...held));

  const old = (count: number): string[] => manyKeys('old', count);

  it.each<[string, string[], string[], string]>([
    ['one list as long as a request may be', manyKeys('user', 10_000), [], 'upload 10000'],
    [
      'the whole list and what was there before, while that fits one request',
      [...old(9_999), 'x'],
      old(9_999),
      'upload 10000 over 9999',
    ],
    ['what comes to a long list', [...old(10_000), 'x'], old(10_000), 'upload 1 over 10000'],
    [
      'at most ten thousand keys each, and in the first one what was there before',
      [...old(1), ...manyKeys('user', 10_001)],
      old(1),
      'upload 10000 over 1, upload 1',
    ],
    ['removals alone where nothing comes', ['a'], ['a', 'b'], 'remove 1'],
    ['all of an emptied list', [], ['a', 'b'], 'remove 2'],
    ['uploads before removals', ['b', 'c'], ['a', 'b'], 'upload 3 over 2, remove 1'],
    [
      'first the removal of exactly what would not fit the segment, and the rest at the end',
      [...old(100_000).slice(3), 'x', 'y'],
      old(100_000),
      'remove 2, upload 2 over 99998, remove 1',
    ],
  ])('carry %s', (_, desired, held, expected) => {
    expect(requests(planWith(desired, held))).toEqual(expected);
  });

  it('carry the keys in their order, each once', () => {
    const held = old(10_000);

    expect(planWith(manyKeys('user', 10_001), []).steps[1]).toMatchObject({ keys: ['user-9999'] });
    expect(planWith([...held, 'x'], held).steps[0]).toMatchObject({ keys: ['x'] });
  });
});
