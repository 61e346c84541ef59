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
import { effectiveFields, plannedKill, type PlannedKill } from './kills.js';
import { withoutBase, type PlanInput } from './plan-input.js';
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
  const rules = environmentRules(input.policy, environment);
  const subject: DraftSubject = {
    ref: { kind: 'flag', name: flag.name, environment: environment.name },
    location: definition.location,
    after: [objectId({ kind: 'flag', name: flag.name, environment: null })],
    uses: usesOf(definition.creation.rules, environment.name),
  };
  const id = objectId(subject.ref);
  const live = actual.definitions.get(environment.name);
  if (live === undefined) throw new Error(`bug: ${id} was not observed`);
  if (live === null) {
    const creation = creationOf(of, input);
    const fields = createdFields(definitionFields(creation, []));
    const held = heldBack({ reason: 'commit' }, rules);
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
  return planUpdate(of, live, subject, input);
}

/** A definition whose kill the break-glass list orders is killed from its first moment on. */
function creationOf(of: DefinitionSubject, { desired }: PlanInput): Required<Definition> {
  const { creation } = of.definition;
  const { killed = creation.killed } = effectiveFields(of, desired);
  return canonicalDefinition({ ...creation, killed }) as Required<Definition>;
}

function planUpdate(
  of: DefinitionSubject,
  live: WireDefinition,
  subject: DraftSubject,
  input: PlanInput,
): Drafted {
  const { flag, definition, environment } = of;
  const id = objectId(subject.ref);
  const kill = plannedKill(of, live.killed, input);
  const differences = definitionDifferences(of, input).filter((each) => each.path !== '/killed');
  const fields = [...kill.changes, ...differences, ...baselineToFollow(of, live, differences)];
  const parted = partFields(subject, fields, environmentRules(input.policy, environment));
  const withheldFields = [...parted.withheld, ...kill.withheld(subject)];
  let { allowed } = parted;
  let target = targetOf(definition, live, allowed, kill);
  const dangling = danglingTreatment(target);
  if (dangling !== undefined) {
    const wayOut = `what stays of the live definition names "${dangling}", which would be no treatment any more`;
    const broken = allowed.filter(({ path }) => path !== '/killed');
    const what = { action: 'update' as const, fields: broken };
    withheldFields.push(withheld(subject, what, { why: 'still-in-use', wayOut }));
    allowed = allowed.filter(({ path }) => path === '/killed');
    target = targetOf(definition, live, allowed, kill);
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

/** The live definition with the allowed changes in it. */
function targetOf(
  definition: DesiredDefinition,
  live: WireDefinition,
  allowed: readonly FieldChange[],
  kill: PlannedKill,
): WireDefinition {
  const { baselineTreatment } = definition.creation;
  const desired = { baselineTreatment, ...canonicalDefinition(definition.fields) };
  const written = writtenFields(desired, definitionFromWire(live), allowed);
  return withFields(live, { ...written, ...kill.written });
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

function definitionDifferences(of: DefinitionSubject, { policy }: PlanInput): FieldChange[] {
  const { definition, actual, entry, environment } = of;
  const live = actual.definitions.get(environment.name);
  if (!live) return [];
  const names = live.treatments.map((treatment) => treatment.name);
  const base = entry?.environments[environment.id]?.spec;
  return threeWay({
    base: base && definitionFields(base, names),
    desired: definitionFields(canonicalDefinition(definition.fields), names),
    actual: definitionFields(definitionFromWire(live), names),
    withoutBase: withoutBase(policy),
  });
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
