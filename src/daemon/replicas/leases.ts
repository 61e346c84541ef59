import { type Database, SCHEMA } from './database.js';
import type { Time } from '../../platform/clock.js';
import { FlagkeelError } from '../../errors.js';

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

  /** @param orOwn also succeeds if this holder already has the lease without knowing, because an answer was lost. */
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

  /** Extends leases that have not expired by a full duration. @returns names of those that are still ours. */
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

export interface HeldLease extends LeaseTerm {
  readonly lost: AbortSignal;
}

interface Kept {
  readonly held: HeldLease;
  readonly loss: AbortController;
  /** Expiry by this process's monotonic clock. Counts from before the query was sent, so it is never too late. */
  endsAt: number;
}

/** Part of its duration that a lease must have left for a write: another replica may take it before one arrives. */
const MARGIN_PART = 0.25;

/** Takes and renews the leases of this process, and notices when it loses one. */
export class LeaseKeeper {
  readonly ttlMs: number;
  readonly #leases: Leases;
  readonly #time: Pick<Time, 'sleep'>;
  readonly #kept = new Map<string, Kept>();
  /** Leases in doubt: we asked for or released them and got no answer. */
  readonly #unanswered = new Set<string>();

  constructor(leases: Leases, ttlMs: number, time: Pick<Time, 'sleep'>) {
    this.#leases = leases;
    this.ttlMs = ttlMs;
    this.#time = time;
  }

  async take(name: string): Promise<HeldLease | null> {
    if (this.#kept.has(name)) return null;
    const askedAt = performance.now();
    const wasUnanswered = this.#unanswered.delete(name);
    let taken: LeaseTerm | null;
    try {
      taken = await this.#leases.take(name, wasUnanswered);
    } catch (error) {
      this.#unanswered.add(name);
      throw error;
    }
    if (taken === null) return null;
    const loss = new AbortController();
    const held = { ...taken, lost: loss.signal };
    this.#kept.set(name, { held, loss, endsAt: askedAt + this.ttlMs });
    return held;
  }

  /** @throws FlagkeelError `IN_USE` if another replica still has it at the deadline; `INTERRUPTED`. */
  async await(
    name: string,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<HeldLease> {
    // If its holder is gone, a lease becomes free after its duration at the latest.
    const deadline = performance.now() + Math.max(timeoutMs, 2 * this.ttlMs);
    for (;;) {
      const held = await this.take(name);
      if (held !== null) return held;
      if (performance.now() > deadline) {
        throw new FlagkeelError('IN_USE', `cannot lease ${name}: another replica's run holds it`);
      }
      try {
        await this.#time.sleep(this.ttlMs / 8, signal);
      } catch (cause) {
        throw new FlagkeelError('INTERRUPTED', `cannot lease ${name}: interrupted`, { cause });
      }
    }
  }

  /** Renews all held leases. If that fails, the leases that have expired count as lost. */
  async renew(): Promise<void> {
    const kept = [...this.#kept.values()];
    const askedAt = performance.now();
    try {
      const names = await this.#leases.renew(kept.map(({ held }) => held));
      for (const each of kept) {
        if (names.includes(each.held.name)) each.endsAt = askedAt + this.ttlMs;
        else this.#lose(each);
      }
    } finally {
      for (const each of kept) if (each.endsAt <= performance.now()) this.#lose(each);
    }
  }

  /**
   * Whether all of these leases are ours by the database's clock, with time left for one request. Time counts from
   * before the query, so a process that was frozen in between does not trust an outdated answer.
   */
  async mayWrite(held: readonly HeldLease[]): Promise<boolean> {
    if (held.some(({ lost }) => lost.aborted)) return false;
    const askedAt = performance.now();
    const leftMs = await this.#leases.leftMs(held);
    if (leftMs === null) return false;
    return performance.now() - askedAt < leftMs - this.ttlMs * MARGIN_PART;
  }

  async giveBack(...held: readonly HeldLease[]): Promise<void> {
    const ours = held.filter((each) => this.#kept.get(each.name)?.held === each);
    if (ours.length === 0) return;
    for (const { name } of ours) this.#kept.delete(name);
    try {
      await this.#leases.giveBack(ours);
    } catch (error) {
      for (const { name } of ours) this.#unanswered.add(name);
      throw error;
    }
  }

  #lose({ held, loss }: Kept): void {
    if (this.#kept.get(held.name)?.held === held) this.#kept.delete(held.name);
    loss.abort('lease');
  }
}
