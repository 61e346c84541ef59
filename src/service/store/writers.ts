import { setImmediate as afterWhatHasCome, setTimeout as wait } from 'node:timers/promises';
import { isBusy } from '../../platform/sqlite.js';
import type { Dialect } from './migrations.js';
import { statement } from './statement.js';
import type { Db } from './tables.js';

/** What one writer does in a transaction. */
export type Work = (db: Db) => Promise<unknown>;

/** What became of a work that was run in a transaction. */
type Settled = PromiseSettledResult<unknown>;

interface Writer {
  readonly work: Work;
  readonly settle: (settled: Settled) => void;
}

/**
 * How long the writers of one transaction may take together before those that are left go into the next one: readers
 * of the embedded store wait for a transaction to end.
 */
const TOGETHER_MS = 20;

/** Takes the work that waits for the longest time; undefined: none does. */
export type NextWork = () => Work | undefined;

/**
 * Lets writers that wait at the same time write in one transaction, one after the other: to bring a transaction to the
 * disk takes longer than most of what is written. Each is answered after that transaction has ended. The writers of a
 * process queue here and not at the database, where each would hold a connection while it waits, until none is left for
 * readers.
 *
 * @param transact runs works in one transaction, as many of them as `runAll` takes, and says what became of these.
 * Where it rejects, those that it took are rejected, or all that wait where it took none: none of them did anything.
 */
export function writeTogether(
  transact: (next: NextWork) => Promise<readonly Settled[]>,
): <T>(work: (db: Db) => Promise<T>) => Promise<T> {
  const waiting: Writer[] = [];
  let isWriting = false;
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      // Requests that have come already are read first, so that they write together with this one.
      await afterWhatHasCome();
      await transactOnce(waiting, transact);
    }
    isWriting = false;
  };
  return async <T>(work: (db: Db) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const settle = (settled: Settled): void => {
        if (settled.status === 'fulfilled') resolve(settled.value as T);
        else reject(settled.reason as Error);
      };
      waiting.push({ work, settle });
      if (!isWriting) void writeAll();
    });
}

/** Takes those that wait by now. Whoever comes later is answered later: those before would have to wait for them. */
async function transactOnce(
  waiting: Writer[],
  transact: (next: NextWork) => Promise<readonly Settled[]>,
): Promise<void> {
  const count = waiting.length;
  const taken: Writer[] = [];
  try {
    const settled = await transact(() => {
      const writer = taken.length < count ? waiting.shift() : undefined;
      if (writer) taken.push(writer);
      return writer?.work;
    });
    for (const [index, each] of settled.entries()) taken[index]?.settle(each);
  } catch (reason) {
    const lost = taken.length > 0 ? taken : waiting.splice(0);
    for (const { settle } of lost) settle({ status: 'rejected', reason });
  }
}

/**
 * Runs works one after the other, each as if it were alone: what one throws undoes what it did and nothing else. Ends after
 * the first that brings the time to `TOGETHER_MS`; says what became of those that were taken, in their order.
 *
 * @throws what the first throws, after which no other was taken: the whole transaction is to be undone. So it needs no
 *   savepoint, which would cost one that is alone two round trips to PostgreSQL.
 */
export async function runAll(db: Db, next: NextWork): Promise<readonly Settled[]> {
  const start = performance.now();
  const first = next();
  if (first === undefined) return [];
  const settled: Settled[] = [{ status: 'fulfilled', value: await first(db) }];
  while (performance.now() - start <= TOGETHER_MS) {
    const work = next();
    if (work === undefined) break;
    settled.push(await runApart(db, work));
  }
  return settled;
}

async function runApart(db: Db, work: Work): Promise<Settled> {
  await beginWork(db);
  try {
    const value = await work(db);
    await endWork(db);
    return { status: 'fulfilled', value };
  } catch (reason) {
    await undoWork(db);
    await endWork(db);
    return { status: 'rejected', reason };
  }
}

const beginWork = statement('savepoint work');
const endWork = statement('release savepoint work');
const undoWork = statement('rollback to savepoint work');

/** Counts writes, our own and those of other connections. */
export class WriteCounter {
  readonly #othersVersion: (() => unknown) | undefined;
  #others: unknown;
  #count = 0;

  constructor(othersVersion: (() => unknown) | undefined) {
    this.#othersVersion = othersVersion;
    this.#others = othersVersion?.();
  }

  add(): void {
    this.#count += 1;
  }

  count(): number {
    const others = this.#othersVersion?.();
    if (others !== this.#others) this.#count += 1;
    this.#others = others;
    return this.#count;
  }
}

/** Whoever works beside a service writes for milliseconds. */
const WAIT_FOR_OTHERS_MS = 5_000;
const ASK_AGAIN_MS = 5;

/** A transaction that waits until no other process writes. Work that has begun is never run again. */
export async function writeAlone<T>(
  db: Db,
  dialect: Dialect,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const giveUp = Date.now() + WAIT_FOR_OTHERS_MS;
  for (;;) {
    const turn = { hasBegun: false };
    try {
      return await db.transaction().execute(async (transaction) => {
        await waitForOtherWriters(transaction, dialect);
        turn.hasBegun = true;
        return work(transaction);
      });
    } catch (error) {
      if (turn.hasBegun || !isBusy(error) || Date.now() > giveUp) throw error;
      await wait(ASK_AGAIN_MS);
    }
  }
}

/**
 * PostgreSQL has to be told that there is one writer, and waits; SQLite knows from the first statement that writes,
 * and fails where another process has begun. Either lock ends with the transaction.
 */
async function waitForOtherWriters(transaction: Db, dialect: Dialect): Promise<void> {
  await WAITS[dialect](transaction);
}

const WAITS = {
  postgres: statement('select pg_advisory_xact_lock(72616771)'),
  sqlite: statement('update admin_keys set id = id where 1 = 0'),
};
