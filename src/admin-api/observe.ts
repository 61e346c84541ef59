import pMap from 'p-map';
import { keyList } from '../model/segment-keys.js';
import { byCodeUnits, sameJson } from '../model/json.js';
import type {
  Actual,
  ActualActivation,
  ActualFlag,
  ActualSegment,
  FlagScope,
  KeyDetail,
  Scope,
  SegmentScope,
} from '../model/actual.js';
import type { Catalog } from './workspace.js';
import { look } from './look.js';
import type { AdminReader } from './reader.js';
import type { WireDefinition, WireEnvironment, WireFlag, WireSegment } from './wire.js';

/** Up to this number, flags or definitions of one environment are requested singly, even if the service lists them. */
const FEW = 5;
const PER_PAGE = 50;
const CONCURRENCY = 8;

/**
 * Reads the objects in scope from the service, by lists, or by single requests if the service has no list or few
 * objects are wanted. Collects results by position, so that equal answers give equal values in any order of arrival.
 *
 * @throws FlagkeelError if anything could not be read completely; nothing is guessed.
 */
export async function observe(
  reader: AdminReader,
  at: Catalog,
  scope: Scope,
  onSeen: Seen = () => undefined,
): Promise<Actual> {
  const [flags, segments] = await Promise.all([
    observeFlags(reader, at, scope, onSeen),
    observeSegments(reader, at, scope, onSeen),
  ]);
  return {
    workspace: at.workspace,
    environments: new Map(at.environments.map((each) => [each.name, each])),
    rolloutStatuses: at.rolloutStatuses ?? [],
    trafficTypes: at.trafficTypes,
    trafficTypeIds: new Map([...segments.types, ...flags.types, ...at.trafficTypeIds]),
    flags: flags.flags,
    segments: segments.segments,
    allFlags: flags.all,
    allSegments: segments.all,
    showsFlags: flags.shown,
  };
}

/** Called after each reading with the number of further definitions and activations that were seen, or found absent. */
type Seen = (count: number) => void;

type TrafficTypeIds = readonly (readonly [name: string, id: string])[];

/** Traffic types of listed objects, for services that have no list of traffic types. */
function typesOf(objects: readonly (WireFlag | WireDefinition | WireSegment)[]): TrafficTypeIds {
  return objects.map(({ trafficType: { name, id } }) => [name, id]);
}

interface SeenFlags {
  readonly byName: ReadonlyMap<string, WireFlag>;
  /** Answers of the service, here or to a write, about flags that are not in `byName`; undefined if it gave none. */
  readonly saidOf: (name: string) => ReturnType<AdminReader['flagSaid']>;
  /** Names in the service's order; null if they were not listed. */
  readonly all: readonly string[] | null;
}

async function observeFlags(
  reader: AdminReader,
  at: Catalog,
  scope: Scope,
  onSeen: Seen,
): Promise<{
  flags: ReadonlyMap<string, ActualFlag>;
  all: readonly string[] | null;
  shown: boolean;
  types: TrafficTypeIds;
}> {
  const isList = scope.whole || scope.users || isWorthListing(scope.flags.size, scope);
  const seen = isList
    ? await listedFlags(reader, at)
    : await singleFlags(reader, at, [...scope.flags.keys()]);
  const { byName, all } = seen;
  const wanted =
    scope.users && all ? withUnmanaged(scope.flags, byName, at.environments) : scope.flags;
  const once = new Map<string, WireDefinition>();
  const definitions = await pMap(
    at.environments,
    async (environment) => {
      const looked = { ...scope, flags: wanted, onSeen };
      return observeDefinitions(reader, at, environment, looked, (definition) => {
        shareParts(definition, once);
      });
    },
    { concurrency: 1 },
  );
  const flags = [...wanted]
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([name, { environments }]): [string, ActualFlag] => {
      const places = at.environments.flatMap(({ name: environment }, index) =>
        environments.has(environment) ? [{ environment, ...definitions[index] }] : [],
      );
      const read = places.filter((each) => !each.unread?.has(name));
      const found = read.map((each) => [each.environment, each.found?.get(name) ?? null] as const);
      const flag = actualFlag(byName.get(name), new Map(found), seen.saidOf(name));
      if (read.length === places.length) return [name, flag];
      const unread = places.filter((each) => !read.includes(each));
      return [name, { ...flag, unread: new Set(unread.map(({ environment }) => environment)) }];
    });
  const objects = [...byName.values(), ...definitions.flatMap(({ found }) => [...found.values()])];
  const shown = all !== null || byName.size > 0;
  return { flags: new Map(flags), all, shown, types: typesOf(objects) };
}

