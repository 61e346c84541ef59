import { describe, expect, it } from 'vitest';
import {
  askedWaitMs,
  backoffMs,
  RETRY_TABLE,
  OutageClock,
  withRetry,
  type Failure,
  type RequestKind,
  type Try,
} from '../../../../src/admin-api/http/retry.js';
import { JumpingTime } from '../../../support/http-time.js';

class GaveUp extends Error {}

interface Run {
  readonly result: string;
  readonly tries: number;
  readonly lookUps: number;
  readonly sleeps: readonly number[];
}

function failure(
  name: Failure,
  extra: { askedWaitMs?: number; status?: number } = {},
): Try<string> {
  const isSilent = name === 'not-sent' || name === 'lost';
  return { ok: false, failure: name, status: isSilent ? null : 500, why: name, ...extra };
}

type Options = Parameters<typeof withRetry<string>>[0];

/** A request whose tries end as the script says, and then with an answer. @param more `confirm` finds nothing by default. */
async function run(
  kind: RequestKind,
  script: readonly Try<string>[],
  more: Partial<Options> = {},
  time = new JumpingTime(),
): Promise<Run> {
  let tries = 0;
  let lookUps = 0;
  const lookUp = 'confirm' in more ? more.confirm : async () => Promise.resolve(undefined);
  const result = await withRetry<string>({
    kind,
    time,
    silence: new OutageClock(30_000, time),
    once: async () => {
      tries += 1;
      return Promise.resolve(script[tries - 1] ?? { ok: true, answer: 'answered' });
    },
    ended: (cause) => cause,
    giveUp: ({ last, tries: count, uncertain }) =>
      new GaveUp(`${last.failure} after ${count}${uncertain ? ', uncertain' : ''}`),
    ...more,
    confirm:
      lookUp &&
      (async () => {
        lookUps += 1;
        return lookUp();
      }),
  }).catch((error: unknown) => {
    if (error instanceof GaveUp) return error.message;
    throw error;
  });
  return { result, tries, lookUps, sleeps: time.sleeps };
}

const FOUND: Partial<Options> = { confirm: async () => Promise.resolve('found') };
const many = (each: Try<string>): Try<string>[] => Array.from({ length: 100 }, () => each);

const FAILURES = Object.keys(RETRY_TABLE.read) as Failure[];
const FINAL: readonly Failure[] = ['refused', 'permanent'];

