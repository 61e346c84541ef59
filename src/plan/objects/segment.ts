import { posix } from 'node:path';
import { MAX_KEYS_PER_REQUEST, MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import type { ActualActivation, ActualSegment } from '../../model/actual.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { DesiredActivation, DesiredSegment } from '../../model/desired.js';
import { sortedSet } from '../../model/json.js';
import type { KeyChange, Reason, StepRequest } from '../../model/plan.js';
import { objectId } from '../../model/ref.js';
import {
  chunks,
  keyDifference,
  NO_KEYS,
  sameKeys,
  type KeyList,
} from '../../model/segment-keys.js';
import { entryOf, type ActivationBase, type Base, type SegmentBase } from '../../model/state.js';
import { reasonOfChange } from '../fields.js';
import { creationReason, withoutBase, type PlanInput } from '../input.js';
import type { PlacedName } from '../place.js';
import { heldOrPlanned, type ObjectPlan } from '../planned-change.js';
import {
  withholdReason,
  type PlannedEnvironment,
  type PlanPolicy,
  type WithheldReason,
  SEGMENT_KEYS,
  WHOLE_OBJECT,
} from '../policy.js';
import { requestHold } from '../requests.js';
import { immutable, planCreation, planDeclared, type PlacedObject } from './placed-object.js';
import type { Parts, PlannedKind } from './planned-kind.js';

export const SEGMENT_KIND: PlannedKind = {
  plan: (input) => {
    const levels = { workspace: planWorkspaceLevel, environment: planActivation };
    return planDeclared('segment', input.desired.segments, levels, input);
  },
  fingerprint: ({ segments }, { name, environment }) => {
    const segment = segments.get(name);
    if (!segment || environment === null) {
      return segment && { trafficType: segment.trafficType, description: segment.description };
    }
    const activation = segment.environments.get(environment);
    return activation && { mode: activation.mode, keys: activation.keys?.digest ?? null };
  },
  fieldsOf: null,
  files: {
    isOwn: (path, { name }) => {
      if (!path.startsWith('segments/')) return false;
      const file = posix.basename(path);
      return file === `${name}.yaml` || (file.startsWith(`${name}.`) && file.endsWith('.keys'));
    },
    // Several segments may share a key file, whatever its name.
    mayShape: (path) => path.endsWith('.keys'),
  },
  reaches: 'by-keys',
  observed: {
    parts: segmentParts,
    spec: segmentSpec,
    seen: ({ segments }, name) => {
      const found = segments.get(name);
      return (
        found && {
          existence: found.segment ? 'present' : 'absent',
          places: new Map([...found.environments].map(([place, { active }]) => [place, active])),
        }
      );
    },
  },
};

/** The workspace level of a segment is only ever created. */
function planWorkspaceLevel(
  segment: DesiredSegment,
  placed: PlacedObject,
  input: PlanInput,
): ObjectPlan {
  const { name, trafficType, description } = segment;
  const { segment: live } = observedSegment(segment, input);
  if (!live) {
    const described = description === '' ? [] : [['/description', description] as const];
    const fields = new Map([['/trafficType', trafficType], ...described]);
    return planCreation(placed, { spec: { trafficType }, fields }, () => [
      { action: 'create-segment', segment: name, trafficType, description },
    ]);
  }
  const before = live.description ?? '';
  const differences = [
    { path: '/trafficType', before: live.trafficType.name, after: trafficType },
    { path: '/description', before, after: description === '' ? before : description },
  ];
  const because = 'the service sets it when the segment is created';
  return { id: objectId(placed.ref), withheld: immutable(placed, differences, because) };
}

function observedSegment({ name }: DesiredSegment, { actual }: PlanInput): ActualSegment {
  const found = actual.segments.get(name);
  if (!found) throw new Error(`bug: segment "${name}" was not observed`);
  return found;
}

function planActivation(
  segment: DesiredSegment,
  placed: PlacedObject & { readonly environment: PlannedEnvironment },
  input: PlanInput,
): ObjectPlan | undefined {
  const { base, rules, environment } = placed;
  const id = objectId(placed.ref);
  const activation = segment.environments.get(environment.name);
  if (!activation) return undefined;
  const live = observedSegment(segment, input).environments.get(environment.name);
  if (!live) throw new Error(`bug: ${id} was not observed`);
  const keys = keysToChange(activation, live);
  if (live.active && !keys) return { id, withheld: [] };
  const known = base as Base<ActivationBase> | undefined;
  const reason = live.active
    ? keysReason(activation, known, live, keys, input.policy)
    : creationReason(known, baseSpec(activation));
  const action = live.active ? ('update' as const) : ('activate' as const);
  const corrections = base?.corrections?.[live.active ? SEGMENT_KEYS : WHOLE_OBJECT];
  const held =
    requestHold(live, input.actual.requests?.get(id)) ??
    withholdReason({ reason }, rules, corrections);
  const place = { segment: segment.name, environment: environment.name };
  return heldOrPlanned(placed, { action, fields: [], reason, ...(keys && { keys }) }, held, () => [
    ...(live.active ? [] : [{ action: 'activate-segment' as const, ...place }]),
    ...(keys ? keyRequests(place, keys, live.keys ?? NO_KEYS) : []),
  ]);
}

function baseSpec({ keys }: DesiredActivation): ActivationBase {
  return keys ? { keys: keys.digest } : {};
}

/** Undefined if no key has to be added or removed. */
function keysToChange(wanted: DesiredActivation, live: ActualActivation): KeyChange | undefined {
  const { keys, mode } = wanted;
  if (!keys || mode === 'external' || live.assumedKeys) return undefined;
  const held = live.active ? live.keys : NO_KEYS;
  if (!held) throw new Error('bug: the keys of a segment were not listed');
  const { added, removed } = keyDifference(keys.keys, held.keys);
  const dropped = mode === 'add-only' ? [] : removed;
  if (added.length === 0 && dropped.length === 0) return undefined;
  return { added, removed: dropped, sha256: keys.digest.sha256 };
}

function keysReason(
  { mode, keys }: DesiredActivation,
  base: Base<ActivationBase> | undefined,
  live: ActualActivation,
  difference: KeyChange | undefined,
  policy: PlanPolicy,
): Reason {
  // Without a base, keys may come from an interrupted upload, which is continued; any other keys are foreign.
  if (!base?.spec) return withoutBase(policy, difference?.removed.length === 0 ? base : undefined);
  const { keys: last } = base.spec;
  if (!last || !keys) return 'commit';
  // A change request of ours may have been published.
  const known = [last, base.request?.asked?.keys];
  const isKnown = known.some((each) => each && live.keys && sameKeys(each, live.keys.digest));
  // In the mode `add-only` other keys in the segment do not count.
  const liveChanged = mode !== 'add-only' && !isKnown;
  return reasonOfChange({ git: !sameKeys(last, keys.digest), live: liveChanged });
}

/**
 * Uploads before removals, in chunks that the service accepts; removals go first only where the segment would exceed
 * its size limit. The contract can be read as "an upload replaces" and as "an upload appends". If the segment already
 * has keys and its list during the change fits one request, the first upload carries the whole list, which is right
 * under both readings.
 */
function keyRequests(
  place: { segment: string; environment: string },
  { added, removed }: KeyChange,
  live: KeyList,
): StepRequest[] {
  const excess = Math.max(0, live.keys.length + added.length - MAX_KEYS_PER_SEGMENT);
  const first = removed.slice(0, excess);
  const held = keyDifference(live.keys, first).added;
  const whole = held.length + added.length <= MAX_KEYS_PER_REQUEST;
  const uploads = whole && added.length > 0 ? sortedSet([...held, ...added]) : added;
  return [
    ...keyRemovals(place, first),
    ...chunks(uploads).map((keys, index) => ({
      action: 'upload-keys' as const,
      ...place,
      keys,
      ...(index === 0 && held.length > 0 && { before: held }),
    })),
    ...keyRemovals(place, removed.slice(excess)),
  ];
}

function keyRemovals(
  place: { segment: string; environment: string },
  keys: readonly string[],
): StepRequest[] {
  return chunks(keys).map((each) => ({ action: 'remove-keys', ...place, keys: each }));
}

function segmentSpec(
  { segments }: BoundDesired,
  { name, environment }: PlacedName,
): SegmentBase | ActivationBase | undefined {
  const segment = segments.get(name);
  if (environment === null) return segment && { trafficType: segment.trafficType };
  const activation = segment?.environments.get(environment);
  return activation && baseSpec(activation);
}

function segmentParts(name: string, input: PlanInput): Parts | undefined {
  const actual = input.actual.segments.get(name);
  if (!actual?.segment) return undefined;
  const entry = entryOf(input.state, 'segment', name);
  const trafficType = actual.segment.trafficType.name;
  const unseenUsers = input.actual.allFlags === null ? UNSEEN_USERS : undefined;
  return {
    placeIn: ({ name: environment, id }) => {
      const live = actual.environments.get(environment);
      if (!live?.active) return undefined;
      const place = { segment: name, environment };
      const held = live.keys?.keys ?? [];
      return {
        action: 'deactivate',
        fields: [],
        keys: { added: [], removed: held, sha256: NO_KEYS.digest.sha256 },
        requests: [...keyRemovals(place, held), { action: 'deactivate-segment', ...place }],
        held: unseenUsers ?? keysOfOthers(live.keys, entry?.environments[id]?.spec),
      };
    },
    whole: () => ({
      action: 'delete',
      fields: [{ path: '/trafficType', reason: 'prune', before: trafficType }],
      requests: [{ action: 'delete-segment', segment: name }],
      held: unseenUsers,
    }),
  };
}

const UNSEEN_USERS: WithheldReason = {
  why: 'still-in-use',
  because: 'the service cannot list the flags that may use it; delete it there by hand',
};

export const KEYS_OF_OTHERS =
  'it holds keys that git did not put there; empty it on the service first';

/** Git may not delete keys that it never wrote: those of an external segment, and keys added to ours. */
function keysOfOthers(
  live: KeyList | undefined,
  base: ActivationBase | undefined,
): WithheldReason | undefined {
  if (!live || live.keys.length === 0) return undefined;
  if (base?.keys && sameKeys(base.keys, live.digest)) return undefined;
  return { why: 'still-in-use', because: KEYS_OF_OTHERS };
}
