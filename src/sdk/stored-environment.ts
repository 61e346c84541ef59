import type { ResponseCache } from '../service/http/response-cache.js';
import { endsOfAudit, flagsChangedAfter } from '../service/store/audit.js';
import {
  definitionsOf,
  findDefinition,
  wireDefinition,
  type StoredDefinition,
} from '../service/store/definitions.js';
import {
  allKeys,
  keptKeyChanges,
  keyChangesAfter,
  segmentsHolding,
} from '../service/store/keys.js';
import { findActivation } from '../service/store/segments.js';
import type { Store } from '../service/store/store.js';
import type { Db } from '../service/store/tables.js';
import {
  FlagList,
  keysChangedSince,
  ServedFlag,
  type KeyChanges,
  type ServedEnvironment,
} from './environment.js';

interface Ids {
  readonly workspaceId: string;
  readonly environmentId: string;
}

/**
 * An environment of the store. The ids of the audit log number its changes, so that all processes over one store count
 * alike, also after a restart. They count from the time of the first entry, so that the numbers of a new store are
 * greater.
 */
export class StoredEnvironment implements ServedEnvironment {
  readonly #parts: { readonly store: Store; readonly cache: ResponseCache };
  readonly #ids: Ids;
  #last: ReadFlags | undefined;

  constructor(parts: { readonly store: Store; readonly cache: ResponseCache }, ids: Ids) {
    this.#parts = parts;
    this.#ids = ids;
  }

  async flags(): Promise<FlagList> {
    return this.#recall('flags', async (db) => {
      const counter = await counterOf(db);
      this.#last = await flagsAfter(db, this.#ids, this.#last, counter);
      return this.#last.list;
    });
  }

  async keysSince(segment: string, since: number): Promise<KeyChanges> {
    return this.#recall(JSON.stringify(['keys', segment, since]), async (db) => {
      const place = [this.#ids.environmentId, segment] as const;
      const { first } = await counterOf(db);
      const kept = await keptKeyChanges(db, ...place);
      const { oldest = 0, newest = 0, count = 0 } = kept ?? {};
      return keysChangedSince(since, {
        ...{ first, count, oldest: first + oldest, till: first + newest },
        after: async (number) =>
          (await keyChangesAfter(db, ...place, number - first)).map(
            ({ added_json, removed_json }) => ({
              added: JSON.parse(added_json) as string[],
              removed: JSON.parse(removed_json) as string[],
            }),
          ),
        keys: async () => {
          const activation = await findActivation(db, ...place);
          return activation ? allKeys(db, activation.activation_id) : [];
        },
      });
    });
  }

  async segmentsOf(key: string): Promise<readonly string[]> {
    return this.#recall(JSON.stringify(['segments', key]), async (db) =>
      segmentsHolding(db, this.#ids.environmentId, key),
    );
  }

  /** Reads once, until anything in the store changes. */
  async #recall<T>(question: string, read: (db: Db) => Promise<T>): Promise<T> {
    const name = `served ${this.#ids.environmentId} ${question}`;
    const { cache, store } = this.#parts;
    return cache.recall(name, async () => store.read(read));
  }
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