describe('withRetry', () => {
  it.each(['read', 'write', 'delete'] as const)(
    'repeats a %s after all that may pass',
    async (kind) => {
      for (const name of FAILURES) {
        const { result, lookUps } = await run(kind, [failure(name)]);
        const isRepeated = result.startsWith('answered');
        expect([name, isRepeated, lookUps]).toEqual([name, !FINAL.includes(name), 0]);
      }
    },
  );

  it('repeats a patch that nobody can look up only when it surely had no effect', async () => {
    const repeated: string[] = [];
    for (const name of FAILURES) {
      const { tries } = await run('patch', [failure(name)], { confirm: undefined });
      if (tries > 1) repeated.push(name);
    }

    expect(repeated).toEqual(['not-sent', 'throttled', 'unavailable']);
  });

  it.each([
    ['looks before it repeats a patch whose fate is unknown', 'patch', []],
    [
      'looks before it repeats a creation whose fate is unknown, and repeats only what is not there',
      'create',
      ['unavailable'],
    ],
  ] as const)('%s', async (_, kind, more) => {
    for (const name of ['lost', 'challenged', 'server-error', 'unreadable', ...more] as const) {
      const made = await run(kind, [failure(name)], FOUND);
      expect([name, made.result, made.tries, made.lookUps]).toEqual([name, 'found', 1, 1]);

      const unmade = await run(kind, [failure(name)]);
      expect([name, unmade.result, unmade.tries]).toEqual([name, 'answered', 2]);
    }
  });

  it.each([
    ['surely not created', [failure('not-sent'), failure('throttled')], 'answered', 3],
    ['in conflict at the first try', [failure('refused', { status: 409 })], 'refused after 1', 1],
  ])('does not look for what was %s', async (_, script, result, tries) => {
    expect(await run('create', script, FOUND)).toMatchObject({ result, tries, lookUps: 0 });
  });

  it('still looks after a later try was turned away, when an earlier one may have been made', async () => {
    // The first look comes before the service shows what it made.
    const looks = [undefined, 'found'];
    const tries = [failure('lost'), failure('refused', { status: 409 })];
    const confirm = async (): Promise<string | undefined> => Promise.resolve(looks.shift());

    expect((await run('create', tries, { confirm })).result).toBe('found');
  });

  it('gives a dead network up at its deadline, with the last try on it', async () => {
    const { result, tries, sleeps } = await run('read', many(failure('not-sent')));

    expect(sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(30_000);
    expect(result).toBe(`not-sent after ${tries}`);
    expect(tries).toBeLessThan(20);
  });

  it('believes a server error after 4 tries and an unreadable answer after 3', async () => {
    const resultOf = async (name: Failure) => (await run('read', many(failure(name)))).result;

    expect(await resultOf('server-error')).toBe('server-error after 4, uncertain');
    expect(await resultOf('unreadable')).toBe('unreadable after 3, uncertain');
  });

  it.each([
    ['as long as the service asks, beyond the limit of a dead network', 90_000, 90_000, 90_250],
    ['a little where the service asks for 0 seconds', 0, 500, 500],
  ])('waits %s', async (_, askedWaitMs, least, most) => {
    const { result, sleeps } = await run('patch', [failure('throttled', { askedWaitMs })]);

    expect(result).toBe('answered');
    expect(sleeps[0]).toBeGreaterThanOrEqual(least);
    expect(sleeps[0]).toBeLessThanOrEqual(most);
  });

  it('tries again soon what is urgent and was turned away, whatever the service asks for', async () => {
    const asked = failure('throttled', { askedWaitMs: 20_000, status: 429 });
    const { result, sleeps } = await run('write', many(asked).slice(0, 60), { isUrgent: true });

    expect(result).toBe('answered');
    expect(sleeps.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 100));
    expect(Math.max(...sleeps)).toBe(1_000);
  });

  it('does not wait for an hour', async () => {
    const asked = failure('throttled', { askedWaitMs: 3_600_000 });

    expect(await run('read', [asked])).toMatchObject({ result: 'throttled after 1', sleeps: [] });
  });
});

describe('Silence', () => {
  it('goes on while every try lasts as long as the time-out, and is given up', async () => {
    const time = new JumpingTime();
    let tries = 0;
    const once: Options['once'] = async ({ limitMs }) => {
      tries += 1;
      await time.sleep(limitMs);
      return failure('lost');
    };

    expect((await run('read', [], { once }, time)).result).toContain('lost after 2');
    expect(tries).toBe(2);
  });

  it('counts over all requests, ends with any answer, and is forgotten when nothing was tried for long', async () => {
    const time = new JumpingTime();
    const silence = new OutageClock(30_000, time);
    const fail = (): void => {
      silence.note(false, time.now());
    };
    fail();
    await time.sleep(29_500);
    fail();
    expect([silence.elapsedMs(), silence.remainingMs()]).toEqual([29_500, 1_000]);

    silence.note(true, time.now());
    expect(silence.elapsedMs()).toBe(0);

    fail();
    await time.sleep(60_000);
    fail();
    expect(silence.elapsedMs()).toBe(0);
  });
});

describe('askedWaitMs', () => {
  const now = Date.UTC(2026, 9, 21, 7, 28, 0);
  it.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['an HTTP date', { 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, 30_000],
    ['a date gone by', { 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT' }, 0],
    [
      "a date by the service's own clock",
      { 'retry-after': 'Wed, 21 Oct 2026 09:00:05 GMT', date: 'Wed, 21 Oct 2026 09:00:00 GMT' },
      5_000,
    ],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number as a date long gone', { 'retry-after': '-5' }, 0],
    ['nothing', {}, undefined],
    [
      'the larger reset',
      { 'x-ratelimit-reset-seconds-org': '3', 'x-ratelimit-reset-seconds-ip': '8' },
      8_000,
    ],
    ['the longest of all', { 'retry-after': '9', 'x-ratelimit-reset-seconds-ip': '8' }, 9_000],
  ])('reads %s', (_, headers, expected) => {
    expect(askedWaitMs(headers, now)).toBe(expected);
  });
});

it('keeps every delay between 0 and a ceiling that doubles up to 8 s', () => {
  expect([1, 2, 3, 9].map((tries) => backoffMs(tries, 1))).toEqual([500, 1_000, 2_000, 8_000]);
  expect(backoffMs(5, 0)).toBe(0);
});
