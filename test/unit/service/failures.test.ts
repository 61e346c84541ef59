import { describe, expect, it } from 'vitest';
import { failure, failureOf, storeHealth } from '../../../src/service/store/failures.js';

describe('an error of a store', () => {
  it.each([
    ['ECONNREFUSED', 503, 'The store does not answer'],
    ['08006', 503, 'The store does not answer'],
    ['57014', 503, 'The store does not answer'],
    ['57P03', 503, 'The store does not answer'],
    ['53300', 503, 'The store does not answer'],
    ['28P01', 503, 'The store does not let the service in'],
    ['3D000', 503, 'The store does not let the service in'],
    ['25006', 503, 'The store is read-only'],
    ['SQLITE_READONLY_DBMOVED', 503, 'The store is read-only'],
    ['SQLITE_BUSY_SNAPSHOT', 503, 'Another process holds the lock of the store'],
    ['55P03', 503, 'Another process holds the lock of the store'],
    ['SQLITE_CORRUPT_INDEX', 503, 'The store is damaged'],
    ['XX001', 503, 'The store is damaged'],
    ['SQLITE_IOERR_READ', 503, 'The disk of the store fails'],
    ['58030', 503, 'The disk of the store fails'],
    ['SQLITE_FULL', 507, 'The disk of the store is full'],
    [
      'SQLITE_IOERR_WRITE',
      507,
      'The disk of the store takes no writes: full, over a quota, or read-only',
    ],
    ['53100', 507, 'The disk of the store is full'],
  ])('with the code %s is answered with %i', (code, status, message) => {
    expect(failureOf(failure(code, 'why'))).toEqual({ status, message, code });
  });

  it.each(['23505', '42P01', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_ERROR', ''])(
    'with the code %j is no failure of the store',
    (code) => {
      expect(failureOf(failure(code, 'why'))).toBeUndefined();
    },
  );

  it('without a code is known by its words', () => {
    expect(failureOf(new Error('timeout exceeded when trying to connect'))?.status).toBe(503);
  });
});

describe('the health of a store', () => {
  const fails = async (): Promise<never> => Promise.reject(failure('53100', 'no space'));
  const answers = async (): Promise<void> => Promise.resolve();

  it('is bad until a trial of what failed succeeds', async () => {
    const health = storeHealth(answers, () => undefined);
    let again = fails;
    await expect(health.noting(fails, async () => again())).rejects.toThrow('no space');

    await expect(health.check()).rejects.toThrow('no space');
    again = async () => Promise.reject(new Error('refused by the rules'));
    await health.check();
    again = fails;
    await health.check();
  });

  it('names the failure that it knows if the trial takes too long', async () => {
    const health = storeHealth(answers, () => undefined);
    await expect(health.noting(fails, async () => new Promise(() => undefined))).rejects.toThrow();

    await expect(health.check()).rejects.toThrow('no space');
  });
});
