import pMap from 'p-map';
import { keptIn, present } from '../model/collections.js';
import { byCodeUnits, sameJson } from '../model/json.js';
import type { Actual, ActualFlag, FlagScope, Scope } from '../model/actual.js';
import { DEFAULT_CONCURRENCY } from '../model/run.js';
import type { Catalog } from './workspace.js';
import { look } from './look.js';
import type { AdminReader, FlagSaid } from './reader.js';
import type { WireDefinition, WireEnvironment, WireFlag, WireSegment } from './wire.js';

/** Up to this number, flags or definitions of one environment are requested singly, even if the service lists them. */
const FEW = 5;
const PER_PAGE = 50;

interface SeenFlags {
  readonly byName: ReadonlyMap<string, WireFlag>;
  /** Asked for singly; of a list, all flags that are not in it are absent. */
  readonly absent: ReadonlySet<string>;
  /** As `allFlags` of `Actual`. */
  readonly all: Actual['allFlags'];
}

interface SeenDefinitions {
  readonly found: ReadonlyMap<string, WireDefinition>;
  /** See `ActualFlag`. */
  readonly unread: ReadonlySet<string>;
}

/** Reads the flags in scope, by lists, or by single requests if the service has no list or few are wanted. */
export class FlagObservation {
  readonly #reader: AdminReader;
  readonly #at: Catalog;
  readonly #scope: Scope;
  readonly #onSeen: (count: number) => void;
  /** The first definition of each flag that arrived. */
  readonly #once = new Map<string, WireDefinition>();

  constructor(reader: AdminReader, at: Catalog, scope: Scope, onSeen: (count: number) => void) {
    this.#reader = reader;
    this.#at = at;
    this.#scope = scope;
    this.#onSeen = onSeen;
  }

  async flags() {
    const { flags: scoped, whole, users } = this.#scope;
    const isAsked = whole || users || this.#isWorthListing(scoped.size);
    const seen = isAsked ? await this.#listedFlags() : await this.#singleFlags([...scoped.keys()]);
    const { byName, all, absent } = seen;
    const isListed = Array.isArray(all);
    const { environments } = this.#at;
    const wanted = users && all ? withUnmanaged(scoped, byName, environments) : scoped;
    const definitions: SeenDefinitions[] = [];
    // One environment after the other, because each list is read several pages at once.
    for (const each of environments) definitions.push(await this.#definitions(each, wanted));
    const flags = [...wanted]
      .sort(([a], [b]) => byCodeUnits(a, b))
      .map(([name, { environments: places }]): [string, ActualFlag] => {
        const found = new Map<string, WireDefinition | null>();
        const unread = new Set<string>();
        for (const [index, { name: environment }] of environments.entries()) {
          if (!places.has(environment)) continue;
          if (definitions[index]?.unread.has(name) === true) unread.add(environment);
          else found.set(environment, definitions[index]?.found.get(name) ?? null);
        }
        const isAbsent = isListed || absent.has(name);
        const said = isAbsent ? 'absent' : this.#reader.flagSaid(this.#at.workspace.id, name);
        const flag = actualFlag(byName.get(name), found, said);
        return [name, unread.size === 0 ? flag : { ...flag, unread }];
      });
    const objects = definitions.flatMap(({ found }) => [...found.values()]);
    return {
      flags: new Map(flags),
      allFlags: all,
      showsFlags: isListed || byName.size > 0,
      types: typesOf([...byName.values(), ...objects]),
    };
  }

  /** Whether pages of all objects need fewer requests than one for each wanted object. */
  #isWorthListing(wanted: number): boolean {
    return wanted > Math.max(FEW, this.#scope.flagsKnown / PER_PAGE);
  }

  async #listedFlags(): Promise<SeenFlags> {
    const listed = await this.#reader.listFlags(this.#at.workspace.id);
    return {
      byName: new Map(listed?.map((flag) => [flag.name, flag])),
      absent: new Set(),
      all: listed?.map(({ name }) => name) ?? null,
    };
  }

