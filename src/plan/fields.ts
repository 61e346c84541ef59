import type { FlagFields, FlagFieldsChange } from '../model/flag/fields.js';
import type { Definition, Treatment } from '../model/flag/flag.js';
import { ownMember, present } from '../model/collections.js';
import { partsOf, pointerOf, sameJson, type Json } from '../model/json.js';
import type { FieldChange, Reason } from '../model/plan.js';
import { keyDifference, keyList } from '../model/segment-keys.js';

/** A canonical form cut into the parts that are compared separately: JSON Pointer → value. */
export type Fields = ReadonlyMap<string, Json>;

export function flagFields(fields: FlagFields): Fields {
  return new Map(Object.entries(fields).map(([name, value]) => [`/${name}`, value as Json]));
}

export function flagFieldsChange(changes: readonly FieldChange[]): FlagFieldsChange {
  const at = (side: 'before' | 'after'): FlagFields =>
    Object.fromEntries(changes.map((change) => [change.path.slice(1), change[side]]));
  return { before: at('before'), after: at('after') };
}

/**
 * Targets are cut by treatment (`/targets/<treatment>`), so that a plan can name the changed lists.
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

export function targetPath(treatment: string): string {
  return pointerOf(['targets', treatment]);
}

export function isTargetPath(path: string): boolean {
  return path.startsWith(TARGETS);
}

export function treatmentOfTargetPath(path: string): string {
  return partsOf(path)[1] ?? '';
}

/** Whether `actual` has everything that `wanted` specifies. */
export function satisfies(path: string, actual: Json | undefined, wanted: Json): boolean {
  if (actual === undefined) return isTargetPath(path) && sameJson(wanted, []);
  return sameJson(projected(path, actual, wanted), wanted);
}

function projected(path: string, actual: Json, wanted: Json): Json {
  if (path !== '/treatments') return actual;
  const wishes = new Map((wanted as unknown as Treatment[]).map((each) => [each.name, each]));
  return (actual as unknown as Treatment[]).map((treatment): Json => {
    const wish = wishes.get(treatment.name);
    return {
      name: treatment.name,
      ...(wish?.description !== undefined && { description: treatment.description ?? '' }),
      ...(wish?.configuration !== undefined && { configuration: treatment.configuration ?? null }),
    };
  });
}

export interface ThreeStates {
  /** Unset before the object was found equal for the first time. */
  readonly base?: Fields | undefined;
  readonly desired: Fields;
  readonly actual: Fields;
  readonly withoutBase: Reason;
}

/**
 * The managed fields in which the service differs from the specs, each with the reason:
 *
 *     git changed   live changed   reason
 *     yes           no             commit
 *     no            yes            drift
 *     yes           yes            conflict
 *     no base at all               adopt, unknown
 *
 * A field missing in the base is newly managed, so git changed it. In the order of `desired`.
 */
export function threeWay(states: ThreeStates): FieldChange[] {
  return [...states.desired]
    .filter(([path, wanted]) => !satisfies(path, states.actual.get(path), wanted))
    .map(([path, wanted]) => fieldChange(path, states, wanted));
}

function fieldChange(path: string, states: ThreeStates, wanted: Json): FieldChange {
  const before = states.actual.get(path);
  const base = states.base?.get(path);
  const reason = reasonOf(path, states, wanted);
  if (isTargetPath(path)) {
    const after = wanted as readonly string[];
    const held = (before ?? []) as readonly string[];
    const { sha256 } = keyList(after).digest;
    return { path, reason, keys: { ...keyDifference(after, held), sha256 } };
  }
  return { path, reason, ...present({ base, before }), after: wanted };
}

function reasonOf(path: string, states: ThreeStates, wanted: Json): Reason {
  if (states.base === undefined) return states.withoutBase;
  const base = states.base.get(path);
  if (base === undefined) return 'commit';
  const live = !satisfies(path, states.actual.get(path), base);
  return reasonOfChange({ git: !sameJson(base, wanted), live });
}

export function reasonOfChange({ git, live }: { git: boolean; live: boolean }): Reason {
  if (git && live) return 'conflict';
  return git ? 'commit' : 'drift';
}
