import { grouped } from '../../model/collections.js';
import { canonicalJson } from '../../model/json.js';
import type { Change, Rename } from '../../model/plan.js';
import type { Kind, ObjectId, ObjectRef } from '../../model/ref.js';
import type { Base, StateEntry } from '../../model/state.js';
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
  const removed = whole.filter(({ action }) => action === 'delete');
  // Without removals there are no renames.
  if (removed.length === 0) return new Map();
  const created = whole.filter(({ action }) => action === 'create');
  const going = grouped(removed, ({ id }) => rememberedForm(input.state.get(id)));
  const coming = grouped(created, ({ ref }) => declaredForm(ref, input));
  return new Map(
    [...coming].flatMap(([form, changes]): [ObjectId, Rename][] => {
      if (form === undefined) return [];
      const [to, ...others] = changes.map(({ id }) => id);
      const [from, ...more] = (going.get(form) ?? []).map(({ id }) => id);
      if (to === undefined || from === undefined || others.length + more.length > 0) return [];
      return [
        [to, { from }],
        [from, { to }],
      ];
    }),
  );
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

function rememberedForm(entry: StateEntry | undefined): string | undefined {
  if (!entry) return undefined;
  const { kind, workspace, environments } = entry;
  const bases = Object.entries<Base<unknown>>(environments);
  const places = bases.map(([id, { spec }]): [string, unknown] => [id, spec ?? null]);
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
