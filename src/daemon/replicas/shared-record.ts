import { NOTHING_HELD, type SharedRun } from '../source/leadership.js';
import type { ActiveOverrides } from '../view.js';
import { type Database, SCHEMA } from './database.js';

const MAX_RUNS = 100;

export interface NumberedRun {
  readonly number: number;
  readonly source: string;
  readonly replica: string;
  readonly run: SharedRun;
}

export class SharedRecord {
  readonly #database: Database;
  readonly #replica: string;

  constructor(database: Database, replica: string) {
    this.#database = database;
    this.#replica = replica;
  }

  /** Keeps only the last 100 runs of the source. */
  async addRun(source: string, run: SharedRun): Promise<void> {
    await this.#database.query(
      `insert into ${SCHEMA}.run (source, replica, run) values ($1, $2, $3)`,
      [source, this.#replica, JSON.stringify(run)],
    );
    await this.#database.query(
      `delete from ${SCHEMA}.run where source = $1 and number <= (
         select number from ${SCHEMA}.run where source = $1 order by number desc offset ${MAX_RUNS} limit 1
       )`,
      [source],
    );
  }

  /** Runs by source, oldest first. @param after number of the last known run of each source. */
  async runsAfter(after: ReadonlyMap<string, number>): Promise<readonly NumberedRun[]> {
    const rows = await this.#database.query<Omit<NumberedRun, 'number'> & { number: string }>(
      `select run.number, run.source, run.replica, run.run from ${SCHEMA}.run as run
       join unnest($1::text[], $2::bigint[]) as known (source, number)
         on run.source = known.source and run.number > known.number
       order by run.number`,
      [[...after.keys()], [...after.values()]],
    );
    return rows.map((row) => ({ ...row, number: Number(row.number) }));
  }

  async overrides(): Promise<ReadonlyMap<string, ActiveOverrides>> {
    const rows = await this.#database.query<{
      source: string;
      kind: keyof ActiveOverrides;
      value: ActiveOverrides[keyof ActiveOverrides];
    }>(`select source, kind, value from ${SCHEMA}.hold`);
    const bySource = new Map<string, ActiveOverrides>();
    for (const { source, kind, value } of rows) {
      const known = bySource.get(source) ?? NOTHING_HELD;
      bySource.set(source, { ...known, [kind]: value });
    }
    return bySource;
  }

  async setOverride<K extends keyof ActiveOverrides>(
    source: string,
    kind: K,
    value: ActiveOverrides[K],
  ): Promise<void> {
    if (value === null) {
      const statement = `delete from ${SCHEMA}.hold where source = $1 and kind = $2`;
      await this.#database.query(statement, [source, kind]);
      return;
    }
    await this.#database.query(
      `insert into ${SCHEMA}.hold (source, kind, value) values ($1, $2, $3)
       on conflict (source, kind) do update set value = excluded.value`,
      [source, kind, JSON.stringify(value)],
    );
  }

  /** Registers this replica as alive. @returns how many are. */
  async present(ttlMs: number): Promise<number> {
    await this.#database.query(
      `insert into ${SCHEMA}.replica (id, expires_at)
       values ($1, clock_timestamp() + $2 * interval '1 ms')
       on conflict (id) do update set expires_at = excluded.expires_at`,
      [this.#replica, ttlMs],
    );
    const [row] = await this.#database.query<{ alive: string }>(
      `with gone as (delete from ${SCHEMA}.replica where expires_at <= clock_timestamp() and id <> $1)
       select count(*) as alive from ${SCHEMA}.replica where expires_at > clock_timestamp()`,
      [this.#replica],
    );
    return Math.max(1, Number(row?.alive ?? 1));
  }

  async leave(): Promise<void> {
    await this.#database.query(`delete from ${SCHEMA}.replica where id = $1`, [this.#replica]);
  }
}
