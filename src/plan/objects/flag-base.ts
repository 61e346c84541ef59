import type { WireDefinition } from '../../admin-api/wire.js';
import type { ActualFlag } from '../../model/actual.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import { flagFieldsFromWire, withTag, type FlagFields } from '../../model/flag/fields.js';
import type { Definition } from '../../model/flag/flag.js';
import { canonicalDefinition, definitionFromWire } from '../../model/flag/wire.js';
import type { DesiredFlag } from '../../model/desired.js';
import type { Base, FlagBase } from '../../model/state.js';
import { sameJson, type Json } from '../../model/json.js';
import {
  definitionFields,
  flagFields,
  isTargetPath,
  satisfies,
  treatmentOfTargetPath,
  type Fields,
} from '../fields.js';
import { isKillOrdered } from '../kills/orders.js';
import type { PlanInput } from '../input.js';
import type { PlacedName } from '../place.js';
import type { Sighting } from './planned-kind.js';

export function baseOfFlag({ trafficType, fields, ownershipTag }: DesiredFlag): FlagBase {
  return { trafficType, fields, ...(ownershipTag !== undefined && { ownershipTag }) };
}

export function flagSpec(
  desired: BoundDesired,
  { name, environment }: PlacedName,
): FlagBase | Definition | undefined {
  const flag = desired.flags.get(name);
  if (environment !== null) return definitionSpec(desired, { name, environment });
  return flag && baseOfFlag(flag);
}

export function writtenForm(desired: BoundDesired, ref: PlacedName): unknown {
  const spec = flagSpec(desired, ref);
  const definition = desired.flags.get(ref.name)?.environments.get(ref.environment ?? '');
  return definition?.ramps ? { ...spec, steps: definition.ramps } : spec;
}

/**
 * Both sides that a live flag is compared with. Where git owns only one of its tags, they have the live ones, with that
 * tag, and without the one that git owned before.
 *
 * @param live tags on the service; undefined where it does not show them.
 */
export function comparedFields(
  { fields, creation, ownershipTag }: DesiredFlag,
  before: FlagBase | undefined,
  live: readonly string[] | undefined,
): { readonly base: Fields | undefined; readonly desired: Fields } {
  const owned = before?.ownershipTag;
  const base = before && flagFields(live ? withTag(before.fields, owned, live) : before.fields);
  // Tags that only a creation sets are left to people, and so is the tag among them.
  if (!live || fields.tags || creation?.tags) return { base, desired: flagFields(fields) };
  const kept = live.filter((tag) => tag !== owned);
  const without = owned === undefined ? fields : { ...fields, tags: kept };
  return { base, desired: flagFields(withTag(without, ownershipTag, kept)) };
}

export function definitionSpec(
  desired: BoundDesired,
  { name, environment }: { readonly name: string; readonly environment: string },
): Definition | undefined {
  const definition = desired.flags.get(name)?.environments.get(environment);
  const fields = definition && canonicalDefinition(definition.fields);
  return fields && isKillOrdered(desired, name, environment) ? { ...fields, killed: true } : fields;
}

/** What the request that creates a definition makes. Leaves out a kill: only one that was seen can be taken back. */
export function createdDefinition(desired: BoundDesired, ref: PlacedName): Definition | undefined {
  const { name, environment } = ref;
  const spec = environment === null ? undefined : definitionSpec(desired, { name, environment });
  if (spec?.killed === undefined) return spec;
  const { killed: _, ...created } = spec;
  return created;
}

/**
 * The base of a definition that was found: if its creation was pending, the values of the creation. A field with the
 * value of a change request of ours counts as found equal, because publishing the request set it.
 */
export function baseOfFound(base: Base<Definition>, wire: WireDefinition): Base<Definition> {
  if (base.created !== undefined) {
    const { created, pending: _, fields: __, ...rest } = base;
    return { ...rest, spec: created };
  }
  const desired = base.request?.asked;
  if (desired === undefined) return base;
  const names = wire.treatments.map(({ name }) => name);
  const live = definitionFromWire(wire);
  return definitionBaseAfter(base, { desired, live, head: base.commit }, names);
}

export function declaredFields(desired: BoundDesired, ref: PlacedName): Fields | undefined {
  const { name, environment } = ref;
  if (environment !== null) {
    const definition = definitionSpec(desired, { name, environment });
    return definition && definitionFields(definition, []);
  }
  const flag = desired.flags.get(name);
  if (!flag) return undefined;
  const fields = flagFields(withTag(flag.fields, flag.ownershipTag));
  return new Map([['/trafficType', flag.trafficType], ...fields]);
}

/** Undefined if the flag does not exist on the service, or no answer shows it. */
export function liveTrafficType(actual: ActualFlag): string | undefined {
  const definitions = [...actual.definitions.values()];
  const shown = actual.flag ?? definitions.find((each) => each !== null);
  return shown?.trafficType.name;
}

/**
 * The base of a flag or definition that was found equal only in part: equal fields are updated, all others stay. Skips a
 * flag with another traffic type on the service, which is a different flag.
 */