/** Shares equal large parts between the environments of a flag, which mostly agree, to save memory. */
function shareParts(definition: WireDefinition, once: Map<string, WireDefinition>): void {
  const first = once.get(definition.name);
  if (first === undefined) once.set(definition.name, definition);
  else {
    if (sameJson(first.treatments, definition.treatments)) definition.treatments = first.treatments;
    if (sameJson(first.rules, definition.rules)) definition.rules = first.rules;
    if (sameJson(first.defaultRule, definition.defaultRule))
      definition.defaultRule = first.defaultRule;
  }
}

/** Whether pages of all objects need fewer requests than one for each wanted object. */
function isWorthListing(wanted: number, { flagsKnown }: Scope): boolean {
  return wanted > Math.max(FEW, flagsKnown / PER_PAGE);
}

async function listedFlags(reader: AdminReader, at: Catalog): Promise<SeenFlags> {
  const listed = await reader.listFlags(at.workspace.id);
  return {
    byName: new Map(listed?.map((flag) => [flag.name, flag])),
    saidOf: (name) => (listed === null ? reader.flagSaid(at.workspace.id, name) : 'absent'),
    all: listed?.map(({ name }) => name) ?? null,
  };
}

async function singleFlags(
  reader: AdminReader,
  at: Catalog,
  names: readonly string[],
): Promise<SeenFlags> {
  const answers = await pMap(names, async (name) => reader.getFlag(at.workspace.id, name), {
    concurrency: CONCURRENCY,
  });
  const found = names.flatMap((name, index) => {
    const flag = answers[index];
    return flag ? [[name, flag] as const] : [];
  });
  const absent = new Set(names.filter((_, index) => answers[index] === undefined));
  const saidOf: SeenFlags['saidOf'] = (name) =>
    absent.has(name) ? 'absent' : reader.flagSaid(at.workspace.id, name);
  return { byName: new Map(found), saidOf, all: null };
}

/** Adds every flag of the workspace in every environment, because any of them may use an object to be deleted. */
function withUnmanaged(
  wanted: ReadonlyMap<string, FlagScope>,
  listed: ReadonlyMap<string, WireFlag>,
  all: readonly WireEnvironment[],
): ReadonlyMap<string, FlagScope> {
  const environments = new Set(all.map(({ name }) => name));
  const names = new Set([...wanted.keys(), ...listed.keys()]);
  return new Map(
    [...names].map((name) => [name, { known: new Set(), ...wanted.get(name), environments }]),
  );
}

function actualFlag(
  flag: WireFlag | undefined,
  definitions: ReadonlyMap<string, WireDefinition | null>,
  said: ReturnType<AdminReader['flagSaid']>,
): ActualFlag {
  const seen = flag ?? [...definitions.values()].find((each) => each !== null);
  const isAbsent = seen === undefined && said === 'absent';
  const id = seen?.id ?? (said === 'absent' ? undefined : said?.id);
  const existence = isAbsent ? 'absent' : id === undefined ? 'unknown' : 'present';
  return {
    existence,
    definitions,
    ...(id !== undefined && { id }),
    ...(flag && { flag }),
  };
}

interface SeenDefinitions {
  readonly found: ReadonlyMap<string, WireDefinition>;
  /** See `ActualFlag`. */
  readonly unread: ReadonlySet<string>;
}