  async #singleFlags(names: readonly string[]): Promise<SeenFlags> {
    const { id } = this.#at.workspace;
    const answers = await pMap(names, async (name) => this.#reader.getFlag(id, name), {
      concurrency: DEFAULT_CONCURRENCY,
    });
    const isMissed = names.some(
      (name, index) => answers[index] === null && this.#scope.flags.get(name)?.id !== undefined,
    );
    // A flag that was there and is not shown was deleted, unless the service shows no flags at all.
    const listed = isMissed ? await this.#reader.listFlags(id) : null;
    const shown = listed ?? answers.flatMap((flag) => flag ?? []);
    const byName = new Map(shown.map((flag) => [flag.name, flag]));
    const isAbsent = (name: string, index: number): boolean =>
      listed ? !byName.has(name) : answers[index] === undefined;
    return { byName, absent: new Set(names.filter(isAbsent)), all: undefined };
  }

  async #definitions(
    environment: WireEnvironment,
    flags: ReadonlyMap<string, FlagScope>,
  ): Promise<SeenDefinitions> {
    const { shown: shownBefore, users } = this.#scope;
    const workspaceId = this.#at.workspace.id;
    const wanted = [...flags].filter(([, { environments }]) => environments.has(environment.name));
    if (wanted.length === 0) return { found: new Map(), unread: new Set() };
    const isListed = this.#isWorthListing(wanted.length);
    const listed = isListed
      ? await this.#reader.listDefinitions(workspaceId, environment.id, this.#shareParts)
      : null;
    // Without a list, each definition that is known already would cost a request of its own.
    const shown = new Map<string, WireDefinition | null>();
    const unread = new Set<string>();
    for (const [name] of isListed && listed === null ? wanted : []) {
      const known = shownBefore?.(name, environment.name);
      if (known === 'written' && !users) unread.add(name);
      else if (known !== 'written' && known !== undefined) shown.set(name, known);
    }
    const there = listed ?? [...shown.values()].filter((each) => each !== null);
    const found = new Map(there.map((definition) => [definition.name, definition]));
    // A list without an object of ours does not prove that it is gone.
    const doubtful = wanted.filter(
      ([name, { known }]) =>
        ![found, shown, unread].some((each) => each.has(name)) &&
        (listed === null || known.has(environment.name)),
    );
    this.#onSeen(wanted.length - doubtful.length);
    const place = { workspaceId, environmentId: environment.id };
    const answers = await pMap(
      doubtful,
      async ([name, { id }]) => {
        const answer = await look(this.#reader, place, { name, id }, 'asked');
        this.#onSeen(1);
        // A definition that cannot be found may be created: the service refuses to create it twice.
        if (answer.is === 'seen') this.#shareParts(answer.definition);
        return [name, answer] as const;
      },
      { concurrency: DEFAULT_CONCURRENCY },
    );
    for (const [name, answer] of answers) {
      if (answer.is === 'seen') found.set(name, answer.definition);
    }
    return { found, unread };
  }

  /** Shares equal large parts between the environments of a flag, which mostly agree, to save memory. */
  readonly #shareParts = (definition: WireDefinition): void => {
    const first = keptIn(this.#once, definition.name, () => definition);
    for (const part of ['treatments', 'rules', 'defaultRule'] as const) {
      if (sameJson(first[part], definition[part]))
        Object.assign(definition, { [part]: first[part] });
    }
  };
}

/** Names → ids in listed objects, for services that have no list of traffic types. */
export function typesOf(
  objects: readonly (WireFlag | WireDefinition | WireSegment)[],
): ReadonlyMap<string, string> {
  return new Map(objects.map(({ trafficType }) => [trafficType.name, trafficType.id]));
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
  said: FlagSaid,
): ActualFlag {
  const seen = flag ?? [...definitions.values()].find((each) => each !== null);
  const isAbsent = seen === undefined && said === 'absent';
  const id = seen?.id ?? (said === 'absent' ? undefined : said?.id);
  const otherwise = id === undefined ? 'unknown' : 'present';
  const existence = isAbsent ? 'absent' : otherwise;
  return { existence, definitions, ...present({ id, flag }) };
}