export function withEqualFields(
  before: Base<unknown>,
  { ref: { name, environment }, head }: Sighting,
  { desired, actual }: PlanInput,
): Base<unknown> {
  const flag = desired.flags.get(name);
  const live = actual.flags.get(name);
  if (!flag || !live || liveTrafficType(live) !== flag.trafficType) return before;
  if (environment === null) {
    if (!live.flag) return before;
    const compared = { desired: flag, live: flagFieldsFromWire(live.flag), head };
    return flagBaseAfter(before as Base<FlagBase>, compared);
  }
  const wanted = definitionSpec(desired, { name, environment });
  const definition = live.definitions.get(environment);
  if (!wanted || !definition) return before;
  return definitionBaseAfter(
    baseOfFound(before as Base<Definition>, definition),
    { desired: wanted, live: definitionFromWire(definition), head },
    definition.treatments.map((treatment) => treatment.name),
  );
}

interface Compared<T, L = T> {
  readonly desired: T;
  readonly live: L;
  /** The commit of `desired`; null without one. */
  readonly head: string | null;
}

/** An object that was never found equal as a whole gets no base: one equal field does not make it ours. */
function definitionBaseAfter(
  before: Base<Definition>,
  { desired, live, head }: Compared<Definition>,
  treatments: readonly string[],
): Base<Definition> {
  if (before.spec === undefined) return before;
  const fieldsOf = (form: Definition): Fields => definitionFields(form, treatments);
  const [held, wanted, actual] = [fieldsOf(before.spec), fieldsOf(desired), fieldsOf(live)];
  const merged = mergedFields(held, wanted, actual);
  // Targets of a base are unmanaged only as a whole, so they all enter it together.
  const targets = [...wanted.keys()].filter(isTargetPath);
  if (targets.some((path) => !merged.has(path))) for (const path of targets) merged.delete(path);
  // If the specs no longer name a kill, it stays in the base while it is live, to be taken back.
  const isKillHeld = before.spec.killed === true && live.killed === true && desired.killed !== true;
  if (isKillHeld) merged.set('/killed', true);
  const { killListed, ...rest } = before;
  return {
    ...baseWith(rest, definitionOf(merged, desired), { held, merged, head }),
    ...(isKillHeld && killListed === true && { killListed }),
  };
}

function flagBaseAfter(
  before: Base<FlagBase>,
  { desired, live, head }: Compared<DesiredFlag, Required<FlagFields>>,
): Base<FlagBase> {
  if (before.spec === undefined) return before;
  const held = flagFields(before.spec.fields);
  const merged = mergedFields(held, flagFields(desired.fields), flagFields(live));
  const fields = membersOf(merged) as FlagFields;
  const { ownershipTag: owned, ...rest } = before.spec;
  const tags = comparedFields(desired, before.spec, live.tags).desired.get('/tags');
  const isEqual = tags === undefined || sameJson(tags, live.tags);
  const ownershipTag = isEqual ? desired.ownershipTag : owned;
  const spec = { ...rest, fields, ...(ownershipTag !== undefined && { ownershipTag }) };
  return baseWith(before, spec, { held, merged, head });
}

/** Fields that the specs drop leave the base: adding one again is a change in git. */
function mergedFields(held: Fields, wanted: Fields, actual: Fields): Map<string, Json> {
  const merged = new Map<string, Json>();
  for (const [path, value] of wanted) {
    const known = satisfies(path, actual.get(path), value) ? value : held.get(path);
    if (known !== undefined) merged.set(path, known);
  }
  return merged;
}

/** The base with this spec, and with the commits of fields that came from another commit than the rest. */
function baseWith<T>(
  { fields: before, ...rest }: Base<T>,
  spec: T,
  { held, merged, head }: { held: Fields; merged: Fields; head: string | null },
): Base<T> {
  const commits = new Map<string, string | null>();
  for (const [path, value] of merged) {
    const known = held.get(path);
    const isHeld = known !== undefined && sameJson(known, value);
    const commit = isHeld ? (before?.[path] ?? rest.commit) : head;
    if (commit !== rest.commit) commits.set(path, commit);
  }
  return { ...rest, spec, ...(commits.size > 0 && { fields: Object.fromEntries(commits) }) };
}

/** Turns the fields of a definition back into its form, spelled as in the specs. */
function definitionOf(fields: Fields, desired: Definition): Definition {
  const plain = new Map([...fields].filter(([path]) => !isTargetPath(path)));
  const lists = [...fields].flatMap(([path, value]): [string, Json][] => {
    if (!isTargetPath(path)) return [];
    const treatment = treatmentOfTargetPath(path);
    const isSaid = Object.hasOwn(desired.targets ?? {}, treatment);
    return isSaid || (value as readonly string[]).length > 0 ? [[treatment, value]] : [];
  });
  const hasTargets = [...fields.keys()].some(isTargetPath);
  return {
    ...(membersOf(plain) as Definition),
    ...(hasTargets && { targets: Object.fromEntries(lists) as Definition['targets'] & object }),
  };
}

/** The inverse of `flagFields`. */
function membersOf(fields: Fields): object {
  return Object.fromEntries([...fields].map(([path, value]) => [path.slice(1), value]));
}
