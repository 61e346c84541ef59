import { setImmediate as afterWhatHasCome, setTimeout as wait } from 'node:timers/promises';
import type { TransactionBuilder } from 'kysely';
import { isBusy } from '../../platform/sqlite.js';
import { failureOf } from './failures.js';
import { statement, statementFor } from './statement.js';
import type { Db, Tables } from './tables.js';

export type Work = (db: Db) => Promise<unknown>;

type Settled = PromiseSettledResult<unknown>;

interface Writer {
  readonly work: Work;
  readonly settle: (settled: Settled) => void;
  /** In ms of `performance.now()`. */
  readonly since: number;
}

/** How long the writers of one transaction may take together: readers of the embedded store wait for its end. */
const TOGETHER_MS = 20;

export type NextWork = () => Work | undefined;

/**
 * Lets waiting writers share one transaction, one after the other, because bringing a transaction to the disk takes
 * longer than most writes. Each gets its answer after that transaction has ended. Writers queue here and not at the
 * database, where each would hold a connection while it waits, until readers have none left.
 *
 * @param transact runs works in one transaction, as many as `runAll` takes, and returns their results. If it rejects,
 * the works that it took are rejected, and also all waiting ones if it took none, and those that waited long if its
 * store failed; none of these has changed anything.
 */
export function writeTogether(
  transact: (next: NextWork) => Promise<readonly Settled[]>,
): <T>(work: (db: Db) => Promise<T>) => Promise<T> {
  const waiting: Writer[] = [];
  let isWriting = false;
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      // Reads requests that have arrived already, so that they can share this transaction.
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
      waiting.push({ work, settle, since: performance.now() });
      if (!isWriting) void writeAll();
    });
}

/**
 * Writers that have waited this long for one that then failed would meet the same slow failure one after the other, and
 * the last ones would get no answer while their clients wait. Later ones try, because the store may be well again.
 */
const LONG_WAIT_MS = 1_000;

/** Takes the works that wait now. Earlier ones do not wait for later ones, which get the next transaction. */
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
    // Writers wait in the order in which they came.
    const isLost = ({ since }: Writer): boolean =>
      taken.length === 0 ||
      (failureOf(reason) !== undefined && performance.now() - since >= LONG_WAIT_MS);
    const lost = waiting.filter(isLost);
    waiting.splice(0, lost.length);
    for (const { settle } of [...taken, ...lost]) settle({ status: 'rejected', reason });
  }
}

/**
 * Runs works one after the other until they take `TOGETHER_MS`; a work that throws undoes only its own changes.
 *
 * @throws the error of the first work, after which no other was taken: the whole transaction has to be undone. So the
 * first work needs no savepoint, which would cost a lone writer two round trips to PostgreSQL.
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
    // A failure of the store can end the whole transaction, and the savepoint with it.
    if (failureOf(reason) !== undefined) throw reason;
    await undoWork(db);
    await endWork(db);
    return { status: 'rejected', reason };
  }
}

/** Does the work and takes it back, then writes and removes a table: only what is committed reaches the disk. */
export async function rehearse(db: Db, work: Work): Promise<void> {
  await beginWork(db);
  const settled = await work(db).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failureOf(settled) !== undefined) throw settled;
  await undoWork(db);
  await endWork(db);
  await makeProbe(db);
  await dropProbe(db);
}

const makeProbe = statementFor((dialect) => {
  const filling = dialect === 'sqlite' ? 'zeroblob(65536)' : "repeat('x', 65536)";
  return `create table store_probe as select ${filling} as filling`;
});
const dropProbe = statement('drop table store_probe');

const beginWork = statement('savepoint work');
const endWork = statement('release savepoint work');
const undoWork = statement('rollback to savepoint work');

/** Other processes beside a service write for milliseconds only. */
const WAIT_FOR_OTHERS_MS = 5_000;
const ASK_AGAIN_MS = 5;

/** Runs a transaction after waiting until no other process writes. Never repeats work that has begun. */
export async function writeAlone<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const giveUp = Date.now() + WAIT_FOR_OTHERS_MS;
  for (;;) {
    const turn = { hasBegun: false };
    try {
      return await transact(db.transaction(), async (transaction) => {
        // Either lock ends with the transaction.
        await lockStore(transaction);
        turn.hasBegun = true;
        return work(transaction);
      });
    } catch (error) {
      if (turn.hasBegun || !isBusy(error) || Date.now() > giveUp) throw error;
      await wait(ASK_AGAIN_MS);
    }
  }
}

/** Rejects with the error of the work: after a broken connection or a full disk, taking it back fails too. */
export async function transact<T>(
  transaction: TransactionBuilder<Tables>,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  let cause: unknown;
  try {
    return await transaction.execute(async (db) => {
      try {
        return await work(db);
      } catch (error) {
        cause = error;
        throw error;
      }
    });
  } catch (error) {
    throw cause ?? error;
  }
}

/** Changes no row. */
export const SQLITE_LOCK = 'update admin_keys set id = id where 1 = 0';

/**
 * PostgreSQL needs an explicit lock, and waits for it. SQLite locks at the first statement that writes, and fails if
 * another process holds the lock.
 */
const lockStore = statementFor((dialect) =>
  dialect === 'sqlite' ? SQLITE_LOCK : 'select pg_advisory_xact_lock(72616771)',
);
