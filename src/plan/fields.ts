import type { Definition, FlagFields, FlagFieldsChange, Treatment } from '../model/flag/flag.js';
import { ownMember } from '../model/collections.js';
import { sameJson, type Json } from '../model/json.js';
import type { FieldChange } from '../model/plan.js';
import { partsOf, pointerOf } from '../model/pointer.js';

/** A canonical form cut into the parts that are compared by themselves: JSON Pointer → value. */
export type Fields = ReadonlyMap<string, Json>;

/** `/description`, `/tags`, `/rolloutStatus`: those that the form has. */
export function flagFields(fields: FlagFields): Fields {
  return new Map(Object.entries(fields).map(([name, value]) => [`/${name}`, value as Json]));
}

/** What these changes of a flag's own fields write. */
export function flagFieldsChange(changes: readonly FieldChange[]): FlagFieldsChange {
  const at = (side: 'before' | 'after'): FlagFields =>
    Object.fromEntries(changes.map((change) => [change.path.slice(1), change[side]]));
  return { before: at('before'), after: at('after') };
}

/**
 * The fields of a definition; individual targets one treatment at a time (`/targets/<treatment>`), so that a plan can
 * say whose list changed.
 *
 * @param treatments names whose targets are compared though the form has none for them.
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

/** The treatment that such a path is about. */
export function treatmentOfTargetPath(path: string): string {
  return partsOf(path)[1] ?? '';
}

/** Whether `actual` is what `wanted` asks for, where `wanted` says anything at all. */
export function satisfies(path: string, actual: Json | undefined, wanted: Json): boolean {
  if (actual === undefined) return isTargetPath(path) && isEmptyList(wanted);
  return sameJson(projected(path, actual, wanted), wanted);
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The actual value without the parts of it that the wanted one leaves unsaid. */
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
