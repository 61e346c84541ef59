import type { Database } from './database.js';
import { SCHEMA } from './migrations.js';

/** A lease by name, and the term of the holder who is meant. */
export interface LeaseTerm {
  readonly name: string;
  readonly term: number;
}

/**
 * Leases as rows of a table. Only the database's clock counts: a lease is over when that says so, whatever its holder
 * believes.
 */
export class Leases {
  readonly #database: Database;
  readonly #holder: string;
  readonly #ttlMs: number;

  /** @param holder one for each start of each process. */
  constructor(database: Database, holder: string, ttlMs: number) {
    this.#database = database;
    this.#holder = holder;
    this.#ttlMs = ttlMs;
  }

  /**
   * @param orOwn also where it is this holder's already, who does not know of it because an answer was lost.
   * @returns null: somebody has it.
   */
  async take(name: string, orOwn = false): Promise<LeaseTerm | null> {
    const [row] = await this.#database.query<{ term: string }>(
      `insert into ${SCHEMA}.lease as lease (name, holder, term, expires_at)
       values ($1, $2, 1, clock_timestamp() + $3 * interval '1 ms')
       on conflict (name) do update
         set holder = $2, term = lease.term + 1, expires_at = clock_timestamp() + $3 * interval '1 ms'
         where lease.expires_at <= clock_timestamp() or ($4 and lease.holder = $2)
       returning term`,
      [name, this.#holder, this.#ttlMs, orOwn],
    );
    return row === undefined ? null : { name, term: Number(row.term) };
  }

  /** Which of them are ours still, and for a full time from now on. One that is over is never taken up again. */
  async renew(leases: readonly LeaseTerm[]): Promise<readonly string[]> {
    const rows = await this.#database.query<{ name: string }>(
      `update ${SCHEMA}.lease as lease set expires_at = clock_timestamp() + $4 * interval '1 ms'
       from unnest($1::text[], $2::bigint[]) as held (name, term)
       where lease.name = held.name and lease.term = held.term and lease.holder = $3
         and lease.expires_at > clock_timestamp()
       returning lease.name`,
      [...columns(leases), this.#holder, this.#ttlMs],
    );
    return rows.map(({ name }) => name);
  }

  /** Milliseconds for which all of them are ours still; null: one of them is not. */
  async leftMs(leases: readonly LeaseTerm[]): Promise<number | null> {
    const [row] = await this.#database.query<{ found: string; left_ms: string | null }>(
      `select count(*) as found,
         min(extract(epoch from lease.expires_at - clock_timestamp())) * 1000 as left_ms
       from ${SCHEMA}.lease as lease
       join unnest($1::text[], $2::bigint[]) as held (name, term)
         on lease.name = held.name and lease.term = held.term
       where lease.holder = $3`,
      [...columns(leases), this.#holder],
    );
    const leftMs = Number(row?.left_ms ?? 0);
    return Number(row?.found ?? 0) === leases.length && leftMs > 0 ? leftMs : null;
  }

  /** The next who asks gets them; their terms stay. */
  async giveBack(leases: readonly LeaseTerm[]): Promise<void> {
    await this.#database.query(
      `update ${SCHEMA}.lease as lease set expires_at = clock_timestamp()
       from unnest($1::text[], $2::bigint[]) as held (name, term)
       where lease.name = held.name and lease.term = held.term and lease.holder = $3
         and lease.expires_at > clock_timestamp()`,
      [...columns(leases), this.#holder],
    );
  }
}

function columns(leases: readonly LeaseTerm[]): [string[], number[]] {
  return [leases.map(({ name }) => name), leases.map(({ term }) => term)];
}
