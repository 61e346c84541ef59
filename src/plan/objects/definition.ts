import type { WireBucket, WireDefinition } from '../../admin-api/wire.js';
import type { Definition } from '../../model/flag/flag.js';
import { ownMember } from '../../model/collections.js';
import {
  patchOperations,
  canonicalDefinition,
  definitionBody,
  definitionFromWire,
  withFields,
} from '../../model/flag/wire.js';
import type { ActualFlag } from '../../model/actual.js';
import type { DesiredDefinition, DesiredFlag } from '../../model/desired.js';
import { objectId } from '../../model/ref.js';
import type { FieldChange, Withheld } from '../../model/plan.js';
import type { Base, FlagEntry } from '../../model/state.js';
import {
  plannedChange,
  splitFields,
  withheld,
  type ObjectPlan,
  type ChangeSubject,
} from '../planned-change.js';
import { WHOLE_OBJECT } from '../bases/corrections.js';
import { definitionFields, targetPath, createdFields, threeWay } from '../fields.js';
import { isKillOrdered } from '../kills/orders.js';
import { effectiveFields, plannedRestore, type PlannedRestore } from '../kills/plan.js';
import { creationReason, withoutBase, type PlanInput } from '../input.js';
import { environmentRules, withholdReason, type PlannedEnvironment } from '../policy.js';
import { requestHold } from '../requests.js';
import { baseOfFound } from './flag-base.js';
import { usesOf } from '../order/references.js';

export interface DefinitionSubject {
  readonly flag: DesiredFlag;
  readonly definition: DesiredDefinition;
  readonly actual: ActualFlag;
  readonly entry: FlagEntry | undefined;
  readonly environment: PlannedEnvironment;
}

/** Plans one definition: its creation, or an update of the fields that differ. */
export function planDefinition(of: DefinitionSubject, input: PlanInput): ObjectPlan {
  const { flag, definition, actual, environment } = of;
  const subject: ChangeSubject = {
    ref: { kind: 'flag', name: flag.name, environment: environment.name },
    location: definition.location,
    after: [objectId({ kind: 'flag', name: flag.name, environment: null })],
    uses: usesOf(definition.creation.rules, environment.name),
  };
  const id = objectId(subject.ref);
  const live = actual.definitions.get(environment.name);
  if (live === undefined) throw new Error(`bug: ${id} was not observed`);
  const isKilled = isKillOrdered(input.desired, flag.name, environment.name);
  if (live === null) return planCreation(of, subject, isKilled, input);
  // The kill goes first, in a request of its own.
  return planUpdate(of, isKilled ? { ...live, killed: true } : live, subject, input);
}

/** @param live includes the kill, if one is ordered. */
function planUpdate(
  of: DefinitionSubject,
  live: WireDefinition,
  subject: ChangeSubject,
  input: PlanInput,
): ObjectPlan {
  const { flag, definition, entry, environment } = of;
  const id = objectId(subject.ref);
  const base = baseIn(entry, environment, live);
  const restore = plannedRestore(of, live.killed, input);
  const differences = definitionDifferences(of, live, input);
  const fields = [...restore.changes, ...differences, ...baselineToFollow(of, live, differences)];
  const rules = environmentRules(input.policy, environment);
  const hold = requestHold(live, input.actual.requests?.get(id));
  const parted = splitFields(subject, fields, rules, base, ({ path }) => {
    // A restore passes the change request of another change.
    if (hold !== undefined) return path === '/killed' ? undefined : hold;
    return rules.revertDrift ? undefined : definition.timed?.get(path)?.held;
  });
  const withheldFields = [
    ...parted.withheld,
    ...restore.withheld(subject),
    ...(restore.changes.length === 0 ? takenBack(subject, definition) : []),
  ];
  let { allowed } = parted;
  let target = targetOf(definition, live, allowed, restore);
  const dangling = danglingTreatment(target);
  if (dangling !== undefined) {
    const because = `what stays of the live definition names "${dangling}", which would be no treatment any more`;
    const broken = allowed.filter(({ path }) => path !== '/killed');
    const what = { action: 'update' as const, fields: broken };
    withheldFields.push(withheld(subject, what, { why: 'still-in-use', because }));
    allowed = allowed.filter(({ path }) => path === '/killed');
    target = targetOf(definition, live, allowed, restore);
  }
  if (allowed.length === 0) return { id, withheld: withheldFields };
  const operations = patchOperations(live, target);
  return {
    id,
    withheld: withheldFields,
    change: plannedChange(subject, { action: 'update', fields: allowed }, [
      {
        action: 'patch-definition',
        flag: flag.name,
        environment: environment.name,
        operations,
        expected: live,
      },
    ]),
  };
}

function planCreation(
  of: DefinitionSubject,
  subject: ChangeSubject,
  isKilled: boolean,
  { desired, policy }: PlanInput,
): ObjectPlan {
  const { flag, definition, entry, environment } = of;
  const id = objectId(subject.ref);
  const said = canonicalDefinition(definition.creation) as Required<Definition>;
  // Created killed, so that it never serves what git has ordered off.
  const creation = isKilled ? { ...said, killed: true } : said;
  const wanted = effectiveFields(of, desired);
  const base = entry?.environments[environment.id];
  const reason = creationReason(base, wanted);
  const fields = createdFields(definitionFields(creation, []), reason);
  const rules = environmentRules(policy, environment);
  const held = withholdReason({ reason }, rules, base?.corrections?.[WHOLE_OBJECT]);
  if (held) return { id, withheld: [withheld(subject, { action: 'create', fields }, held)] };
  const body = definitionBody(creation);
  return {
    id,
    withheld: [],
    change: plannedChange(subject, { action: 'create', fields }, [
      { action: 'create-definition', flag: flag.name, environment: environment.name, body },
    ]),
  };
}

