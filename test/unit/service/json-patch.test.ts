import { describe, expect, it } from 'vitest';
import { applyPatch, type PatchOperation } from '../../../src/service/rules/json-patch.js';
import { Problem } from '../../../src/service/http/problem.js';

const patched = (document: object, ...operations: PatchOperation[]): unknown =>
  applyPatch(document, operations);

describe('add', () => {
  it('sets a member, whether it was there or not', () => {
    expect(
      patched({ a: 1 }, { op: 'add', path: '/a', value: 2 }, { op: 'add', path: '/b', value: 3 }),
    ).toEqual({ a: 2, b: 3 });
  });

  it('puts an item before the one at its position, or at the end', () => {
    expect(
      patched(
        { list: ['b'] },
        { op: 'add', path: '/list/0', value: 'a' },
        { op: 'add', path: '/list/2', value: 'c' },
        { op: 'add', path: '/list/-', value: 'd' },
      ),
    ).toEqual({ list: ['a', 'b', 'c', 'd'] });
  });

  it('replaces the whole document at the empty path', () => {
    expect(patched({ a: 1 }, { op: 'add', path: '', value: [] })).toEqual([]);
  });
});

describe('remove', () => {
  it('takes a member or an item away and closes the gap', () => {
    expect(
      patched(
        { a: 1, list: ['a', 'b', 'c'] },
        { op: 'remove', path: '/a' },
        { op: 'remove', path: '/list/1' },
      ),
    ).toEqual({ list: ['a', 'c'] });
  });
});

describe('replace, move, copy and test', () => {
  it('does what RFC 6902 says', () => {
    expect(
      patched(
        { a: { b: 1 }, list: [1, 2, 3] },
        { op: 'test', path: '/a', value: { b: 1 } },
        { op: 'replace', path: '/a/b', value: 2 },
        { op: 'move', from: '/list/0', path: '/list/2' },
        { op: 'copy', from: '/a', path: '/c' },
      ),
    ).toEqual({ a: { b: 2 }, c: { b: 2 }, list: [2, 3, 1] });
  });
});

describe('paths', () => {
  it('reads ~1 as a slash and ~0 as a tilde', () => {
    expect(patched({ 'a/~b': 1 }, { op: 'replace', path: '/a~1~0b', value: 2 })).toEqual({
      'a/~b': 2,
    });
  });

  it('sees no member that the document does not have itself', () => {
    for (const path of ['/toString', '/__proto__', '/__proto__/polluted', '/list/length']) {
      expect(() => patched({ list: [] }, { op: 'replace', path, value: 1 })).toThrow(Problem);
    }
  });

  it('adds no member named __proto__, as no body may have one', () => {
    const polluted = { op: 'add', path: '/__proto__', value: { polluted: true } } as const;

    expect(() => patched({}, polluted)).toThrow(Problem);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('test', () => {
  const tests = (value: unknown, wanted: unknown) => () =>
    patched({ value }, { op: 'test', path: '/value', value: wanted });

  it('finds values equal, whatever the order of their members', () => {
    for (const value of [null, 0, '', [], {}, [1, [2]], { a: { b: [1], c: null } }]) {
      expect(tests(value, value)).not.toThrow();
    }
    expect(tests({ a: 1, b: [2] }, { b: [2], a: 1 })).not.toThrow();
  });

  it.each([
    ['a list and an object', [], {}],
    ['lists of other lengths', [1], [1, 2]],
    ['lists in another order', [1, 2], [2, 1]],
    ['an object with a member more', { a: 1 }, { a: 1, b: 1 }],
    ['members of other names', { a: null, b: 1 }, { a: null, c: 1 }],
    ['a member __proto__ and the prototype', JSON.parse('{"__proto__":{}}'), { a: {} }],
    ['null and an object', null, {}],
    ['a number and its text', 1, '1'],
  ])('tells %s apart', (_, value, other) => {
    expect(tests(value, other)).toThrow(Problem);
    expect(tests(other, value)).toThrow(Problem);
  });
});

describe('the document', () => {
  it('is not changed, and its members keep their names', () => {
    const document = JSON.parse('{"__proto__": {"a": [1]}, "list": [{"b": 1}]}') as object;
    const text = JSON.stringify(document);
    const operations = [
      { op: 'add', path: '/__proto__/a/-', value: 2 },
      { op: 'replace', path: '/list/0/b', value: 2 },
    ] as const;

    const result = JSON.stringify(patched(document, ...operations));

    expect(result).toBe('{"__proto__":{"a":[1,2]},"list":[{"b":2}]}');
    expect(JSON.stringify(document)).toBe(text);
  });
});

describe('copies of copies', () => {
  const doubling = (times: number): PatchOperation[] =>
    Array.from({ length: times }, () => ({ op: 'copy', from: '/x', path: '/x/-' }));

  it.each([
    ['lists', []],
    ['texts', ['a'.repeat(2_000)]],
    ['names of members', [{ ['a'.repeat(2_000)]: 1 }]],
  ])('of %s are refused before they fill the memory', (_, x) => {
    expect(() => patched({ x }, ...doubling(200))).toThrow(Problem);
  });

  it('are made where they are few', () => {
    expect(patched({ x: [1] }, ...doubling(2))).toEqual({ x: [1, [1], [1, [1]]] });
  });

  it('count together, not one by one', () => {
    const text = 'a'.repeat(300_000);
    const copy = (path: string): PatchOperation => ({ op: 'copy', from: '/x', path });
    expect(patched({ x: text }, copy('/a'), copy('/b'))).toHaveProperty('b', text);
    expect(() => patched({ x: text }, ...['/a', '/b', '/c', '/d'].map(copy))).toThrow(Problem);
  });
});

describe('what cannot be run', () => {
  const document = { a: 1, list: ['x'], none: null };

  it.each<[string, PatchOperation]>([
    ['replaces what is not there', { op: 'replace', path: '/b', value: 1 }],
    ['removes what is not there', { op: 'remove', path: '/b' }],
    ['adds below what is not there', { op: 'add', path: '/b/c', value: 1 }],
    ['adds below a number', { op: 'add', path: '/a/c', value: 1 }],
    ['adds below null', { op: 'add', path: '/none/-', value: 1 }],
    ['adds beyond the end of a list', { op: 'add', path: '/list/2', value: 1 }],
    ['removes beyond the end of a list', { op: 'remove', path: '/list/1' }],
    ['replaces the end of a list', { op: 'replace', path: '/list/-', value: 1 }],
    ['names an item with a leading zero', { op: 'replace', path: '/list/00', value: 1 }],
    ['names an item by a word', { op: 'add', path: '/list/first', value: 1 }],
    ['has no slash at the start', { op: 'replace', path: 'a', value: 1 }],
    ['holds a lone tilde', { op: 'replace', path: '/a~2', value: 1 }],
    ['has no value', { op: 'add', path: '/b' }],
    ['has no from', { op: 'move', path: '/b' }],
    ['moves something into itself', { op: 'move', from: '/list', path: '/list/0' }],
    ['removes the whole document', { op: 'remove', path: '' }],
    ['tests another value', { op: 'test', path: '/a', value: 2 }],
  ])('refuses an operation that %s', (_, operation) => {
    expect(() => patched(document, operation)).toThrow(Problem);
  });

  it('leaves the document as it was', () => {
    const before = structuredClone(document);

    expect(() =>
      patched(document, { op: 'add', path: '/b', value: 1 }, { op: 'remove', path: '/c' }),
    ).toThrow(Problem);
    expect(document).toEqual(before);
  });
});
