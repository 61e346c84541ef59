import type { WireDefinition, WireMatcher, WireTreatment } from '../admin-api/wire.js';
import { keptIn, present } from '../model/collections.js';
import type { Location } from '../model/diagnostic.js';
import { patchOperations } from '../model/flag/wire.js';
import type { Matcher, Rule } from '../model/flag/flag.js';
import { canonicalMatcher, dependencyOf, segmentOf } from '../model/matcher/canonical.js';
import { definitionId, objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import {
  REASONS,
  type Change,
  type FieldChange,
  type Reason,
  type Withheld,
  type StepRequest,
} from '../model/plan.js';
import type { Base } from '../model/state.js';
import { withholdReason, type FieldRules, type WithheldReason } from './policy.js';

/** A change before it is put in order. */
export interface PlannedChange {
  readonly change: Omit<Change, 'dependsOn'>;
  /** In the order in which they are sent. */
  readonly requests: readonly StepRequest[];
  /** Objects that must exist first, if they change as well. */
  readonly after: readonly ObjectId[];
  /** Objects that its rules will name. */
  readonly uses: readonly Use[];
}

export interface ObjectPlan {
  readonly id: ObjectId;
  readonly change?: PlannedChange;
  readonly withheld: readonly Withheld[];
}

export interface ChangeSubject {
  readonly ref: ObjectRef;
  readonly location: Location | null;
  readonly after?: readonly ObjectId[];
  readonly uses?: readonly Use[];
}

/** What is done to an object. */
export type Deed = Pick<Change, 'action' | 'fields' | 'keys' | 'archive'>;

/** Default: the strongest reason of its fields. */
type Reasoned = Deed & Partial<Pick<Change, 'reason'>>;

export function plannedChange(
  subject: ChangeSubject,
  what: Reasoned,
  requests: readonly StepRequest[],
): PlannedChange {
  return {
    change: changeOf(subject, what),
    requests,
    after: subject.after ?? [],
    uses: subject.uses ?? [],
  };
}

export function withheld(subject: ChangeSubject, what: Reasoned, held: WithheldReason): Withheld {
  return { ...changeOf(subject, what), dependsOn: [], ...held };
}

/** An object of which one act is planned, or held back as a whole. @param others parts that are held back anyway. */
export function heldOrPlanned(
  subject: ChangeSubject,
  what: Reasoned,
  held: WithheldReason | undefined,
  requests: () => readonly StepRequest[],
  others: readonly Withheld[] = [],
): ObjectPlan {
  const id = objectId(subject.ref);
  if (held) return { id, withheld: [withheld(subject, what, held), ...others] };
  return { id, withheld: others, change: plannedChange(subject, what, requests()) };
}

export function plannedUpdate(
  subject: ChangeSubject,
  { allowed, withheld: others }: SplitFields,
  requests: (allowed: readonly FieldChange[]) => readonly StepRequest[],
): ObjectPlan {
  if (allowed.length === 0) return { id: objectId(subject.ref), withheld: others };
  const what = { action: 'update' as const, fields: allowed };
  return heldOrPlanned(subject, what, undefined, () => requests(allowed), others);
}

function changeOf({ ref, location }: ChangeSubject, what: Reasoned): Omit<Change, 'dependsOn'> {
  const { action, fields, keys, archive } = what;
  return {
    id: objectId(ref),
    ref,
    action,
    reason: what.reason ?? strongest(fields.map((field) => field.reason)),
    location,
    fields,
    ...present({ keys, archive }),
  };
}

/** Whether the flag's own request includes it. */
export function isCarried({ change: { archive, ref } }: PlannedChange): boolean {
  return archive === true && ref.environment !== null;
}

export interface TreatmentChange {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

const NONE: TreatmentChange = { added: new Set(), removed: new Set() };

export function treatmentChange({ requests }: PlannedChange): TreatmentChange {
  const found = treatmentPatch(requests);
  if (!found) return NONE;
  const before = found.patch.expected.treatments.map(({ name }) => name);
  const names = found.after.map(({ name }) => name);
  return {
    added: new Set(names.filter((name) => !before.includes(name))),
    removed: new Set(before.filter((name) => !names.includes(name))),
  };
}

/** The patch of the treatments of a definition, and the treatments after it. */
function treatmentPatch(requests: readonly StepRequest[]) {
  const patch = requests.find((request) => request.action === 'patch-definition');
  const operation = patch?.operations.find(({ path }) => path === '/treatments');
  return operation && patch && { patch, after: operation.value as readonly WireTreatment[] };
}

/** Splits a patch: the first part adds treatments; the rest follows once no user of the removed ones is left. */
export function expanded(draft: PlannedChange): { expand: StepRequest; contract: StepRequest } {
  const found = treatmentPatch(draft.requests);
  if (!found) throw new Error(`bug: ${draft.change.id} has no treatments to widen`);
  const { patch, after } = found;
  const { added } = treatmentChange(draft);
  const live = patch.expected;
  const expand: WireDefinition = {
    ...live,
    // Their targets come with the second half: until then a key may still be a target of a removed treatment.
    treatments: [
      ...live.treatments,
      ...after.filter(({ name }) => added.has(name)).map(({ keys, ...rest }) => rest),
    ],
  };
  return {
    expand: { ...patch, operations: patchOperations(live, expand) },
    contract: { ...patch, expected: expand },
  };
}

export function strongest(reasons: readonly Reason[]): Reason {
  return REASONS.find((reason) => reasons.includes(reason)) ?? 'commit';
}

export interface SplitFields {
  readonly allowed: readonly FieldChange[];
  readonly withheld: readonly Withheld[];
}

/** @param holdOf takes precedence over the rules. */
export function splitFields(
  subject: ChangeSubject,
  fields: readonly FieldChange[],
  rules: FieldRules,
  base: Base<unknown> | undefined,
  holdOf: (field: FieldChange) => WithheldReason | undefined = () => undefined,
): SplitFields {
  const allowed: FieldChange[] = [];
  const groups = new Map<string, { held: WithheldReason; fields: FieldChange[] }>();
  for (const field of fields) {
    const isShown = (): boolean =>
      rules.shows?.(changeOf(subject, { action: 'update', fields: [field] })) ?? true;
    const held =
      holdOf(field) ??
      withholdReason(field, rules, base?.corrections?.[field.path]) ??
      (isShown() ? undefined : { why: 'not-reviewed' });
    if (!held) {
      allowed.push(field);
      continue;
    }
    // Each contested field has its own times in the message, so it needs its own group.
    const key = `${held.why} ${held.because ?? ''}`;
    const group = keptIn(groups, key, () => ({ held, fields: [] }));
    const isNewRamp = held.why === 'not-reviewed' && field.reason === 'ramp';
    // Steps of a ramp that began need no review, so a commit must have brought this one.
    group.fields.push(isNewRamp ? { ...field, reason: 'commit' } : field);
  }
  return {
    allowed,
    withheld: [...groups.values()].map((group) =>
      withheld(subject, { action: 'update', fields: group.fields }, group.held),
    ),
  };
}

/** An object that a rule names: a segment, or a flag with the treatments that the rule asks for. */
export interface Use {
  readonly id: ObjectId;
  /** Empty for a segment. */
  readonly treatments: readonly string[];
}

/** The objects that the rules of a definition in this environment name, with repetitions. */
export function usesOf(rules: readonly Rule[], environment: string): Use[] {
  return rules.flatMap((rule) => rule.matchers).flatMap((matcher) => useOf(matcher, environment));
}

/** Uses by the service's definition, in rules and as targeted segments. */
export function liveUsesOf(definition: WireDefinition, environment: string): Use[] {
  const matchers = definition.rules.flatMap(({ condition }) => condition.matchers);
  return [
    ...matchers.flatMap((matcher) => useOf(matcher, environment)),
    ...targetedSegments(definition, environment),
  ];
}

/** Segments that are targeted whole: no spec can express this, and flagkeel never removes it. */
export function targetedSegments({ treatments }: WireDefinition, environment: string): Use[] {
  return treatments
    .flatMap(({ segments }) => segments ?? [])
    .map((name) => ({ id: objectId({ kind: 'segment', name, environment }), treatments: [] }));
}

/** Specs may hold raw matchers, and answers older spellings: only the canonical form shows the name reliably. */
function useOf(raw: WireMatcher | Matcher, environment: string): Use[] {
  // Every matcher that names something has one of these types, in any spelling.
  if (raw.type !== 'IN_SEGMENT' && raw.type !== 'IN_SPLIT') return [];
  const matcher = canonicalMatcher(raw);
  const segment = segmentOf(matcher);
  if (segment !== undefined) {
    return [{ id: objectId({ kind: 'segment', name: segment, environment }), treatments: [] }];
  }
  const dependency = dependencyOf(matcher);
  if (!dependency) return [];
  const { flag, treatments } = dependency;
  return [{ id: definitionId({ flag, environment }), treatments }];
}