/** The steps that git orders after a failed check took their ramps back. */
function takenBack(subject: ChangeSubject, { fields, timed }: DesiredDefinition): Withheld[] {
  return [...(timed ?? [])].flatMap(([path, { waits }]) => {
    if (waits === undefined) return [];
    const before = definitionFields(canonicalDefinition(fields), []).get(path);
    const field = { path, reason: 'ramp' as const, before, after: waits.for };
    const held = { why: 'check-failed' as const, because: waits.because };
    return [withheld(subject, { action: 'update', fields: [field] }, held)];
  });
}

/** The base of a definition that exists. */
function baseIn(
  entry: FlagEntry | undefined,
  { id }: PlannedEnvironment,
  live: WireDefinition,
): Base<Definition> | undefined {
  const base = entry?.environments[id];
  return base && baseOfFound(base, live);
}

/** The live definition after the allowed changes. */
function targetOf(
  definition: DesiredDefinition,
  live: WireDefinition,
  allowed: readonly FieldChange[],
  restore: PlannedRestore,
): WireDefinition {
  const { baselineTreatment } = definition.creation;
  const desired = { baselineTreatment, ...canonicalDefinition(definition.fields) };
  const written = writtenFields(desired, definitionFromWire(live), allowed);
  const isRestored = allowed.some(({ path }) => path === '/killed');
  const target = withFields(live, { ...written, ...(isRestored && restore.written) });
  return written.treatments ? withoutBucketsOfNothing(target, definition.fields) : target;
}

/**
 * Live buckets of size 0 do not count as a difference and stay while unmanaged, but they must not name a treatment that
 * is removed.
 */
function withoutBucketsOfNothing(target: WireDefinition, managed: Definition): WireDefinition {
  const names = new Set(target.treatments.map(({ name }) => name));
  const isLeft = ({ treatment, size }: WireBucket): boolean => size !== 0 || names.has(treatment);
  const { rules, defaultRule } = target;
  return {
    ...target,
    ...(managed.defaultRule && { defaultRule: defaultRule.filter(isLeft) }),
    ...(managed.rules && {
      rules: rules.map((each) => ({ ...each, buckets: each.buckets.filter(isLeft) })),
    }),
  };
}

/**
 * A baseline that git does not manage stays, unless its treatment is removed: then the service would refuse the
 * definition at every run.
 */
function baselineToFollow(
  { definition: { fields, creation } }: DefinitionSubject,
  live: WireDefinition,
  differences: readonly FieldChange[],
): FieldChange[] {
  const treatments = differences.find(({ path }) => path === '/treatments');
  const isSaid = fields.baselineTreatment !== undefined;
  const stays = fields.treatments?.some(({ name }) => name === live.baselineTreatment) ?? true;
  if (!treatments || isSaid || stays) return [];
  const { reason } = treatments;
  const [before, after] = [live.baselineTreatment, creation.baselineTreatment];
  return [{ path: '/baselineTreatment', reason, before, after }];
}

/** A treatment that the definition serves or names but does not have. */
function danglingTreatment(definition: WireDefinition): string | undefined {
  const { treatments, rules, defaultRule, defaultTreatment, baselineTreatment } = definition;
  const names = new Set(treatments.map(({ name }) => name));
  const served = [...rules.map(({ buckets }) => buckets), defaultRule].flat();
  const named = [defaultTreatment, baselineTreatment, ...served.map((each) => each.treatment)];
  return named.find((name) => !names.has(name));
}

/** Leaves out the kill, which has rules of its own. */
function definitionDifferences(
  { definition, entry, environment }: DefinitionSubject,
  live: WireDefinition,
  { policy }: PlanInput,
): FieldChange[] {
  const names = live.treatments.map((treatment) => treatment.name);
  const base = baseIn(entry, environment, live);
  // Earlier versions may have stored the base in an older form.
  const baseFields = base?.spec && definitionFields(canonicalDefinition(base.spec), names);
  return threeWay({
    base: baseFields,
    desired: definitionFields(canonicalDefinition(definition.fields), names),
    actual: definitionFields(definitionFromWire(live), names),
    withoutBase: withoutBase(policy, base),
  })
    .filter(({ path }) => path !== '/killed')
    .map((each) => ({ ...each, reason: definition.timed?.get(each.path)?.reason ?? each.reason }));
}

/**
 * The part of the desired form that the allowed changes write. All targets travel in one list of treatments; those of a
 * treatment whose change is held back keep their live value.
 */
function writtenFields(
  desired: Definition,
  live: Definition,
  changes: readonly FieldChange[],
): Definition {
  const paths = new Set(changes.map((change) => change.path));
  const names = new Set(changes.map((change) => change.path.split('/')[1]));
  const written: Definition = Object.fromEntries(
    Object.entries(desired).filter(([name]) => names.has(name)),
  );
  if (!written.targets) return written;
  const treatments = new Set([...Object.keys(written.targets), ...Object.keys(live.targets ?? {})]);
  const targets = [...treatments].map((name) => {
    const side = paths.has(targetPath(name)) ? written : live;
    return [name, ownMember(side.targets, name) ?? []] as const;
  });
  return { ...written, targets: Object.fromEntries(targets) };
}
