import type { Database } from './database.js';
import { SCHEMA } from './migrations.js';

/** A lease by name, and the term of the holder in question. */
export interface LeaseTerm {
  readonly name: string;
  readonly term: number;
}

/** Leases as rows of a table. Only the database's clock decides when a lease expires, whatever its holder believes. */
export class Leases {
  readonly #database: Database;
  readonly #holder: string;
  readonly #ttlMs: number;

  /** @param holder unique for each start of each process. */
  constructor(database: Database, holder: string, ttlMs: number) {
    this.#database = database;
    this.#holder = holder;
    this.#ttlMs = ttlMs;
  }

  /**
   * @param orOwn also succeeds if this holder already has the lease without knowing, because an answer was lost.
   * @returns null if another holder has it.
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

  /**
   * Extends leases by a full duration. An expired lease is not revived.
   *
   * @returns names of those that are still ours.
   */
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

  /** Milliseconds until the first of these leases expires; null if one of them is no longer ours. */
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

  /** Frees the leases for the next replica that asks; their terms stay. */
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
