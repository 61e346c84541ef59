import type { WireDefinition } from '../../src/admin-api/wire.js';
import type { Definition, DefinitionField } from '../../src/model/flag/flag.js';
import { definitionFromWire } from '../../src/model/flag/wire.js';
import { canonicalJson, sameJson } from '../../src/model/json.js';
import type { Actual } from '../../src/model/actual.js';
import type { Desired, DesiredDefinition } from '../../src/model/desired.js';
import type { Plan } from '../../src/model/plan.js';
import { KEYS_OF_OTHERS } from '../../src/plan/objects/segment.js';
import { entriesOf, type State } from '../../src/model/state.js';
import {
  observeWorld,
  type World,
  type WorldFlag,
  type WorldSegment,
} from '../support/service-model.js';

/** What a run sees that looks for everything in the specs and in the state. */
export function observedFor(desired: Desired, world: World, state: State): Actual {
  return observeWorld(world, {
    flags: [...desired.flags.keys(), ...entriesOf(state.values(), 'flag').map(({ name }) => name)],
    segments: [
      ...desired.segments.keys(),
      ...entriesOf(state.values(), 'segment').map(({ name }) => name),
    ],
  });
}

export function mappedDefinitions(
  world: World,
  map: (definition: WireDefinition, flag: string) => WireDefinition,
): World {
  const flags = [...world.flags].map(([name, flag]) => {
    const definitions = [...flag.definitions].map(
      ([environment, each]) => [environment, map(each, name)] as const,
    );
    return [name, { ...flag, definitions: new Map(definitions) }] as const;
  });
  return { ...world, flags: new Map(flags) };
}

/** The managed part of a world: what the specs leave unsaid may well depend on the path. */
export function comparable(
  desired: Desired,
  { flags, segments, identities }: World,
  kept: ReadonlySet<string> = new Set(),
): unknown {
  return {
    flags: [...desired.flags.values()].map(({ name, fields, environments }) => {
      const flag = flags.get(name);
      return [
        name,
        Object.keys(fields).map(
          (field) => flag?.[field === 'rolloutStatus' ? 'rolloutStatusId' : (field as 'tags')],
        ),
        [...environments].map(([environment, said]) =>
          saidPart(said, flag?.definitions.get(environment)),
        ),
      ];
    }),
    segments: [...desired.segments.values()].map(({ name, environments }) => [
      name,
      [...environments].map(([environment, { keys, mode }]) => {
        const held = segments.get(name)?.environments.get(environment);
        if (!keys || mode === 'external') return held !== undefined;
        if (mode === 'add-only') return keys.keys.filter((key) => !held?.has(key));
        return [...(held ?? [])].sort();
      }),
    ]),
    identities: [...desired.identities.values()].map(({ name, environments }) =>
      [...environments].map(([environment, { keys }]) => {
        const held = identities.get(`${name}@${environment}`);
        return [...keys].map(([key, said]) =>
          Object.keys(said).map((attribute) => held?.get(key)?.[attribute]),
        );
      }),
    ),
    names: [
      [...flags.keys()].sort(),
      [...segments.keys()].filter((name) => !kept.has(name)).sort(),
    ],
  };
}

function saidPart({ fields }: DesiredDefinition, live: WireDefinition | undefined): unknown {
  if (!live) return undefined;
  const { treatments, ...actual } = definitionFromWire(live);
  const said = Object.keys(fields).filter((field) => field !== 'treatments');
  return {
    ...Object.fromEntries(said.map((field) => [field, actual[field as keyof typeof actual]])),
    treatments: treatments.map((treatment) => {
      const wish = fields.treatments?.find(({ name }) => name === treatment.name);
      return [
        treatment.name,
        wish?.description !== undefined && treatment.description,
        wish?.configuration !== undefined && treatment.configuration,
      ];
    }),
  };
}

/**
 * Of some fields of a definition those that are not what they were. The targets of a treatment go with it, and a
 * baseline follows: the service would refuse a definition without one.
 */
export function changedFields(
  was: WireDefinition,
  is: WireDefinition,
  fields: readonly DefinitionField[],
): DefinitionField[] {
  const [before, after] = [definitionFromWire(was), definitionFromWire(is)];
  const names = new Set(is.treatments.map(({ name }) => name));
  const lasting: Definition = {
    ...before,
    targets: Object.fromEntries(Object.entries(before.targets).filter(([name]) => names.has(name))),
    ...(!names.has(was.baselineTreatment) && { baselineTreatment: is.baselineTreatment }),
  };
  return fields.filter((field) => !sameJson(lasting[field], after[field]));
}

