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
import { effectiveFields, plannedRestore } from './kills.js';
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
  const isKilled = isKillOrdered(input.desired, flag.name, environment.configName);
  if (live === null) return planCreation(of, subject, isKilled, input);
  const restore = plannedRestore(of, live.killed, input);
  const differences = definitionDifferences(of, input).filter((each) => each.path !== '/killed');
  const parted = partFields(subject, [...restore.changes, ...differences], rules);
  const held = [...parted.withheld, ...restore.withheld(subject)];
  if (parted.allowed.length === 0) return { id, withheld: held };
  const written = writtenFields(
    canonicalDefinition(definition.fields),
    definitionFromWire(live),
    parted.allowed,
  );
  const isRestored = parted.allowed.some(({ path }) => path === '/killed');
  // The kill goes first, in a request of its own.
  const expected = isKilled ? { ...live, killed: true } : live;
  const wanted = { ...written, ...(isRestored && restore.written) };
  const operations = patchOperations(expected, withFields(expected, wanted));
  return {
    id,
    withheld: held,
    draft: draft(subject, { action: 'update', fields: parted.allowed }, [
      {
        action: 'patch-definition',
        flag: flag.name,
        environment: environment.name,
        operations,
        expected,
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
    withoutBase: withoutBase(policy, entry?.environments[environment.id]),
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
