import type { FastifyRequest } from 'fastify';
import {
  seededDefinition,
  type SeededDefinition,
  servedDefinition,
  wholeFromWire,
} from '../plan/impact/served-definition.js';
import type { KeyCheckParts } from '../service/http/key-check.js';
import { endsOfAudit, flagsChangedAfter } from '../service/store/audit.js';
import {
  definitionsOf,
  findDefinition,
  wireDefinition,
  type StoredDefinition,
} from '../service/store/definitions.js';
import type { ChangedKeys } from '../service/rules/keys.js';
import {
  allKeys,
  KEY_CHANGES_KEPT,
  keptKeyChanges,
  keyChangesAfter,
  segmentsHolding,
} from '../service/store/keys.js';
import { findActivation } from '../service/store/segments.js';
import type { Db, KeyType } from '../service/store/tables.js';
import { splitText, type SeededSplit } from './split.js';

/**
 * One environment as its applications see it. Each change has a number that is greater than all before it, so that an
 * application asks for the changes since the number that it knows.
 */
export interface ServedEnvironment {
  flags(): Promise<FlagList>;
  /** @param since a number of an earlier answer, or any other for all keys. */
  keysSince(segment: string, since: number): Promise<KeyChanges>;
  /** Names of the segments that hold a key, sorted. */
  segmentsOf(key: string): Promise<readonly string[]>;
}

export interface Application {
  readonly environment: ServedEnvironment;
  readonly type: KeyType;
}

/** Finds the application of a request. @throws Problem (401) */
export type FindApplication = (request: FastifyRequest) => Promise<Application>;

/** No key is in both lists. */
export interface KeyChanges extends ChangedKeys {
  readonly till: number;
}

/** The changes of a segment that an environment remembers, at most `KEY_CHANGES_KEPT`. */
interface RememberedChanges {
  /** The number that the environment counts from. */
  readonly first: number;
  /** Of the oldest change that is remembered. */
  readonly oldest: number;
  readonly till: number;
  readonly count: number;
  readonly after: (number: number) => Promise<readonly ChangedKeys[]>;
  readonly keys: () => Promise<readonly string[]>;
}

/** An application that missed more changes than are remembered gets all keys. */
export async function keysChangedSince(
  since: number,
  { first, oldest, till, count, after, keys }: RememberedChanges,
): Promise<KeyChanges> {
  const isComplete = count < KEY_CHANGES_KEPT || since >= oldest;
  const isKnown = since >= first && since <= till && isComplete;
  const missed = foldedChanges(await after(isKnown ? since : first));
  if (isKnown) return { ...missed, till };
  const added = await keys();
  const held = new Set(added);
  const removed = since < 0 ? [] : missed.removed.filter((key) => !held.has(key));
  return { added, removed, till };
}

function foldedChanges(changes: readonly ChangedKeys[]): ChangedKeys {
  const isHeld = new Map<string, boolean>();
  for (const { added, removed } of changes) {
    for (const key of removed) isHeld.set(key, false);
    for (const key of added) isHeld.set(key, true);
  }
  const keys = [...isHeld];
  return {
    added: keys.filter(([, held]) => held).map(([key]) => key),
    removed: keys.filter(([, held]) => !held).map(([key]) => key),
  };
}

/** A flag that has, or had, a definition in an environment. */
export class ServedFlag {
  /** Number of its newest change. */
  readonly number: number;
  /** Null for a flag without a definition, which applications have to forget. */
  readonly split: SeededSplit | null;
  readonly #name: string;
  #text: string | undefined;
  #seeded: SeededDefinition | undefined;

  constructor(name: string, number: number, split: SeededSplit | null) {
    this.#name = name;
    this.number = number;
    this.split = split;
  }

  /** JSON in the form of `splitChanges`. */
  get text(): string {
    this.#text ??= splitText(this.#name, this.number, this.split);
    return this.#text;
  }

  get seeded(): SeededDefinition | undefined {
    if (this.split === null) return undefined;
    const { definition, seeds } = this.split;
    const served = (): ReturnType<typeof servedDefinition> =>
      servedDefinition(wholeFromWire(definition));
    this.#seeded ??= seededDefinition(served(), seeds);
    return this.#seeded;
  }
}

export class FlagList {
  /** The least number that this list understands: a smaller one is of another life of the service. */
  readonly first: number;
  readonly till: number;
  readonly flags: ReadonlyMap<string, ServedFlag>;
  #definitions: ReadonlyMap<string, SeededDefinition> | undefined;
  #whole: string | undefined;

  constructor(first: number, flags: ReadonlyMap<string, ServedFlag>) {
    this.first = first;
    this.flags = flags;
    this.till = [...flags.values()].reduce((most, { number }) => Math.max(most, number), first);
  }

