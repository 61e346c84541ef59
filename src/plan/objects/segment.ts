import { MAX_KEYS_PER_REQUEST, MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import { sortedSet } from '../../model/json.js';
import { keyDifference, NO_KEYS, sameKeys, type KeyList } from '../../model/segment-keys.js';
import type { ActualActivation, ActualSegment } from '../../model/actual.js';
import type { DesiredActivation, DesiredSegment } from '../../model/desired.js';
import { objectId, type ObjectId } from '../../model/ref.js';
import type { FieldChange, KeyChange, Reason, StepRequest } from '../../model/plan.js';
import { segmentEntry, type ActivationBase, type SegmentEntry } from '../../model/state.js';
import { plannedChange, withheld, type ChangeSubject, type ObjectPlan } from '../planned-change.js';
import { SEGMENT_KEYS, WHOLE_OBJECT } from '../bases/corrections.js';
import { creationReason, withoutBase, type PlanInput } from '../input.js';
import { requestHold } from '../requests.js';
import {
  environmentRules,
  withholdReason,
  workspaceRules,
  type PlannedEnvironment,
  type WithheldReason,
} from '../policy.js';

/** Plans one segment: its workspace level, then each selected environment that the spec names. */
export function planSegment(segment: DesiredSegment, input: PlanInput): ObjectPlan[] {
  const actual = input.actual.segments.get(segment.name);
  if (!actual) throw new Error(`bug: segment "${segment.name}" was not observed`);
  const entry = segmentEntry(input.state, segment.name);
  const level = planWorkspaceLevel(segment, { actual, entry }, input);
  if (level.blocked) return [level.planned];
  return [
    level.planned,
    ...input.policy.environments.flatMap((environment) => {
      const activation = segment.environments.get(environment.name);
      if (!activation || !environment.selected) return [];
      return [planActivation({ segment, activation, actual, entry, environment }, input)];
    }),
  ];
}

function planWorkspaceLevel(
  segment: DesiredSegment,
  { actual, entry }: { actual: ActualSegment; entry: SegmentEntry | undefined },
  input: PlanInput,
): { planned: ObjectPlan; blocked: boolean } {
  const subject: ChangeSubject = {
    ref: { kind: 'segment', name: segment.name, environment: null },
    location: segment.location,
  };
  const id = objectId(subject.ref);
  if (!actual.segment) {
    return { planned: planCreation(segment, entry, subject, input), blocked: false };
  }
  const immutable = immutableFields(segment, actual.segment);
  const held = immutable.map((field) =>
    withheld(
      subject,
      { action: 'update', fields: [field] },
      { why: 'immutable', because: 'the service sets it when the segment is created' },
    ),
  );
  const blocked = immutable.some((field) => field.path === '/trafficType');
  return { planned: { id, withheld: held }, blocked };
}

function planCreation(
  segment: DesiredSegment,
  entry: SegmentEntry | undefined,
  subject: ChangeSubject,
  input: PlanInput,
): ObjectPlan {
  const id = objectId(subject.ref);
  const { name, trafficType, description } = segment;
  const reason = creationReason(entry?.workspace, { trafficType });
  const fields: FieldChange[] = [
    { path: '/trafficType', reason, after: trafficType },
    ...(description === '' ? [] : [{ path: '/description', reason, after: description }]),
  ];
  const corrections = entry?.workspace?.corrections?.[WHOLE_OBJECT];
  const held = withholdReason({ reason }, workspaceRules(input.policy), corrections);
  if (held) return { id, withheld: [withheld(subject, { action: 'create', fields }, held)] };
  return {
    id,
    withheld: [],
    change: plannedChange(subject, { action: 'create', fields }, [
      { action: 'create-segment', segment: name, trafficType, description },
    ]),
  };
}

function immutableFields(
  segment: DesiredSegment,
  live: ActualSegment['segment'] & object,
): FieldChange[] {
  const pairs = [
    { path: '/trafficType', before: live.trafficType.name, after: segment.trafficType },
    { path: '/description', before: live.description ?? '', after: segment.description },
  ];
  return pairs
    .filter(
      ({ path, before, after }) => before !== after && !(path === '/description' && after === ''),
    )
    .map((pair) => ({ ...pair, reason: 'conflict' as const }));
}

interface ActivationSubject {
  readonly segment: DesiredSegment;
  readonly activation: DesiredActivation;
  readonly actual: ActualSegment;
  readonly entry: SegmentEntry | undefined;
  readonly environment: PlannedEnvironment;
}

function planActivation(of: ActivationSubject, input: PlanInput): ObjectPlan {
  const { segment, activation, actual, environment } = of;
  const subject: ChangeSubject = {
    ref: { kind: 'segment', name: segment.name, environment: environment.name },
    location: activation.location,
    after: [objectId({ kind: 'segment', name: segment.name, environment: null })],
  };
  const id = objectId(subject.ref);
  const live = actual.environments.get(environment.name);
  if (!live) throw new Error(`bug: ${id} was not observed`);
  const difference = keysToChange(activation, live);
  if (live.active && !difference) return { id, withheld: [] };
  const base = of.entry?.environments[environment.id];
  const reason = live.active
    ? keysReason(of, live, input, difference)
    : creationReason(base, baseSpec(activation));
  const change = {
    action: live.active ? ('update' as const) : ('activate' as const),
    fields: [],
    reason,
    ...(difference && { keys: difference }),
  };
  const corrections = base?.corrections?.[live.active ? SEGMENT_KEYS : WHOLE_OBJECT];
  const held = activationWithholdReason(id, live, { reason, corrections }, environment, input);
  if (held) return { id, withheld: [withheld(subject, change, held)] };
  const place = { segment: segment.name, environment: environment.name };
  const requests: StepRequest[] = live.active ? [] : [{ action: 'activate-segment', ...place }];
  if (difference) requests.push(...keyRequests(place, difference, live.keys ?? NO_KEYS));
  return { id, withheld: [], change: plannedChange(subject, change, requests) };
}

function activationWithholdReason(
  id: ObjectId,
  live: ActualActivation,
  { reason, corrections }: { reason: Reason; corrections: readonly string[] | undefined },
  environment: PlannedEnvironment,
  input: PlanInput,
): WithheldReason | undefined {
  return (
    requestHold(live, input.actual.requests?.get(id)) ??
    withholdReason({ reason }, environmentRules(input.policy, environment), corrections)
  );
}

/** The base of an activation. */
export function baseSpec({ keys }: DesiredActivation): ActivationBase {
  return keys ? { keys: keys.digest } : {};
}

/** Undefined if no key has to be added or removed. */
function keysToChange(
  { keys, mode }: DesiredActivation,
  live: ActualActivation,
): KeyChange | undefined {
  if (!keys || mode === 'external' || live.assumedKeys) return undefined;
  const held = live.active ? live.keys : NO_KEYS;
  if (!held) throw new Error('bug: the keys of a segment were not listed');
  const { added, removed } = keyDifference(keys.keys, held.keys);
  const dropped = mode === 'add-only' ? [] : removed;
  if (added.length === 0 && dropped.length === 0) return undefined;
  return { added, removed: dropped, sha256: keys.digest.sha256 };
}

function keysReason(
  of: ActivationSubject,
  live: ActualActivation,
  input: PlanInput,
  difference: KeyChange | undefined,
): Reason {
  const { activation, entry, environment } = of;
  const remembered = entry?.environments[environment.id];
  const base: ActivationBase | undefined = remembered?.spec;
  // Without a base, keys may come from an interrupted upload, which is continued; any other keys are foreign.
  if (!base) {
    const isOurs = difference?.removed.length === 0;
    return withoutBase(input.policy, isOurs ? remembered : undefined);
  }
  if (!base.keys || !activation.keys) return 'commit';
  const gitChanged = !sameKeys(base.keys, activation.keys.digest);
  // A change request of ours may have been published.
  const asked = remembered?.request?.asked?.keys;
  const isKnown = [base.keys, asked].some(
    (keys) => keys && live.keys && sameKeys(keys, live.keys.digest),
  );
  const liveChanged = live.keys !== undefined && !isKnown;
  // In this mode other keys in the segment do not count, so they are neither drift nor conflict.
  if (activation.mode === 'add-only') return gitChanged ? 'commit' : 'drift';
  if (gitChanged && liveChanged) return 'conflict';
  return gitChanged ? 'commit' : 'drift';
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
  const whole = held.length > 0 && held.length + added.length <= MAX_KEYS_PER_REQUEST;
  const uploads = whole && added.length > 0 ? sortedSet([...held, ...added]) : added;
  return [
    ...chunks(first).map((keys) => ({ action: 'remove-keys' as const, ...place, keys })),
    ...chunks(uploads).map((keys, index) => ({
      action: 'upload-keys' as const,
      ...place,
      keys,
      ...(index === 0 && held.length > 0 && { before: held }),
    })),
    ...chunks(removed.slice(excess)).map((keys) => ({
      action: 'remove-keys' as const,
      ...place,
      keys,
    })),
  ];
}

export function chunks(keys: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(keys.length / MAX_KEYS_PER_REQUEST);
  return Array.from({ length: count }, (_, index) =>
    keys.slice(index * MAX_KEYS_PER_REQUEST, (index + 1) * MAX_KEYS_PER_REQUEST),
  );
}
