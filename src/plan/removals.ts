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
import type { WithheldReason } from './policy.js';
import { chunks } from './segments.js';

/** Plans what git used to declare of one object of the inventory and no longer does. */
export function planRemoval(entry: StateEntry, input: PlanInput): Drafted[] {
  switch (entry.kind) {
    case 'flag':
      return flagRemoval(entry, input);
    case 'segment':
      return segmentRemoval(entry, input);
    case 'identities':
      return identitiesRemoval(entry, input);
  }
}

interface Removal {
  readonly ref: ObjectRef;
  readonly action: Action;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  readonly requests: readonly StepRequest[];
  readonly after: readonly ObjectId[];
  readonly held?: WithheldReason | undefined;
}

function flagRemoval(entry: FlagEntry, input: PlanInput): Drafted[] {
  const { name } = entry;
  const actual = input.actual.flags.get(name);
  if (!actual || actual.existence === 'absent') return [];
  const desired = input.desired.flags.get(name);
  const gone: ObjectId[] = [];
  const drafted = input.policy.environments.flatMap((environment) => {
    const live = actual.definitions.get(environment.name);
    const ours = entry.environments[environment.id] !== undefined;
    if (
      !environment.selected ||
      !ours ||
      !live ||
      desired?.environments.has(environment.configName)
    )
      return [];
    const ref: ObjectRef = { kind: 'flag', name, environment: environment.name };
    const result = drafting(
      {
        ref,
        action: 'delete',
        fields: removedFields(definitionFields(definitionFromWire(live), [])),
        requests: [{ action: 'delete-definition', flag: name, environment: environment.name }],
        after: [],
      },
      input,
    );
    if (result.draft) gone.push(result.id);
    return [result];
  });
  if (desired || entry.workspace === undefined) return drafted;
  const wholly = drafting(
    {
      ref: { kind: 'flag', name, environment: null },
      action: 'delete',
      fields: actual.flag ? removedFields(flagFields(flagFieldsFromWire(actual.flag))) : [],
      requests: [{ action: 'delete-flag', flag: name }],
      after: gone,
    },
    input,
  );
  return [...drafted, wholly];
}

function segmentRemoval(entry: SegmentEntry, input: PlanInput): Drafted[] {
  const { name } = entry;
  const actual = input.actual.segments.get(name);
  if (!actual?.segment) return [];
  const desired = input.desired.segments.get(name);
  const gone: ObjectId[] = [];
  const drafted = input.policy.environments.flatMap((environment) => {
    const live = actual.environments.get(environment.name);
    const ours = entry.environments[environment.id] !== undefined;
    if (
      !environment.selected ||
      !ours ||
      !live?.active ||
      desired?.environments.has(environment.configName)
    ) {
      return [];
    }
    const place = { segment: name, environment: environment.name };
    const held = live.keys?.keys ?? [];
    const result = drafting(
      {
        ref: { kind: 'segment', name, environment: environment.name },
        action: 'deactivate',
        fields: [],
        keys: { added: [], removed: held, sha256: NO_KEYS.digest.sha256 },
        requests: [
          ...chunks(held).map((keys) => ({ action: 'remove-keys' as const, ...place, keys })),
          { action: 'deactivate-segment', ...place },
        ],
        after: [],
        held: keysOfOthers(live.keys, entry.environments[environment.id]?.spec),
      },
      input,
    );
    if (result.draft) gone.push(result.id);
    return [result];
  });
  if (desired || entry.workspace === undefined) return drafted;
  const wholly = drafting(
    {
      ref: { kind: 'segment', name, environment: null },
      action: 'delete',
      fields: [{ path: '/trafficType', reason: 'prune', before: actual.segment.trafficType.name }],
      requests: [{ action: 'delete-segment', segment: name }],
      after: gone,
    },
    input,
  );
  return [...drafted, wholly];
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
