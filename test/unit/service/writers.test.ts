import { setImmediate as letOthersRun } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../../../src/service/store/failures.js';
import { openStore, type Store } from '../../../src/service/store/store.js';
import type { Db } from '../../../src/service/store/tables.js';
import { insertWorkspace, listWorkspaces } from '../../../src/service/store/workspaces.js';
import { writeTogether, type NextWork } from '../../../src/service/store/writers.js';

let store: Store | undefined;

afterEach(async () => {
  await store?.close();
});

const inserting = (name: string) => async (db: Db) => {
  await insertWorkspace(db, { name, requiresTitleAndComments: false }, name);
  return name;
};
const failing = (name: string) => async (db: Db) => {
  await inserting(name)(db);
  throw new Error(`no ${name}`);
};

describe('writers of one store', () => {
  it('are undone where they fail, and no other is, wherever in the transaction', async () => {
    store = await openStore({ kind: 'memory' });
    const works = [failing('a'), inserting('b'), failing('c'), inserting('d'), failing('e')];

    const settled = await Promise.allSettled(works.map(async (work) => store?.write(work)));

    expect(settled.map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    const left = await store.read(async (db) => listWorkspaces(db));
    expect(left.map(({ name }) => name)).toEqual(['b', 'd']);
  });

  it('are not repeated once they have begun, whatever they fail with', async () => {
    store = await openStore({ kind: 'memory' });
    let begun = 0;
    const busy = store.write(async () => {
      begun += 1;
      return Promise.reject(failure('SQLITE_BUSY', 'database is locked'));
    });

    await expect(busy).rejects.toThrow('database is locked');
    expect(begun).toBe(1);
  });
});

/** Stands in for the database: takes what waits into one transaction, and says how many works each had. */
function transactions(fails: (nth: number) => boolean = () => false) {
  const sizes: number[] = [];
  const transact = async (next: NextWork) => {
    const nth = sizes.push(0) - 1;
    const settled: PromiseSettledResult<unknown>[] = [];
    for (let work = next(); work !== undefined; work = next()) {
      settled.push({ status: 'fulfilled', value: await work(undefined as never) });
      sizes[nth] = settled.length;
    }
    if (fails(nth)) throw new Error(`transaction ${nth}`);
    return settled;
  };
  return { sizes, write: writeTogether(transact) };
}

describe('writers that wait', () => {
  it('share a transaction, and nobody waits for one that comes while it is open', async () => {
    const { sizes, write } = transactions();
    const later: Promise<string>[] = [];

    const first = write(async () => {
      later.push(write(async () => Promise.resolve('later')));
      await letOthersRun();
      return 'first';
    });
    const second = write(async () => Promise.resolve('second'));

    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
    expect(await Promise.all(later)).toEqual(['later']);
    expect(sizes).toEqual([2, 1]);
  });

  it('are told of a commit that failed, and those that come later are not', async () => {
    const { write } = transactions((nth) => nth === 0);
    const both = [1, 2].map(async (each) => write(async () => Promise.resolve(each)));

    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    expect(await write(async () => Promise.resolve(3))).toBe(3);
  });

  it('are all told where no transaction can be begun', async () => {
    const write = writeTogether(async () => Promise.reject(new Error('away')));
    const all = [1, 2, 3].map(async (each) => write(async () => Promise.resolve(each)));

    for (const each of await Promise.allSettled(all)) {
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'away' } });
    }
  });

  it.each([
    ['ETIMEDOUT', 4_500, 'rejected'],
    ['ETIMEDOUT', 900, 'fulfilled'],
    ['a bug', 4_500, 'fulfilled'],
  ])('for one that fails with %s after %i ms are %s', async (code, lastedMs, status) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const write = writeTogether(async (next) => [
      { status: 'fulfilled', value: await next()?.(undefined as never) },
    ]);
    const late: Promise<string>[] = [];
    const first = write(async () => {
      vi.advanceTimersByTime(lastedMs);
      late.push(write(async () => Promise.resolve('late')));
      return Promise.reject(failure(code, 'no answer'));
    });
    const second = write(async () => Promise.resolve());
    const settled = await Promise.allSettled([first, second]);
    vi.useRealTimers();

    expect(settled.map((each) => each.status)).toEqual(['rejected', status]);
    expect(await Promise.all(late)).toEqual(['late']);
  });
});
