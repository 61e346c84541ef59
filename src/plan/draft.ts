import type { Location } from '../model/diagnostic.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import {
  REASONS,
  type Action,
  type Change,
  type FieldChange,
  type KeyChange,
  type Reason,
  type Withheld,
} from '../model/plan.js';
import type { StepRequest } from '../model/step.js';
import { heldBack, type FieldRules, type WithheldReason } from './policy.js';
import type { Use } from './uses.js';

/** A change before it is put in order. */
export interface Draft {
  readonly change: Omit<Change, 'dependsOn'>;
  /** In the order in which they are sent. */
  readonly requests: readonly StepRequest[];
  /** Objects that must be there first, if they change as well. */
  readonly after: readonly ObjectId[];
  /** What its rules will name. */
  readonly uses: readonly Use[];
}

/** What planning one object gives. */
export interface Drafted {
  readonly id: ObjectId;
  readonly draft?: Draft;
  readonly withheld: readonly Withheld[];
}

export interface DraftSubject {
  readonly ref: ObjectRef;
  readonly location: Location | null;
  readonly after?: readonly ObjectId[];
  readonly uses?: readonly Use[];
}

export function draft(
  subject: DraftSubject,
  what: { action: Action; fields: readonly FieldChange[]; keys?: KeyChange; reason?: Reason },
  requests: readonly StepRequest[],
): Draft {
  return {
    change: changeOf(subject, what),
    requests,
    after: subject.after ?? [],
    uses: subject.uses ?? [],
  };
}

export function withheld(
  subject: DraftSubject,
  what: { action: Action; fields: readonly FieldChange[]; keys?: KeyChange; reason?: Reason },
  held: WithheldReason,
): Withheld {
  return { ...changeOf(subject, what), dependsOn: [], ...held };
}

function changeOf(
  { ref, location }: DraftSubject,
  what: { action: Action; fields: readonly FieldChange[]; keys?: KeyChange; reason?: Reason },
): Omit<Change, 'dependsOn'> {
  const { action, fields, keys } = what;
  return {
    id: objectId(ref),
    ref,
    action,
    reason: what.reason ?? strongest(fields.map((field) => field.reason)),
    location,
    fields,
    ...(keys && { keys }),
  };
}

export function isCreation({ change }: Draft): boolean {
  return change.action === 'create' || change.action === 'activate';
}

export function isRemoval({ change }: Draft): boolean {
  return change.action === 'delete' || change.action === 'deactivate';
}

export function strongest(reasons: readonly Reason[]): Reason {
  return REASONS.find((reason) => reasons.includes(reason)) ?? 'commit';
}

/** Parts the differences of one object into those that will be written and those that are held back, by why. */
export function partFields(
  subject: DraftSubject,
  fields: readonly FieldChange[],
  rules: FieldRules,
): { allowed: FieldChange[]; withheld: Withheld[] } {
  const allowed: FieldChange[] = [];
  const groups = new Map<string, { held: WithheldReason; fields: FieldChange[] }>();
  for (const field of fields) {
    const held = heldBack(field, rules);
    if (!held) {
      allowed.push(field);
      continue;
    }
    const group = groups.get(held.why) ?? { held, fields: [] };
    group.fields.push(field);
    groups.set(held.why, group);
  }
  return {
    allowed,
    withheld: [...groups.values()].map((group) =>
      withheld(subject, { action: 'update', fields: group.fields }, group.held),
    ),
  };
}
