import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/service/http/problem.js';
import { adminKeyId, createAdminKey, isSameKey } from '../../../src/service/http/key-check.js';
import { differenceOf } from '../../../src/service/change-log.js';
import { problemOfText } from '../../../src/service/http/bodies.js';
import {
  changedKeys,
  keysToAdd,
  keysToRemove,
  keysToUpload,
} from '../../../src/service/rules/keys.js';
import {
  checkFlagName,
  checkTrafficTypeName,
  checkTreatmentName,
  PAGE_SIZES,
  pageFrom,
  noteFrom,
} from '../../../src/service/rules/members.js';
import { RequestCounter } from '../../../src/service/rules/rate-limit.js';

/** A call that is made when the assertion asks for it. */
function running<Args extends unknown[]>(
  check: (...args: Args) => void,
  ...args: Args
): () => void {
  return () => {
    check(...args);
  };
}

describe('Admin API keys', () => {
  it('have a prefix, an id that is found again, and a hash that is not the key', () => {
    const { id, key, hash } = createAdminKey();

    expect(key).toMatch(/^fka_[0-9A-Za-z]{48}$/);
    expect(adminKeyId(key)).toBe(id);
    expect(isSameKey(key, hash)).toBe(true);
    expect(hash).not.toContain(key.slice(4));
  });

  it('differ each time, are not the same with one other character, and have no id where they are cut', () => {
    const { id, key, hash } = createAdminKey();
    const next = createAdminKey();
    const other = key.charAt(20) === 'x' ? 'y' : 'x';

    expect(next.id).not.toBe(id);
    expect(next.key.slice(16, 46)).not.toBe(key.slice(16, 46));
    expect(isSameKey(`${key.slice(0, 20)}${other}${key.slice(21)}`, hash)).toBe(false);
    expect(adminKeyId(key.slice(0, -1))).toBeUndefined();
    expect(adminKeyId('')).toBeUndefined();
  });
});

it('title and comment come from the query first, then from the body, if they are text', () => {
  const body = { title: 'b', comment: 'c' };
  expect(noteFrom({ title: 'q' }, body)).toEqual({ title: 'q', comment: 'c' });
  const nothing = { title: null, comment: null };
  expect(noteFrom({ title: ' ', comment: ['a', 'b'] }, [])).toEqual(nothing);
});

describe('pages', () => {
  it.each(['-1', '1e3', '0x1', ' 1', '1.0', ['1', '2']])('refuse the offset %j', (offset) => {
    expect(() => pageFrom({ offset }, PAGE_SIZES.objects)).toThrow(Problem);
  });
});

describe('names', () => {
  it.each(['a', 'A-b_9'])('take %s', (name) => {
    expect(running(checkTrafficTypeName, name)).not.toThrow();
  });

  it.each(['', '9a', '-a', 'a b', 'a.b', 'ä', 'a\n', 'x'.repeat(257)])('refuse %j', (name) => {
    expect(running(checkTrafficTypeName, name)).toThrow(Problem);
  });

  it('of treatments are other words than those of flags', () => {
    expect(running(checkFlagName, 'control')).not.toThrow();
    expect(running(checkFlagName, 'datetime')).toThrow(Problem);
    expect(running(checkTreatmentName, 'control')).toThrow(Problem);
  });
});

describe('keys of a request', () => {
  it('are each taken once, in the order given or sorted for the store', () => {
    expect(keysToAdd(['b', 'a', 'b'])).toEqual(['b', 'a']);
    expect(keysToUpload(['b', 'a', 'b'])).toEqual(['a', 'b']);
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

  it('are text that can be kept as it is', () => {
    // Two halves that would be a pair side by side.
    expect(() => keysToAdd(['\ud83d', '\ude00'])).toThrow(Problem);
    expect(keysToAdd(['ä', '\u{1F600}'])).toEqual(['ä', '\u{1F600}']);
    expect(() => keysToAdd(['\ud83d'])).toThrow(Problem);
    expect(keysToRemove(['\ud83d', 'a'])).toEqual(['a']);
  });
});

describe('differences', () => {
  it('name each member that differs, with the sides that had it', () => {
    expect(differenceOf({ a: 1, b: [1], c: 2 }, { b: [2], c: 2, d: null })).toEqual([
      { path: '/a', before: 1 },
      { path: '/b', before: [1], after: [2] },
      { path: '/d', after: null },
    ]);
  });
});

const whyNot = async (text: string) => (await problemOfText(text))?.message;

describe('the depth of JSON text', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

  it('counts lists and objects, and not what stands in text', async () => {
    expect(await whyNot(deep(64))).toBeUndefined();
    expect(await whyNot(deep(65))).toBe('Body is nested more than 64 levels deep');
    expect(await whyNot(JSON.stringify({ a: `"\\${'['.repeat(100)}` }))).toBeUndefined();
    const brackets = '['.repeat(100);
    expect(await whyNot(`{"${brackets}":"${brackets}","b":${deep(63)}}`)).toBeUndefined();
    expect(await whyNot(`{"${brackets}":"${brackets}","b":${deep(64)}}`)).toMatch(/deep/);
    const wide = JSON.stringify(Array.from({ length: 100 }, () => [{}]));
    expect(await whyNot(wide)).toBeUndefined();
  });

  it.each([0, 1, 2])('is counted on where a look at it ends, %i further', async (more) => {
    const long = 'x'.repeat(256 * 1024 - 70 + more);

    expect(await whyNot(`["${long}",${deep(64)}]`)).toMatch(/deep/);
    expect(await whyNot(`["${long}\\\\",${deep(63)}]`)).toBeUndefined();
  });
});

describe('a null character', () => {
  it.each([
    ['\0', true],
    ['"a\\u0000"', true],
    ['"\\\\\\u0000"', true],
    ['"\\\\u0000"', false],
    ['"u0000"', false],
  ])('is found in %j: %j', async (text, expected) => {
    expect((await whyNot(text)) !== undefined).toBe(expected);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])('is found where a look at it ends, %i further', async (more) => {
    const long = 'x'.repeat(256 * 1024 - 8 + more);

    expect(await whyNot(`["${long}\\u0000"]`)).toMatch(/null/);
    expect(await whyNot(`["${long}\\\\u0000"]`)).toBeUndefined();
  });
});

describe('the rate limit', () => {
  it('lets so many through in each window, for each caller', () => {
    const counter = new RequestCounter({ requests: 2, perSeconds: 10 });

    expect(counter.take('a', 0)).toEqual({ allowed: true, remaining: 1, resetSeconds: 10 });
    expect(counter.take('a', 9_500)).toEqual({ allowed: true, remaining: 0, resetSeconds: 1 });
    expect(counter.take('a', 9_999)).toMatchObject({ allowed: false, remaining: 0 });
    expect(counter.take('b', 9_999)).toMatchObject({ allowed: true });
    expect(counter.take('a', 10_000)).toMatchObject({ allowed: true, resetSeconds: 10 });
  });
});
