import { canonicalJson } from '../kinds/json.js';
import type { DesiredFlag, DesiredSegment } from '../model/desired.js';
import type { ObjectId } from '../model/object-id.js';
import type { Change, Rename } from '../model/plan.js';
import type { StateEntry } from '../model/state.js';
import { effectiveFields } from './kills.js';
import type { PlanInput } from './plan-input.js';
import { baseSpec } from './segments.js';

/**
 * What comes and what goes, and looks like one object under two names: the same kind and traffic type, and the same in
 * every environment, as the specs say it now and as the base of the other says it. Where several look alike nothing is
 * said. The service knows no rename, so it is one for people only.
 *
 * @param changes planned and withheld ones.
 * @returns workspace-level changes by id.
 */
export function renamesAmong(
  changes: readonly Change[],
  input: PlanInput,
): ReadonlyMap<ObjectId, Rename> {
  const { desired, state } = input;
  const coming = new Map<string, ObjectId[]>();
  const going = new Map<string, ObjectId[]>();
  for (const { id, ref, action } of changes) {
    if (ref.environment !== null) continue;
    const entry = state.get(id);
    const declared =
      ref.kind === 'flag' ? desired.flags.get(ref.name) : desired.segments.get(ref.name);
    if (action === 'create' && declared) add(coming, declaredForm(declared, input), id);
    if (action === 'delete' && entry) add(going, rememberedForm(entry), id);
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
  if (form !== undefined) forms.set(form, [...(forms.get(form) ?? []), id]);
}

/** Undefined: it is in no environment, and would look like any other. */
function declaredForm(
  declared: DesiredFlag | DesiredSegment,
  { desired, policy }: PlanInput,
): string | undefined {
  const places = policy.environments.flatMap((environment): [string, unknown][] => {
    const part = declared.environments.get(environment.configName);
    if (!part) return [];
    if ('mode' in part) return [[environment.id, baseSpec(part)]];
    const flag = declared as DesiredFlag;
    return [[environment.id, effectiveFields({ flag, definition: part, environment }, desired)]];
  });
  const kind = 'fields' in declared ? 'flag' : 'segment';
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
  kind: StateEntry['kind'],
  trafficType: string,
  places: readonly [string, unknown][],
): string | undefined {
  if (places.length === 0) return undefined;
  return canonicalJson({ kind, trafficType, environments: Object.fromEntries(places) });
}
