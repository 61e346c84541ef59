import type { Lookup } from './store/lookup.js';
import type { Store } from './store/store.js';

/** What a change was made to. */
export interface ChangedObject {
  readonly kind: string;
  readonly name: string;
}

type Listener = (changes: readonly ChangedObject[]) => void;

const LAST: Lookup = { name: 'last-change', text: 'select coalesce(max(id), 0) as id from audit' };

const PAGE = 1_000;
const SINCE: Lookup = {
  name: 'changes-since',
  text: `select id, kind, name from audit where id > $1 order by id limit ${PAGE}`,
};

/**
 * Tells of every change by whatever process: it stands in the audit log, which grows in the order in which writers
 * commit. Where this process alone writes, the log is looked at after its own writes only.
 */
export class ChangeNews {
  readonly #store: Pick<Store, 'version' | 'lookUp'>;
  readonly #listeners: readonly Listener[];
  #version: number | null = null;
  /** Of the last change that was told; null: none was asked for yet. */
  #last: number | null = null;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;

  constructor(store: Pick<Store, 'version' | 'lookUp'>, listeners: readonly Listener[]) {
    this.#store = store;
    this.#listeners = listeners;
  }

  /** Every change that was answered before the call is told before it returns. */
  async catchUp(): Promise<void> {
    const version = this.#store.version();
    if (version !== null && version === this.#version) return;
    // A look that runs already may have begun before the change. All who come meanwhile share the next one.
    this.#waiting ??= this.#running
      .catch(() => undefined)
      .then(async () => {
        this.#waiting = null;
        this.#running = this.#look();
        return this.#running;
      });
    await this.#waiting;
  }

  async #look(): Promise<void> {
    const version = this.#store.version();
    if (this.#last === null) this.#last = await this.#end();
    else await this.#tellAfter(this.#last);
    this.#version = version;
  }

  async #end(): Promise<number> {
    const [row] = await this.#store.lookUp<{ readonly id: number }>(LAST, []);
    return row?.id ?? 0;
  }

  async #tellAfter(last: number): Promise<void> {
    const rows = await this.#store.lookUp<ChangedObject & { readonly id: number }>(SINCE, [last]);
    for (const tell of this.#listeners) tell(rows);
    this.#last = rows.at(-1)?.id ?? last;
    if (rows.length === PAGE) await this.#tellAfter(this.#last);
  }
}
