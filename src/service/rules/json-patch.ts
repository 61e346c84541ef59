import { badRequest } from '../http/problem.js';
import type { Schema } from './shape.js';
import { copyOf, isContainer, isSameJson, MAX_JSON_DEPTH, measuresOf } from './json.js';

/** The contract names the first three. Tools that compute differences also send the others. */
export interface PatchOperation {
  readonly op: 'replace' | 'add' | 'remove' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** A JSON Pointer (RFC 6901). */
const POINTER: Schema = { type: 'string', pattern: '^(/([^~\\u0000]|~[01])*)?$' };

const NEEDED: Readonly<Record<string, string>> = {
  add: 'value',
  replace: 'value',
  test: 'value',
  move: 'from',
  copy: 'from',
};

/** As RFC 6902 demands, further members of an operation are ignored. */
const patchOf = (operations: readonly string[], more: Schema = {}): Schema => ({
  type: 'array',
  maxItems: 10_000,
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: { op: { enum: operations }, path: POINTER, ...more, value: true },
    allOf: Object.entries(NEEDED)
      .filter(([operation]) => operations.includes(operation))
      .map(([operation, needed]) => ({
        if: { properties: { op: { const: operation } } },
        then: { required: [needed] },
      })),
  },
});

const CONTRACT_OPERATIONS = ['replace', 'add', 'remove'];
export const CONTRACT_PATCH_BODY: Schema = patchOf(CONTRACT_OPERATIONS);
export const PATCH_BODY: Schema = patchOf([...CONTRACT_OPERATIONS, 'move', 'copy', 'test'], {
  from: POINTER,
});

/**
 * The most that the copies of one patch may hold together, by `measuresOf`: as much as a whole definition. Copies of
 * copies double, so two dozen short operations could fill the memory.
 */
const MAX_COPIED = 1024 * 1024;

/** The most elements of lists that one patch may shift; a single operation may shift as many as the list is long. */
const MAX_SHIFTED = 20_000_000;

/**
 * Runs all operations in order on a copy; the document itself never changes. Inherited members do not count.
 *
 * @param operations fit `PATCH_BODY`.
 * @throws Problem (400) an operation cannot be run, or they copy or shift too much, or nest too deep.
 */
export function applyPatch(document: object, operations: readonly PatchOperation[]): unknown {
  const patch = new Patch(document);
  for (const operation of operations) patch.run(operation);
  const patched = patch.read('');
  if (measuresOf(patched).depth > MAX_JSON_DEPTH) {
    throw badRequest(`What the patch makes is nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  return patched;
}

class Patch {
  /** Every pointer begins with an empty name, which leads from here to the document. */
  readonly #root: Record<string, unknown>;
  #copiesLeft = MAX_COPIED;
  #shiftsLeft = MAX_SHIFTED;

  constructor(document: object) {
    this.#root = { '': copyOf(document) };
  }

  run({ op, path, from = '', value: given }: PatchOperation): void {
    // A copy, so that a later operation does not change the request.
    const value = copyOf(given);
    switch (op) {
      case 'test':
        if (isSameJson(this.read(path), value)) return;
        throw badRequest(`Patch test of ${path} failed`);
      case 'copy':
        this.#add(path, this.#copied(this.read(from)));
        return;
      case 'move': {
        const moved = this.read(from);
        if (path.startsWith(`${from}/`)) throw badRequest(`Patch cannot move ${from} into itself`);
        this.#remove(from);
        this.#add(path, moved);
        return;
      }
      case 'add':
        this.#add(path, value);
        return;
      case 'remove':
        this.#remove(path);
        return;
      case 'replace': {
        this.read(path);
        const { parent, name } = this.#placeOf(path);
        parent[name] = value;
      }
    }
  }

  read(path: string): unknown {
    return valueAt(this.#root, namesIn(path));
  }

  /** Sets a member, or inserts an element; `-` means the end of a list, as in the contract's `/treatments/0/keys/-`. */
  #add(path: string, value: unknown): void {
    const { parent, name, names } = this.#placeOf(path);
    if (Array.isArray(parent)) {
      const index = name === '-' ? parent.length : indexOf(name, names);
      if (index > parent.length) throw missing(names);
      this.#shift(parent.length - index);
      parent.splice(index, 0, value);
    } else if (name === '__proto__' && !Object.hasOwn(parent, name)) throw missing(names);
    else parent[name] = value;
  }

  #remove(path: string): void {
    if (path === '') throw badRequest('Patch cannot remove the whole document');
    this.read(path);
    const { parent, name } = this.#placeOf(path);
    if (Array.isArray(parent)) {
      this.#shift(parent.length - Number(name));
      parent.splice(Number(name), 1);
    } else Reflect.deleteProperty(parent, name);
  }

  #placeOf(path: string) {
    const names = namesIn(path);
    const parent = valueAt(this.#root, names.slice(0, -1));
    if (!isContainer(parent)) throw missing(names);
    return { parent, name: names.at(-1) ?? '', names };
  }

  #copied(value: unknown): unknown {
    const { size } = measuresOf(value, this.#copiesLeft);
    if (size > this.#copiesLeft) throw badRequest('Patch copies more than a document can hold');
    this.#copiesLeft -= size;
    return copyOf(value);
  }

  #shift(count: number): void {
    this.#shiftsLeft -= count;
    if (this.#shiftsLeft < 0) throw badRequest('Patch shifts too many elements of lists');
  }
}

function valueAt(root: object, names: readonly string[]): unknown {
  let value: unknown = root;
  for (const each of names) {
    if (!isContainer(value)) throw missing(names);
    const name = Array.isArray(value) ? String(indexOf(each, names)) : each;
    if (!Object.hasOwn(value, name)) throw missing(names);
    value = value[name];
  }
  return value;
}

function namesIn(pointer: string): string[] {
  return pointer.split('/').map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** RFC 6901 allows no sign and no leading zero. */
function indexOf(name: string, names: readonly string[]): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(name)) throw missing(names);
  return Number(name);
}

function missing(names: readonly string[]): Error {
  return badRequest(`Patch path ${names.join('/')} does not exist`);
}