async function observeDefinitions(
  reader: AdminReader,
  at: Catalog,
  environment: WireEnvironment,
  { onSeen, ...scope }: Scope & { readonly onSeen: Seen },
  onEach: (definition: WireDefinition) => void,
): Promise<SeenDefinitions> {
  const wanted = [...scope.flags].filter(([, { environments }]) =>
    environments.has(environment.name),
  );
  if (wanted.length === 0) return { found: new Map(), unread: new Set() };
  const isListed = isWorthListing(wanted.length, scope);
  const listed = isListed
    ? await reader.listDefinitions(at.workspace.id, environment.id, onEach)
    : null;
  // Without a list, each definition that is known already would cost a request of its own.
  const shown = new Map<string, WireDefinition | null>();
  const unread = new Set<string>();
  for (const [name] of isListed && listed === null ? wanted : []) {
    const known = scope.shown?.(name, environment.name);
    if (known === 'written' && !scope.users) unread.add(name);
    else if (known !== 'written' && known !== undefined) shown.set(name, known);
  }
  const there = listed ?? [...shown.values()].filter((each) => each !== null);
  const found = new Map(there.map((definition) => [definition.name, definition]));
  const place = { workspaceId: at.workspace.id, environmentId: environment.id };
  // A list without an object of ours does not prove that it is gone.
  const doubtful = wanted.filter(
    ([name, { known }]) =>
      ![found, shown, unread].some((each) => each.has(name)) &&
      (listed === null || known.has(environment.name)),
  );
  onSeen(wanted.length - doubtful.length);
  const asked = await pMap(
    doubtful,
    async ([name, { id }]) => {
      const answer = await look(reader, place, { name, id }, { flags: 'asked' });
      onSeen(1);
      // A definition that cannot be found may be created: the service refuses to create it twice.
      if (answer.is === 'seen') onEach(answer.definition);
      return answer.is === 'seen' ? answer.definition : undefined;
    },
    { concurrency: CONCURRENCY },
  );
  doubtful.forEach(([name], index) => {
    const definition = asked[index];
    if (definition) found.set(name, definition);
  });
  return { found, unread };
}

async function observeSegments(
  reader: AdminReader,
  at: Catalog,
  { segments: scope, whole }: Scope,
  onSeen: Seen,
): Promise<{
  segments: ReadonlyMap<string, ActualSegment>;
  all: readonly string[] | null;
  types: TrafficTypeIds;
}> {
  const isListed = whole || [...scope.values()].some(({ placesAlone }) => placesAlone !== true);
  const listed = isListed ? await reader.listSegments(at.workspace.id) : [];
  const byName = new Map(listed.map((segment) => [segment.name, segment]));
  const wanted = [...scope].sort(([a], [b]) => byCodeUnits(a, b));
  const observed = await pMap(
    wanted,
    async ([name, { environments, placesAlone }]) => {
      const answer =
        placesAlone === true
          ? await observePlaces(reader, at, name, environments)
          : await observeSegment(reader, at, byName.get(name), environments);
      onSeen(environments.size);
      return answer;
    },
    { concurrency: CONCURRENCY },
  );
  const segments = wanted.map(([name], index): [string, ActualSegment] => [
    name,
    observed[index] ?? { environments: new Map() },
  ]);
  return {
    segments: new Map(segments),
    all: isListed ? listed.map(({ name }) => name) : null,
    types: typesOf(listed),
  };
}

async function observeSegment(
  reader: AdminReader,
  at: Catalog,
  segment: WireSegment | undefined,
  wanted: SegmentScope['environments'],
): Promise<ActualSegment> {
  if (!segment) {
    const inactive = [...wanted.keys()].map((name) => [name, { active: false }] as const);
    return { environments: new Map(inactive) };
  }
  return { segment, ...(await observePlaces(reader, at, segment.name, wanted)) };
}

/** A segment in its environments, one after the other. */
async function observePlaces(
  reader: AdminReader,
  at: Catalog,
  segment: string,
  wanted: SegmentScope['environments'],
): Promise<ActualSegment> {
  const activations = await pMap(
    at.environments.filter(({ name }) => wanted.has(name)),
    async ({ id, name }) => {
      const look = wanted.get(name) ?? 'activation';
      return [name, await observeActivation(reader, id, segment, look)] as const;
    },
    { concurrency: 1 },
  );
  return { environments: new Map(activations) };
}

async function observeActivation(
  reader: AdminReader,
  environmentId: string,
  segment: string,
  look: KeyDetail,
): Promise<ActualActivation> {
  if (look !== 'keys') {
    const count = await reader.countKeys(environmentId, segment);
    if (count === undefined) return { active: false };
    if (look === 'activation') return { active: true };
    if (look.count === count) return { active: true, assumedKeys: look };
  }
  const listed = await reader.listKeys(environmentId, segment);
  if (!listed) return { active: false };
  const { keys, openChangeRequestId } = listed;
  return {
    active: true,
    keys: keyList(keys),
    ...(openChangeRequestId !== null && { openChangeRequestId }),
  };
}
