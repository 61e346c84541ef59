import { describe, expect, it } from 'vitest';
import { applyPatch, type PatchOperation } from '../../../src/service/rules/json-patch.js';
import { Problem } from '../../../src/service/http/problem.js';

/** What patches of definitions do over HTTP is in `test/contract`: here is what no request shows, or shows dearly. */
const patched = (document: object, ...operations: PatchOperation[]): unknown =>
  applyPatch(document, operations);

it('a patch finds no inherited member', () => {
  expect(() => patched({}, { op: 'replace', path: '/toString', value: 1 })).toThrow(Problem);
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

it('the document is not changed, and its members keep their names', () => {
  const document = JSON.parse('{"__proto__": {"a": [1]}, "list": [{"b": 1}]}') as object;
  const text = JSON.stringify(document);

  const result = patched(
    document,
    { op: 'add', path: '/__proto__/a/-', value: 2 },
    { op: 'replace', path: '/list/0/b', value: 2 },
  );

  expect(JSON.stringify(result)).toBe('{"__proto__":{"a":[1,2]},"list":[{"b":2}]}');
  expect(JSON.stringify(document)).toBe(text);
});

describe('copies of copies', () => {
  const doubling = (times: number): PatchOperation[] =>
    Array.from({ length: times }, () => ({ op: 'copy', from: '/x', path: '/x/-' }));

  it.each([
    ['lists', []],
    ['texts', ['a'.repeat(2_000)]],
    ['names of members', [{ ['a'.repeat(2_000)]: 1 }]],
  ])('of %s are refused before they fill the memory', (_, x) => {
    expect(() => patched({ x }, ...doubling(200))).toThrow('more than a document can hold');
  });

  it('are made where they are few, and count together', () => {
    expect(patched({ x: [1] }, ...doubling(2))).toEqual({ x: [1, [1], [1, [1]]] });
    const text = 'a'.repeat(300_000);
    const copy = (path: string): PatchOperation => ({ op: 'copy', from: '/x', path });
    expect(patched({ x: text }, copy('/a'), copy('/b'))).toHaveProperty('b', text);
    expect(() => patched({ x: text }, ...['/a', '/b', '/c', '/d'].map(copy))).toThrow(Problem);
  });
});