const STRANGE = 'x-strange';

/**
 * The world with a field that nobody here knows on every definition, treatment and rule; its value says whose it is.
 *
 * @param where only what that world has as well gets one.
 */
export function withUnknownFields(world: World, where: World = world): World {
  return mappedDefinitions(world, (definition, flag) => {
    const other = where.flags.get(flag)?.definitions.get(definition.environment.name);
    if (!other) return definition;
    const names = new Set(other.treatments.map(({ name }) => name));
    const meanings = new Set(meaningsOf(other));
    const own = meaningsOf(definition);
    return {
      ...definition,
      [STRANGE]: { of: flag, list: [1, null] },
      treatments: definition.treatments.map((each) =>
        names.has(each.name) ? { ...each, [STRANGE]: each.name } : each,
      ),
      rules: definition.rules.map((each, index) => {
        const meaning = own[index] ?? '';
        return meanings.has(meaning) ? { ...each, [STRANGE]: meaning } : each;
      }),
    };
  });
}

/** Rules that mean the same are the same rule, whoever wrote them. */
function meaningsOf(definition: WireDefinition): string[] {
  return definitionFromWire(definition).rules.map(canonicalJson);
}

/** Flag, environment, place → the unknown field that stands there. */
export function unknownFieldsOf({ flags }: World): unknown {
  return [...flags].map(([name, { definitions }]) => [
    name,
    [...definitions].map(([environment, each]) => [
      environment,
      strangeOf(each),
      each.treatments.map(strangeOf),
      each.rules.map(strangeOf),
    ]),
  ]);
}

function strangeOf(object: object): unknown {
  return (object as Readonly<Record<string, unknown>>)[STRANGE];
}

/** Segments that are left because their keys are not all ours, which depends on the path: git once gave them up. */
export function keptForOthers({ withheld }: Plan): Set<string> {
  return new Set(
    withheld.filter(({ because }) => because === KEYS_OF_OTHERS).map(({ ref }) => ref.name),
  );
}

/** What was looked at, as a world; of a service that cannot show a flag by itself only what it can show. */
export function worldOf({ flags, segments }: Actual): World {
  const thereFlags = [...flags].flatMap(([name, { flag, existence, definitions }]) => {
    const there = [...definitions].flatMap(([place, live]) =>
      live ? [[place, live] as const] : [],
    );
    if (existence === 'absent' || (existence === 'unknown' && there.length === 0)) return [];
    const seen: WorldFlag = {
      trafficType: flag?.trafficType.name ?? '',
      description: flag?.description ?? '',
      tags: (flag?.tags ?? []).map((tag) => tag.name).sort(),
      rolloutStatusId: flag?.rolloutStatus?.name ?? '',
      definitions: new Map(there),
    };
    return [[name, seen] as const];
  });
  const thereSegments = [...segments].flatMap(([name, { segment, environments }]) => {
    if (!segment) return [];
    const active = [...environments].filter(([, each]) => each.active);
    const keys = active.map(([place, each]) => [place, new Set(each.keys?.keys)] as const);
    const { trafficType, description } = segment;
    const seen: WorldSegment = {
      trafficType: trafficType.name,
      description: description ?? '',
      environments: new Map(keys),
    };
    return [[name, seen] as const];
  });
  // Identities can be written and not listed.
  return { flags: new Map(thereFlags), segments: new Map(thereSegments), identities: new Map() };
}

/** The part of a world that specs do not name: whole objects, and definitions in environments that are not theirs. */
export function strangersIn({ flags, segments }: World, desired: Desired): unknown {
  return {
    flags: [...flags].map(([name, { definitions, ...flag }]) => {
      const declared = desired.flags.get(name);
      const others = [...definitions].filter(([place]) => !declared?.environments.has(place));
      const canonical = others.map(([place, live]) => [place, definitionFromWire(live)]);
      return [name, declared ? null : flag, canonical];
    }),
    segments: [...segments].flatMap(([name, { environments }]) =>
      [...environments]
        .filter(([place]) => !desired.segments.get(name)?.environments.has(place))
        .map(([place, keys]) => [name, place, [...keys].sort()]),
    ),
  };
}
