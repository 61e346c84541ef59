import { describe, expect, it } from 'vitest';
import { problemOfText } from '../../../src/service/http/bodies.js';
import { adminKeyId, createAdminKey, isSameKey } from '../../../src/service/http/key-check.js';
import { changedKeys, keysToAdd, keysToRemove } from '../../../src/service/rules/keys.js';
import { requestCounter } from '../../../src/service/rules/rate-limit.js';

it('Admin API keys have a prefix, an id that is found again, and a hash; each is another', () => {
  const { id, key, hash } = createAdminKey();
  const next = createAdminKey();
  const other = key.charAt(20) === 'x' ? 'y' : 'x';

  expect(key).toMatch(/^fka_[0-9A-Za-z]{48}$/);
  expect([key, key.slice(0, -1), ''].map(adminKeyId)).toEqual([id, undefined, undefined]);
  expect(isSameKey(key, hash)).toBe(true);
  expect(isSameKey(`${key.slice(0, 20)}${other}${key.slice(21)}`, hash)).toBe(false);
  expect(hash).not.toContain(key.slice(4));
  expect(next.id).not.toBe(id);
  expect(next.key.slice(16, 46)).not.toBe(key.slice(16, 46));
});

describe('keys of a request', () => {
  it('are each taken once, sorted for the store', () => {
    expect(keysToAdd(['b', 'a', 'b'])).toEqual(['a', 'b']);
  });

  it.each([
    ['bce', 'abde', 'ad', 'c'],
    ['abde', 'bce', 'c', 'ad'],
    ['ab', 'ab', '', ''],
    ['ab', 'cd', 'cd', 'ab'],
    ['', 'a', 'a', ''],
    ['a', '', '', 'a'],
  ])('differ between "%s" and "%s" in added "%s" and removed "%s"', (before, after, ...changed) => {
    const keysOf = (letters: string): string[] => letters.match(/./g) ?? [];
    const [added, removed] = changed.map(keysOf);
    expect(changedKeys(keysOf(before), keysOf(after))).toEqual({ added, removed });
  });

  it('are not empty where they are removed', () => {
    expect(keysToRemove(['', 'a'])).toEqual(['a']);
  });
});

describe('a text is refused before it is parsed', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const brackets = '['.repeat(100);
  const wide = JSON.stringify(Array.from({ length: 100 }, () => [{}]));

  it.each([
    ['64 levels', deep(64), undefined],
    ['65 levels', deep(65), 'Body is nested more than 64 levels deep'],
    [
      'brackets in text, behind a quotation mark',
      JSON.stringify({ a: `"\\${brackets}` }),
      undefined,
    ],
    ['brackets in names', `{"${brackets}":"${brackets}","b":${deep(63)}}`, undefined],
    ['one level more', `{"${brackets}":"${brackets}","b":${deep(64)}}`, /deep/],
    ['many lists side by side', wide, undefined],
    ['a null character', '\0', /null/],
    ['an escaped one', '"a\\u0000"', /null/],
    ['one behind a backslash', '"\\\\\\u0000"', /null/],
    ['its letters behind a backslash', '"\\\\u0000"', undefined],
    ['its letters', '"u0000"', undefined],
    ['half of a pair', String.raw`"a\ud83d"`, /half/],
    ['its other half', String.raw`"\ude00a"`, /half/],
    ['a pair the wrong way round', String.raw`"\uDE00\uD83D"`, /half/],
    ['two halves in two texts', String.raw`["\ud83d","\ude00"]`, /half/],
    ['half behind a pair', String.raw`"\ud83d\ude00\ude00"`, /half/],
    ['half behind the letters of the other', String.raw`"\\ud83d\ude00"`, /half/],
    ['pairs', String.raw`["\uD83D\uDE00\ud83d\ude00","ä","😀"]`, undefined],
    ['the letters of a half behind a backslash', String.raw`"\\ud83d"`, undefined],
  ])('or not: %s', async (_, text, why) => {
    const message = (await problemOfText(text))?.message;
    if (why === undefined) expect(message).toBeUndefined();
    else expect(message).toMatch(why);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])('also where a look at it ends, %i further', async (more) => {
    const long = 'x'.repeat(256 * 1024 - 8 + more);
    const longer = 'x'.repeat(256 * 1024 - 70 + more);
    const texts = [
      `["${longer}",${deep(64)}]`,
      `["${longer}\\\\",${deep(63)}]`,
      `["${long}\\u0000"]`,
      `["${long}\\\\u0000"]`,
    ];

    const problems = await Promise.all(texts.map(problemOfText));

    const deepest = 'Body is nested more than 64 levels deep';
    const none = 'Body must not hold a null character, or half of a surrogate pair';
    const found = problems.map((problem) => problem?.message);
    expect(found).toEqual([deepest, undefined, none, undefined]);
  });
});

it('the rate limit lets so many through in each window, for each caller', () => {
  const take = requestCounter({ requests: 2, perSeconds: 10 });

  expect(take('a', 0)).toEqual({ allowed: true, remaining: 1, resetSeconds: 10 });
  expect(take('a', 9_500)).toEqual({ allowed: true, remaining: 0, resetSeconds: 1 });
  expect(take('a', 9_999)).toMatchObject({ allowed: false, remaining: 0 });
  expect(take('b', 9_999)).toMatchObject({ allowed: true });
  expect(take('a', 10_000)).toMatchObject({ allowed: true, resetSeconds: 10 });
});

it('a rate limit lasts no longer where the clock of the machine was set back by an hour', () => {
  const take = requestCounter({ requests: 1, perSeconds: 10 });
  take('a', 3_600_000);

  expect(take('a', 0)).toEqual({ allowed: true, remaining: 0, resetSeconds: 10 });
  expect(take('a', 5_000)).toMatchObject({ allowed: false, resetSeconds: 5 });
});
