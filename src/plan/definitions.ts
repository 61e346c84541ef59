import type { WireDefinition } from '../api/wire.js';
import type { Definition } from '../kinds/flag.js';
import { patchOperations } from '../kinds/flag-patch.js';
import {
  canonicalDefinition,
  definitionBody,
  definitionFromWire,
  withFields,
} from '../kinds/flag-wire.js';
import type { ActualFlag } from '../model/actual.js';
import type { DesiredDefinition, DesiredFlag } from '../model/desired.js';
import { objectId } from '../model/object-id.js';
import type { FieldChange } from '../model/plan.js';
import type { FlagEntry } from '../model/state.js';
import { draft, partFields, withheld, type Drafted, type DraftSubject } from './draft.js';
import { definitionFields, targetPath } from './fields.js';
import { isKillOrdered } from './kill-orders.js';
import { effectiveFields, plannedRestore, type PlannedRestore } from './kills.js';
import { creationReason, withoutBase, type PlanInput } from './plan-input.js';
import { environmentRules, heldBack, type PlannedEnvironment } from './policy.js';
import { createdFields, threeWay } from './three-way.js';
import { usesOf } from './uses.js';

export interface DefinitionSubject {
  readonly flag: DesiredFlag;
  readonly definition: DesiredDefinition;
  readonly actual: ActualFlag;
  readonly entry: FlagEntry | undefined;
  readonly environment: PlannedEnvironment;
}

/** Plans one definition: its creation, or the fields on which the service is not what the spec wants. */
export function planDefinition(of: DefinitionSubject, input: PlanInput): Drafted {
  const { flag, definition, actual, environment } = of;
  const subject: DraftSubject = {
    ref: { kind: 'flag', name: flag.name, environment: environment.name },
    location: definition.location,
    after: [objectId({ kind: 'flag', name: flag.name, environment: null })],
    uses: usesOf(definition.creation.rules, environment.name),
  };
  const id = objectId(subject.ref);
  const live = actual.definitions.get(environment.name);
  if (live === undefined) throw new Error(`bug: ${id} was not observed`);
  const isKilled = isKillOrdered(input.desired, flag.name, environment.configName);
  if (live === null) return planCreation(of, subject, isKilled, input);
  // The kill goes first, in a request of its own.
  return planUpdate(of, isKilled ? { ...live, killed: true } : live, subject, input);
}

/** @param live as the kill, if one is ordered, leaves it. */
function planUpdate(
  of: DefinitionSubject,
  live: WireDefinition,
  subject: DraftSubject,
  input: PlanInput,
): Drafted {
  const { flag, definition, environment } = of;
  const id = objectId(subject.ref);
  const restore = plannedRestore(of, live.killed, input);
  const differences = definitionDifferences(of, live, input);
  const fields = [...restore.changes, ...differences, ...baselineToFollow(of, live, differences)];
  const parted = partFields(subject, fields, environmentRules(input.policy, environment));
  const withheldFields = [...parted.withheld, ...restore.withheld(subject)];
  let { allowed } = parted;
  let target = targetOf(definition, live, allowed, restore);
  const dangling = danglingTreatment(target);
  if (dangling !== undefined) {
    const wayOut = `what stays of the live definition names "${dangling}", which would be no treatment any more`;
    const broken = allowed.filter(({ path }) => path !== '/killed');
    const what = { action: 'update' as const, fields: broken };
    withheldFields.push(withheld(subject, what, { why: 'still-in-use', wayOut }));
    allowed = allowed.filter(({ path }) => path === '/killed');
    target = targetOf(definition, live, allowed, restore);
  }
  if (allowed.length === 0) return { id, withheld: withheldFields };
  const operations = patchOperations(live, target);
  return {
    id,
    withheld: withheldFields,
    draft: draft(subject, { action: 'update', fields: allowed }, [
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
  subject: DraftSubject,
  isKilled: boolean,
  { desired, policy }: PlanInput,
): Drafted {
  const { flag, definition, entry, environment } = of;
  const id = objectId(subject.ref);
  const said = canonicalDefinition(definition.creation) as Required<Definition>;
  // Made killed: there is no moment in which it serves what somebody has ordered off.
  const creation = isKilled ? { ...said, killed: true } : said;
  const wanted = effectiveFields(of, desired);
  const reason = creationReason(entry?.environments[environment.id], wanted);
  const fields = createdFields(definitionFields(creation, []), reason);
  const held = heldBack({ reason }, environmentRules(policy, environment));
  if (held) return { id, withheld: [withheld(subject, { action: 'create', fields }, held)] };
  const body = definitionBody(creation);
  return {
    id,
    withheld: [],
    draft: draft(subject, { action: 'create', fields }, [
      { action: 'create-definition', flag: flag.name, environment: environment.name, body },
    ]),
  };
}

/** The live definition with the allowed changes in it. */
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
  return withFields(live, { ...written, ...(isRestored && restore.written) });
}

/**
 * A baseline that the spec does not name stays as it is, but not when its treatment goes: the service would refuse a
 * definition whose baseline is none of its treatments, at every run.
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

/** A treatment that something in the definition serves or names, and that it does not have. */
function danglingTreatment(definition: WireDefinition): string | undefined {
  const { treatments, rules, defaultRule, defaultTreatment, baselineTreatment } = definition;
  const names = new Set(treatments.map(({ name }) => name));
  const served = [...rules.map(({ buckets }) => buckets), defaultRule].flat();
  const named = [defaultTreatment, baselineTreatment, ...served.map((each) => each.treatment)];
  return named.find((name) => !names.has(name));
}

/** All but the kill, which has rules of its own. */
function definitionDifferences(
  { definition, entry, environment }: DefinitionSubject,
  live: WireDefinition,
  { policy }: PlanInput,
): FieldChange[] {
  const names = live.treatments.map((treatment) => treatment.name);
  const base = entry?.environments[environment.id];
  return threeWay({
    base: base?.spec && definitionFields(base.spec, names),
    desired: definitionFields(canonicalDefinition(definition.fields), names),
    actual: definitionFields(definitionFromWire(live), names),
    withoutBase: withoutBase(policy, base),
  }).filter(({ path }) => path !== '/killed');
}

/**
 * The part of the desired form that the allowed changes write. The targets of a treatment whose change is held back
 * stay as they are live, though all targets travel in one list of treatments.
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
    return [name, side.targets?.[name] ?? []] as const;
  });
  return { ...written, targets: Object.fromEntries(targets) };
}
