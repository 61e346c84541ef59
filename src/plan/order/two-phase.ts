import type { WireDefinition, WireTreatment } from '../../admin-api/wire.js';
import { patchOperations } from '../../model/flag/wire.js';
import type { StepRequest } from '../../model/plan.js';
import type { PlannedChange } from '../planned-change.js';

/** Names of treatments that a patch adds and removes. */
export interface TreatmentChange {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

const NONE: TreatmentChange = { added: new Set(), removed: new Set() };

export function treatmentChange({ requests }: PlannedChange): TreatmentChange {
  const patch = definitionPatch(requests);
  const after = patch && treatmentsAfter(patch);
  if (!after) return NONE;
  const before = patch.expected.treatments.map(({ name }) => name);
  const names = after.map(({ name }) => name);
  return {
    added: new Set(names.filter((name) => !before.includes(name))),
    removed: new Set(before.filter((name) => !names.includes(name))),
  };
}

type DefinitionPatch = Extract<StepRequest, { action: 'patch-definition' }>;

function definitionPatch(requests: readonly StepRequest[]): DefinitionPatch | undefined {
  return requests.find((request) => request.action === 'patch-definition');
}

function treatmentsAfter({ operations }: DefinitionPatch): readonly WireTreatment[] | undefined {
  const operation = operations.find(({ path }) => path === '/treatments');
  return operation?.value as readonly WireTreatment[] | undefined;
}

/**
 * Splits a patch in two: the first part adds treatments; the rest follows once no user of the removed treatments is
 * left. The second part is computed against the definition as the first leaves it.
 */
export function expanded(draft: PlannedChange): { expand: StepRequest; contract: StepRequest } {
  const patch = definitionPatch(draft.requests);
  const after = patch && treatmentsAfter(patch);
  if (!after) throw new Error(`bug: ${draft.change.id} has no treatments to widen`);
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
