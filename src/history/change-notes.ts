import type { Checkout } from '../git/checkout.js';
import { truncateNote } from '../model/audit-note.js';
import { attribute, type AttributedPart, type AttributionRequest } from './attribute.js';
import { bindEnvironments } from '../model/bound-desired.js';
import { keyOf, objectId, type ObjectRef } from '../model/ref.js';
import { noteKey, type Change, type Plan, type PlanNotes } from '../model/plan.js';
import type { ChangeNote } from '../model/outcome.js';
import type { Base, State } from '../model/state.js';
import type { SpecTree } from '../model/spec-tree.js';
import type { PlanInput } from '../plan/input.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecCache } from '../specs/cache.js';
import { fieldFormsOf } from '../plan/bases/compare.js';

/**
 * Title and comment of all planned changes, the withheld ones included, by `noteKey`: each from the commits that
 * changed its fields.
 */
export async function notesFor(
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  { desired, state, policy }: PlanInput,
  checkout: Checkout,
  head: string | null,
  specsRead: SpecCache,
): Promise<PlanNotes> {
  const idOfName = new Map(policy.environments.map(({ name, id }) => [name, id]));
  const all = [...changes, ...withheld];
  const notes = await attribute(checkout, {
    head,
    requests: all.map((change) => requestFor(change, state, idOfName)),
    snapshotsAt: async (tree: SpecTree, refs: readonly ObjectRef[]) => {
      const specs = await readSpecs(tree, specsRead);
      // Leaving an object out marks it as unknown, which differs from absent.
      if (!specs.ok) return new Map();
      const then = bindEnvironments(specs.desired, desired.environmentNames);
      const forms = fieldFormsOf(then, refs);
      return new Map(refs.map((ref) => [objectId(ref), forms.get(objectId(ref))]));
    },
  });
  return new Map(
    all.flatMap((change, index): [string, ChangeNote][] => {
      const note = notes[index];
      return note ? [[noteKey(change), note]] : [];
    }),
  );
}

function requestFor(
  change: Change,
  state: State,
  idOfName: ReadonlyMap<string, string>,
): AttributionRequest {
  const { id, ref, action, reason } = change;
  const entry = state.get(keyOf(ref.kind, ref.name));
  const environmentId = ref.environment === null ? null : idOfName.get(ref.environment);
  const base =
    environmentId === null
      ? entry?.workspace
      : environmentId === undefined
        ? undefined
        : entry?.environments[environmentId];
  return { id, ref, action, reason, parts: partsOf(change, base) };
}

/** Groups the fields of an update by base, with drift apart, because each group has its own search. */
function partsOf(
  { action, reason, fields }: Change,
  base: Base<unknown> | undefined,
): readonly AttributedPart[] {
  const whole = base?.spec === undefined ? null : base.commit;
  if (action !== 'update' || fields.length === 0) {
    return [{ paths: null, base: whole, isDrift: reason === 'drift' }];
  }
  const parts = new Map<string, AttributedPart & { readonly paths: Set<string> }>();
  for (const field of fields) {
    const { path } = field;
    const isOwn = whole !== null && Object.hasOwn(base?.fields ?? {}, path);
    const since = isOwn ? (base?.fields?.[path] ?? null) : whole;
    const isDrift = field.reason === 'drift';
    const key = `${String(isDrift)} ${since ?? ''}`;
    const part = parts.get(key) ?? { paths: new Set<string>(), base: since, isDrift };
    part.paths.add(path);
    parts.set(key, part);
  }
  return [...parts.values()];
}

/** The notes with the title or comment that the operator gave, cut to fit. */
export function overridden(notes: PlanNotes, given: Partial<ChangeNote>): PlanNotes {
  return new Map(
    [...notes].map(([key, found]) => [key, truncateNote({ ...found, ...given }, found.title)]),
  );
}
