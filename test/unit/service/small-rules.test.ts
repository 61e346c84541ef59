import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/service/http/problem.js';
import {
  adminKeyId,
  createAdminKey,
  isSameKey,
  keyFromHeaders,
} from '../../../src/service/rules/admin-key.js';
import {
  definitionDifference,
  differenceOf,
  keysDifference,
} from '../../../src/service/rules/difference.js';
import { problemOfText } from '../../../src/service/http/bodies.js';
import {
  keysLacking,
  keysToAdd,
  keysToRemove,
  keysToUpload,
  readIdentity,
  wantsReplacement,
} from '../../../src/service/rules/keys.js';
import {
  checkFlagName,
  checkTrafficTypeName,
  checkTreatmentName,
} from '../../../src/service/rules/names.js';
import { PAGE_SIZES, pageFrom } from '../../../src/service/rules/paging.js';
import { RequestCounter } from '../../../src/service/rules/rate-limit.js';
import { checkNote, noteFrom } from '../../../src/service/rules/note.js';

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
    const { id, key, hash } = createAdminKey(randomBytes);

    expect(key).toMatch(/^fka_[0-9A-Za-z]{48}$/);
    expect(adminKeyId(key)).toBe(id);
    expect(isSameKey(key, hash)).toBe(true);
    expect(hash).not.toContain(key.slice(4));
  });

  it('differ each time, in their secret too', () => {
    const a = createAdminKey(randomBytes);
    const b = createAdminKey(randomBytes);

    expect(a.id).not.toBe(b.id);
    expect(a.key.slice(16, 46)).not.toBe(b.key.slice(16, 46));
    expect(isSameKey(a.key, b.hash)).toBe(false);
  });

  it('are not the same with one other character, and have no id where they are cut', () => {
    const { key, hash } = createAdminKey(randomBytes);
    const other = key.charAt(20) === 'x' ? 'y' : 'x';

    expect(isSameKey(`${key.slice(0, 20)}${other}${key.slice(21)}`, hash)).toBe(false);
    expect(adminKeyId(key.slice(0, -1))).toBeUndefined();
    expect(adminKeyId('')).toBeUndefined();
  });

  it.each<[string, object, string | undefined]>([
    ['a bearer token', { authorization: 'Bearer abc' }, 'abc'],
    ['a bearer token in lower case', { authorization: 'bearer abc' }, 'abc'],
    ['x-api-key', { 'x-api-key': 'abc' }, 'abc'],
    ['another scheme', { authorization: 'Basic abc' }, undefined],
    ['nothing', {}, undefined],
  ])('are taken from %s', (_, headers, expected) => {
    expect(keyFromHeaders(headers)).toBe(expected);
  });
});

describe('title and comment', () => {
  it('come from the query first, then from the body', () => {
    expect(noteFrom({ title: 'q' }, { title: 'b', comment: 'c' })).toEqual({
      title: 'q',
      comment: 'c',
    });
  });

  it('are not there when they are empty, no text, or the body is a list', () => {
    expect(noteFrom({ title: ' ', comment: ['a', 'b'] }, [])).toEqual({
      title: null,
      comment: null,
    });
  });

  it('are both needed, except where the body has no place for a title', () => {
    const comment = { title: null, comment: 'c' };

    expect(running(checkNote, comment, 'both')).toThrow(
      'Comment/title combination invalid for workspace',
    );
    expect(running(checkNote, comment, 'comment')).not.toThrow();
    expect(running(checkNote, { title: 't', comment: null }, 'comment')).toThrow(Problem);
  });
});

describe('pages', () => {
  it('have the sizes of the contract where the query names none', () => {
    expect(pageFrom({}, PAGE_SIZES.workspaces)).toEqual({ offset: 0, limit: 10 });
    expect(pageFrom({ offset: '7' }, PAGE_SIZES.objects)).toEqual({ offset: 7, limit: 20 });
    expect(pageFrom({ limit: '3' }, PAGE_SIZES.keys)).toEqual({ offset: 0, limit: 3 });
  });

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

  it('are passed over where they are empty and removed', () => {
    expect(keysToRemove(['', 'a', ''])).toEqual(['a']);
  });

  it('are found that another list lacks, where the lists share some, all or none', () => {
    expect(keysLacking(['a', 'b', 'd', 'e'], ['b', 'c', 'e'])).toEqual(['a', 'd']);
    expect(keysLacking(['a', 'b'], ['a', 'b'])).toEqual([]);
    expect(keysLacking(['c', 'd'], ['a', 'b'])).toEqual(['c', 'd']);
    expect(keysLacking(['a'], [])).toEqual(['a']);
    expect(keysLacking([], ['a'])).toEqual([]);
  });

  it('are text that can be kept as it is', () => {
    // Two halves that would be a pair side by side.
    expect(() => keysToAdd(['\ud83d', '\ude00'])).toThrow(Problem);
    expect(keysToAdd(['ä', '\u{1F600}'])).toEqual(['ä', '\u{1F600}']);
    expect(() => keysToAdd(['\ud83d'])).toThrow(Problem);
    expect(keysToRemove(['\ud83d', 'a'])).toEqual(['a']);
  });

  it.each<[unknown, boolean]>([
    [undefined, false],
    ['', true],
    ['true', true],
    ['True', true],
    ['FALSE', false],
  ])('replace others when the query says %j: %j', (replace, expected) => {
    expect(wantsReplacement({ replace })).toBe(expected);
  });

  it('do not guess what another word means', () => {
    expect(() => wantsReplacement({ replace: '1' })).toThrow(Problem);
  });
});

describe('identities', () => {
  const place = { trafficTypeId: 't', environmentId: 'e' };

  it('keep numbers and truth values as text', () => {
    expect(readIdentity({ key: 'k', values: { a: 1.5, b: true, c: 'x' } }, place)).toEqual({
      values: { a: '1.5', b: 'true', c: 'x' },
    });
  });

  it.each([{ a: null }, { a: {} }, { 'a b': 'x' }])('fail with %j', (values) => {
    expect(readIdentity({ key: 'k', values }, place)).toHaveProperty('failure');
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

  it('of definitions tell individual targets by treatment, as keys', () => {
    const before = {
      killed: false,
      treatments: [{ name: 'on', keys: ['a', 'b'] }, { name: 'off' }],
    };
    const after = {
      killed: true,
      treatments: [
        { name: 'on', keys: ['b'] },
        { name: 'off', keys: ['a'] },
      ],
    };

    expect(definitionDifference(before, after)).toEqual([
      { path: '/killed', before: false, after: true },
      { path: '/targets/off', added: 1, removed: 0, sample: ['a'] },
      { path: '/targets/on', added: 0, removed: 1, sample: ['a'] },
    ]);
  });

  it('tell keys by number and a few of them', () => {
    const added = Array.from({ length: 500 }, (_, index) => `k${index}`);

    const difference = keysDifference(added, ['gone']);

    expect(difference).toMatchObject({ added: 500, removed: 1 });
    expect(difference.sample).toHaveLength(20);
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
