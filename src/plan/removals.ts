import { definitionFromWire, flagFieldsFromWire } from '../kinds/flag-wire.js';
import type { Definition } from '../kinds/flag.js';
import { dependencyOf, segmentOf } from '../kinds/matcher.js';
import { NO_KEYS } from '../kinds/key-list.js';
import type { Actual } from '../model/actual.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { Action, FieldChange, KeyChange } from '../model/plan.js';
import type { FlagEntry, SegmentEntry, StateEntry } from '../model/state.js';
import type { StepRequest } from '../model/step.js';
import { draft, withheld, type Drafted, type DraftSubject } from './draft.js';
import { definitionFields, flagFields } from './fields.js';
import type { PlanInput } from './plan-input.js';
import type { WithheldReason } from './policy.js';
import { chunks } from './segments.js';

/** Plans what git used to declare of one object of the inventory and no longer does. */
export function planRemoval(entry: StateEntry, input: PlanInput): Drafted[] {
  return entry.kind === 'flag' ? flagRemoval(entry, input) : segmentRemoval(entry, input);
}

interface Removal {
  readonly ref: ObjectRef;
  readonly action: Action;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  readonly requests: readonly StepRequest[];
  /** Live objects that still use this one and that this plan does not change. */
  readonly users: readonly ObjectId[];
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
        users: usersOfFlag(name, environment.name, input),
        after: [],
      },
      input,
    );
    if (result.draft) gone.push(result.id);
    return [result];
  });
  if (desired || entry.workspace === undefined) return drafted;
  const left = [...actual.definitions]
    .filter(
      ([environment, live]) =>
        live && !gone.includes(objectId({ kind: 'flag', name, environment })),
    )
    .map(([environment]) => environment);
  const wholly = drafting(
    {
      ref: { kind: 'flag', name, environment: null },
      action: 'delete',
      fields: actual.flag ? removedFields(flagFields(flagFieldsFromWire(actual.flag))) : [],
      requests: [{ action: 'delete-flag', flag: name }],
      users: [],
      after: gone,
      held: stillPresent(left, 'has a definition'),
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
        ...usersOfSegment(name, environment.name, input),
      },
      input,
    );
    if (result.draft) gone.push(result.id);
    return [result];
  });
  if (desired || entry.workspace === undefined) return drafted;
  const left = [...actual.environments]
    .filter(
      ([environment, live]) =>
        live.active && !gone.includes(objectId({ kind: 'segment', name, environment })),
    )
    .map(([environment]) => environment);
  const wholly = drafting(
    {
      ref: { kind: 'segment', name, environment: null },
      action: 'delete',
      fields: [{ path: '/trafficType', reason: 'prune', before: actual.segment.trafficType.name }],
      requests: [{ action: 'delete-segment', segment: name }],
      users: [],
      after: gone,
      held: stillPresent(left, 'is active'),
    },
    input,
  );
  return [...drafted, wholly];
}

function stillPresent(environments: readonly string[], what: string): WithheldReason | undefined {
  if (environments.length === 0) return undefined;
  return { why: 'still-in-use', wayOut: `it still ${what} in ${environments.join(', ')}` };
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
  { ref, users, held }: Removal,
  { policy, actual }: PlanInput,
): WithheldReason | undefined {
  if (!policy.prune) {
    return {
      why: 'prune-off',
      wayOut: 'set `prune: true` in flaghoist.yaml or run with --prune to delete it',
    };
  }
  if (policy.suspended)
    return { why: 'suspended', wayOut: 'remove `suspend: true` from flaghoist.yaml' };
  if (!policy.witnessed.has(objectId(ref))) {
    return {
      why: 'no-witness',
      wayOut: 'no ancestor of HEAD declares it; delete it on the service by hand',
    };
  }
  if (held) return held;
  if (actual.allFlags === null && ref.kind === 'segment') {
    return {
      why: 'still-in-use',
      wayOut: 'the service cannot list the flags that may use it; delete it there by hand',
    };
  }
  if (users.length === 0) return undefined;
  return {
    why: 'still-in-use',
    wayOut: `${users.join(', ')} still ${users.length === 1 ? 'uses' : 'use'} it`,
  };
}

function removedFields(fields: ReadonlyMap<string, unknown>): FieldChange[] {
  return [...fields]
    .filter(([path]) => !path.startsWith('/targets/'))
    .map(([path, before]) => ({ path, reason: 'prune', before }));
}

function usersOfFlag(name: string, environment: string, input: PlanInput): ObjectId[] {
  return usersIn(environment, input, (definition) =>
    (definition.rules ?? []).some((rule) =>
      rule.matchers.some((matcher) => dependencyOf(matcher)?.flag === name),
    ),
  ).filter((user) => user !== objectId({ kind: 'flag', name, environment }));
}

function usersOfSegment(
  name: string,
  environment: string,
  input: PlanInput,
): { users: ObjectId[]; after: ObjectId[] } {
  const after = liveUsers(name, environment, input.actual);
  const users = usersIn(environment, input, (definition) =>
    (definition.rules ?? []).some((rule) =>
      rule.matchers.some((matcher) => segmentOf(matcher) === name),
    ),
  );
  return { users, after };
}

/** Definitions whose live rules name the segment: whatever this plan does to them comes first. */
function liveUsers(segment: string, environment: string, actual: Actual): ObjectId[] {
  return [...actual.flags].flatMap(([flag, { definitions }]) => {
    const live = definitions.get(environment);
    const uses = live?.rules.some((rule) =>
      rule.condition.matchers.some(
        (matcher) => matcher.type === 'IN_SEGMENT' && matcher['string'] === segment,
      ),
    );
    return uses ? [objectId({ kind: 'flag', name: flag, environment })] : [];
  });
}

/** Definitions that will still match the question after this plan: by their spec where they have one, else live. */
function usersIn(
  environment: string,
  input: PlanInput,
  uses: (definition: Definition) => boolean,
): ObjectId[] {
  const configName =
    input.policy.environments.find((each) => each.name === environment)?.configName ?? environment;
  return [...input.actual.flags].flatMap(([flag, { definitions }]) => {
    const live = definitions.get(environment);
    if (!live) return [];
    const desired = input.desired.flags.get(flag)?.environments.get(configName)?.fields;
    const removed = input.state.has(`flag/${flag}`) && !input.desired.flags.has(flag);
    if (removed) return [];
    const effective = desired?.rules ? desired : definitionFromWire(live);
    return uses(effective) ? [objectId({ kind: 'flag', name: flag, environment })] : [];
  });
}
