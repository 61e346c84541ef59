import { canonicalJson } from '../../model/json.js';
import type { Change, Rename } from '../../model/plan.js';
import type { Kind, ObjectId, ObjectRef } from '../../model/ref.js';
import type { StateEntry } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { observedKind } from './kinds.js';

/**
 * Pairs of a created and a removed object that look like a rename: of the same kind and traffic type, and equal in
 * every environment, by the present specs of one and the base of the other. Ambiguous matches are left out. The service
 * knows no rename, so this only informs people.
 *
 * @param changes planned and withheld ones.
 * @returns workspace-level changes by id.
 */
export function renamesAmong(
  changes: readonly Change[],
  input: PlanInput,
): ReadonlyMap<ObjectId, Rename> {
  const whole = changes.filter(({ ref }) => ref.environment === null);
  const going = new Map<string, ObjectId[]>();
  for (const { id, action } of whole) {
    const entry = action === 'delete' ? input.state.get(id) : undefined;
    if (entry) add(going, rememberedForm(entry), id);
  }
  // Without removals there are no renames.
  if (going.size === 0) return new Map();
  const coming = new Map<string, ObjectId[]>();
  for (const { id, ref, action } of whole) {
    if (action === 'create') add(coming, declaredForm(ref, input), id);
  }
  return new Map(
    [...coming].flatMap(([form, [to, ...others]]): [ObjectId, Rename][] => {
      const [from, ...more] = going.get(form) ?? [];
      if (to === undefined || from === undefined || others.length + more.length > 0) return [];
      return [
        [to, { from }],
        [from, { to }],
      ];
    }),
  );
}

function add(forms: Map<string, ObjectId[]>, form: string | undefined, id: ObjectId): void {
  if (form === undefined) return;
  const alike = forms.get(form);
  if (alike) alike.push(id);
  else forms.set(form, [id]);
}

/** Undefined if it is in no environment: it would match any other such object. */
function declaredForm(
  { kind, name }: ObjectRef,
  { desired, policy }: PlanInput,
): string | undefined {
  const rules = observedKind(kind);
  const declared = rules?.declared(desired).get(name);
  if (!rules || !declared) return undefined;
  const places = policy.environments.flatMap((environment): [string, unknown][] => {
    const spec = rules.spec(desired, { kind, name, environment: environment.name });
    return spec === undefined ? [] : [[environment.id, spec]];
  });
  return formOf(kind, declared.trafficType, places);
}

function rememberedForm({ kind, workspace, environments }: StateEntry): string | undefined {
  const places = Object.entries(environments).map(([id, { spec }]): [string, unknown] => [
    id,
    spec ?? null,
  ]);
  return formOf(kind, workspace?.spec?.trafficType ?? '', places);
}

function formOf(
  kind: Kind,
  trafficType: string,
  places: readonly [string, unknown][],
): string | undefined {
  if (places.length === 0) return undefined;
  return canonicalJson({ kind, trafficType, environments: Object.fromEntries(places) });
}