  /** JSON of a list of the flags that changed since a number; of all flags if the number is not of this list. */
  changedSince(since: number): string {
    if (since === this.till) return '[]';
    // Every application that starts asks for this one.
    if (since < 0) return (this.#whole ??= this.#listed(({ split }) => split !== null));
    const isKnown = since >= this.first && since <= this.till;
    return this.#listed(({ number }) => !isKnown || number > since);
  }

  #listed(isWanted: (flag: ServedFlag) => boolean): string {
    const wanted = [...this.flags.values()].filter(isWanted);
    return `[${wanted.map(({ text }) => text).join(',')}]`;
  }

  get definitions(): ReadonlyMap<string, SeededDefinition> {
    this.#definitions ??= new Map(
      [...this.flags].flatMap(([name, { seeded }]) => (seeded ? [[name, seeded] as const] : [])),
    );
    return this.#definitions;
  }
}

interface Ids {
  readonly workspaceId: string;
  readonly environmentId: string;
}

/**
 * An environment of the store. The ids of the audit log number its changes, so that all processes over one store count
 * alike, also after a restart. They count from the time of the first entry, so that the numbers of a new store are
 * greater.
 */
export function storedEnvironment(
  { store, cache }: Pick<KeyCheckParts, 'store' | 'cache'>,
  ids: Ids,
): ServedEnvironment {
  const { environmentId } = ids;
  let last: ReadFlags | undefined;
  /** Reads once, until anything in the store changes. */
  const recall = async <T>(question: string, read: (db: Db) => Promise<T>): Promise<T> =>
    cache.recall(`served ${environmentId} ${question}`, async () => store.read(read));
  return {
    flags: async () =>
      recall('flags', async (db) => {
        last = await flagsAfter(db, ids, last, await counterOf(db));
        return last.list;
      }),
    keysSince: async (segment, since) =>
      recall(JSON.stringify(['keys', segment, since]), async (db) => {
        const place = [environmentId, segment] as const;
        const { first } = await counterOf(db);
        const kept = await keptKeyChanges(db, ...place);
        const { oldest = 0, newest = 0, count = 0 } = kept ?? {};
        return keysChangedSince(since, {
          first,
          count,
          oldest: first + oldest,
          till: first + newest,
          after: async (number) =>
            (await keyChangesAfter(db, ...place, number - first)).map((row) => ({
              added: JSON.parse(row.added_json) as string[],
              removed: JSON.parse(row.removed_json) as string[],
            })),
          keys: async () => {
            const activation = await findActivation(db, ...place);
            return activation ? allKeys(db, activation.activation_id) : [];
          },
        });
      }),
    segmentsOf: async (key) =>
      recall(JSON.stringify(['segments', key]), async (db) =>
        segmentsHolding(db, environmentId, key),
      ),
  };
}

/** How numbers count: the number of an entry is `first` plus its id, and `newest` is the id of the newest entry. */
interface Counter {
  readonly first: number;
  readonly newest: number;
}

async function counterOf(db: Db): Promise<Counter> {
  const { id, time, newest } = (await endsOfAudit(db)) ?? { id: 0, time: 0, newest: 0 };
  return { first: time - id, newest };
}

/** A list, and the id of the newest entry of the audit log when it was read. */
interface ReadFlags {
  readonly list: FlagList;
  readonly newest: number;
}

/** @param last what was read before; only what changed since is read again. */
async function flagsAfter(
  db: Db,
  ids: Ids,
  last: ReadFlags | undefined,
  { first, newest }: Counter,
): Promise<ReadFlags> {
  const known = last?.list.first === first ? last : undefined;
  const { workspaceId, environmentId } = ids;
  const changed = await flagsChangedAfter(db, workspaceId, environmentId, known?.newest ?? 0);
  if (known && changed.length === 0) return { list: known.list, newest };
  const definitions = new Map(
    known === undefined
      ? (await definitionsOf(db, environmentId)).map((each) => [each.flag_name, each])
      : [],
  );
  const flags = new Map(known?.list.flags);
  // One after the other, because a transaction has one connection.
  for (const { name, id } of changed) {
    const definition = definitions.get(name) ?? (known && (await definitionAt(db, ids, name)));
    flags.set(name, new ServedFlag(name, first + id, definition ? splitOf(definition) : null));
  }
  // A store of before the audit log had ids of environments may lack entries.
  for (const [name, definition] of definitions) {
    if (!flags.has(name)) flags.set(name, new ServedFlag(name, first, splitOf(definition)));
  }
  return { list: new FlagList(first, flags), newest };
}

/** Under the name alone, because the name of one flag may be the id of another. */
async function definitionAt(
  db: Db,
  { environmentId }: Ids,
  name: string,
): Promise<StoredDefinition | undefined> {
  const found = await findDefinition(db, environmentId, name);
  return found?.flag_name === name ? found : undefined;
}

function splitOf(stored: StoredDefinition): NonNullable<ServedFlag['split']> {
  const { seed, allocation_seed: allocationSeed } = stored;
  return { definition: wireDefinition(stored), seeds: { seed, allocationSeed } };
}
