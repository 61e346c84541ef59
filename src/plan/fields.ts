import type { Definition, FlagFields, FlagFieldsChange, Treatment } from '../model/flag/flag.js';
import { ownMember } from '../model/collections.js';
import { sameJson, type Json, partsOf, pointerOf } from '../model/json.js';
import type { FieldChange } from '../model/plan.js';

/** A canonical form cut into the parts that are compared separately: JSON Pointer → value. */
export type Fields = ReadonlyMap<string, Json>;

/** Those of `/description`, `/tags` and `/rolloutStatus` that the form has. */
export function flagFields(fields: FlagFields): Fields {
  return new Map(Object.entries(fields).map(([name, value]) => [`/${name}`, value as Json]));
}

/** The write for these changes of a flag's own fields. */
export function flagFieldsChange(changes: readonly FieldChange[]): FlagFieldsChange {
  const at = (side: 'before' | 'after'): FlagFields =>
    Object.fromEntries(changes.map((change) => [change.path.slice(1), change[side]]));
  return { before: at('before'), after: at('after') };
}

/**
 * The fields of a definition. Individual targets are cut by treatment (`/targets/<treatment>`), so that a plan can name
 * the changed lists.
 *
 * @param treatments names whose targets are compared even if the form has none.
 */
export function definitionFields(definition: Definition, treatments: readonly string[]): Fields {
  const { targets, ...plain } = definition;
  const fields = new Map<string, Json>();
  for (const [name, value] of Object.entries(plain))
    fields.set(`/${name}`, value as unknown as Json);
  if (targets) {
    for (const name of new Set([...treatments, ...Object.keys(targets)])) {
      fields.set(targetPath(name), ownMember(targets, name) ?? []);
    }
  }
  return fields;
}

const TARGETS = '/targets/';

/** Path of one treatment's individual targets. */
export function targetPath(treatment: string): string {
  return pointerOf(['targets', treatment]);
}

export function isTargetPath(path: string): boolean {
  return path.startsWith(TARGETS);
}

/** The treatment of such a path. */
export function treatmentOfTargetPath(path: string): string {
  return partsOf(path)[1] ?? '';
}

/** Whether `actual` has everything that `wanted` specifies. */
export function satisfies(path: string, actual: Json | undefined, wanted: Json): boolean {
  if (actual === undefined) return isTargetPath(path) && isEmptyList(wanted);
  return sameJson(projected(path, actual, wanted), wanted);
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The actual value reduced to the parts that the wanted value specifies. */
function projected(path: string, actual: Json, wanted: Json): Json {
  if (path !== '/treatments') return actual;
  const said = new Map((wanted as unknown as Treatment[]).map((each) => [each.name, each]));
  return (actual as unknown as Treatment[]).map((treatment): Json => {
    const wish = said.get(treatment.name);
    return {
      name: treatment.name,
      ...(wish?.description !== undefined && { description: treatment.description ?? '' }),
      ...(wish?.configuration !== undefined && { configuration: treatment.configuration ?? null }),
    };
  });
}
