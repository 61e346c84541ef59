import { definitionFromWire, flagFieldsFromWire } from '../kinds/flag-wire.js';
import { NO_KEYS, sameKeys, type KeyList } from '../kinds/key-list.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { Action, FieldChange, KeyChange } from '../model/plan.js';
import type { ActivationBase, FlagEntry, SegmentEntry, StateEntry } from '../model/state.js';
import type { StepRequest } from '../model/step.js';
import { draft, withheld, type Drafted, type DraftSubject } from './draft.js';
import { definitionFields, flagFields } from './fields.js';
import { identitiesRemoval } from './identities.js';
import type { PlanInput } from './plan-input.js';
import type { PlannedEnvironment, WithheldReason } from './policy.js';
import { chunks } from './segments.js';

/** Plans what git used to declare of one object of the inventory and no longer does. */
export function planRemoval(entry: StateEntry, input: PlanInput): Drafted[] {
  if (entry.kind === 'identities') return identitiesRemoval(entry, input);
  const parts = entry.kind === 'flag' ? flagParts(entry, input) : segmentParts(entry, input);
  if (!parts) return [];
  const { kind, name } = entry;
  const desired =
    kind === 'flag' ? input.desired.flags.get(name) : input.desired.segments.get(name);
  const drafted = input.policy.environments.flatMap((environment) => {
    const { selected, id, configName } = environment;
    const isOurs = entry.environments[id] !== undefined;
    if (!selected || !isOurs || desired?.environments.has(configName)) return [];
    const part = parts.placeIn(environment);
    const ref: ObjectRef = { kind, name, environment: environment.name };
    return part ? [drafting({ ref, after: [], ...part }, input)] : [];
  });
  if (desired || entry.workspace === undefined) return drafted;
  const ref: ObjectRef = { kind, name, environment: null };
  const after = drafted.flatMap(({ id, draft: going }) => (going ? [id] : []));
  return [...drafted, drafting({ ref, after, ...parts.whole() }, input)];
}

/** What is written to take an object away, whole or in one place. */
interface Part {
  readonly action: Action;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  readonly requests: readonly StepRequest[];
  readonly held?: WithheldReason | undefined;
}

interface Removal extends Part {
  readonly ref: ObjectRef;
  readonly after: readonly ObjectId[];
}

interface Parts {
  /** Undefined: the service has nothing there. */
  readonly placeIn: (environment: PlannedEnvironment) => Part | undefined;
  readonly whole: () => Part;
}

/** Undefined: the flag is gone. */
function flagParts({ name }: FlagEntry, input: PlanInput): Parts | undefined {
  const actual = input.actual.flags.get(name);
  if (!actual || actual.existence === 'absent') return undefined;
  return {
    placeIn: ({ name: environment }) => {
      const live = actual.definitions.get(environment);
      if (!live) return undefined;
      return {
        action: 'delete',
        fields: removedFields(definitionFields(definitionFromWire(live), [])),
        requests: [{ action: 'delete-definition', flag: name, environment }],
      };
    },
    whole: () => ({
      action: 'delete',
      fields: actual.flag ? removedFields(flagFields(flagFieldsFromWire(actual.flag))) : [],
      requests: [{ action: 'delete-flag', flag: name }],
    }),
  };
}

/** Undefined: the segment is gone. */
function segmentParts({ name, environments }: SegmentEntry, input: PlanInput): Parts | undefined {
  const actual = input.actual.segments.get(name);
  if (!actual?.segment) return undefined;
  const trafficType = actual.segment.trafficType.name;
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
        requests: [
          ...chunks(held).map((keys) => ({ action: 'remove-keys' as const, ...place, keys })),
          { action: 'deactivate-segment', ...place },
        ],
        held: keysOfOthers(live.keys, environments[id]?.spec),
      };
    },
    whole: () => ({
      action: 'delete',
      fields: [{ path: '/trafficType', reason: 'prune', before: trafficType }],
      requests: [{ action: 'delete-segment', segment: name }],
    }),
  };
}

/** What stands in the way of a removal that would take keys of others with it. */
export const KEYS_OF_OTHERS =
  'it holds keys that git did not put there; empty it on the service first';

/** Keys that git never put there go with nobody's word: those of an external segment, and whatever came on top of ours. */
function keysOfOthers(
  live: KeyList | undefined,
  base: ActivationBase | undefined,
): WithheldReason | undefined {
  if (!live || live.keys.length === 0) return undefined;
  if (base?.keys && sameKeys(base.keys, live.digest)) return undefined;
  return { why: 'still-in-use', wayOut: KEYS_OF_OTHERS };
}

/** A removal as a draft, or withheld by the first rule that stands against it. */
function drafting(removal: Removal, input: PlanInput): Drafted {
  const { ref, action, fields, keys, requests, after } = removal;
  const subject: DraftSubject = { ref, location: null, after };
  const what = { action, fields, reason: 'prune' as const, ...(keys && { keys }) };
  const held = removalHeldBack(removal, input);
  const id = objectId(ref);
  if (held) return { id, withheld: [withheld(subject, what, held)] };
  return { id, withheld: [], draft: draft(subject, what, requests) };
}

function removalHeldBack(
  { ref, held }: Removal,
  { policy, actual }: PlanInput,
): WithheldReason | undefined {
  if (!policy.prune) {
    const wayOut = 'set `prune: true` in flaghoist.yaml or run with --prune to delete it';
    return { why: 'prune-off', wayOut };
  }
  if (policy.suspended) {
    return { why: 'suspended', wayOut: 'remove `suspend: true` from flaghoist.yaml' };
  }
  if (!policy.witnessed.has(objectId(ref))) {
    const wayOut = 'no ancestor of HEAD declares it; delete it on the service by hand';
    return { why: 'no-witness', wayOut };
  }
  if (actual.allFlags === null && ref.kind === 'segment') {
    const wayOut = 'the service cannot list the flags that may use it; delete it there by hand';
    return { why: 'still-in-use', wayOut };
  }
  return held;
}

function removedFields(fields: ReadonlyMap<string, unknown>): FieldChange[] {
  return [...fields]
    .filter(([path]) => !path.startsWith('/targets/'))
    .map(([path, before]) => ({ path, reason: 'prune', before }));
}
