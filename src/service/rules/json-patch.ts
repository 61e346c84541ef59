import jsonPatch from 'fast-json-patch';
import { badRequest } from '../http/problem.js';
import { checkShape, checkUntouched, type Schema, type ValidateFunction } from './shape.js';
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
/** The other three operations belong to the same standard (RFC 6902), so the service takes them too. */
export const PATCH_BODY: Schema = patchOf([...CONTRACT_OPERATIONS, 'move', 'copy', 'test'], {
  from: POINTER,
});

interface Bounds {
  /** Measured by `measuresOf`. */
  copiesLeft: number;
  /** Elements of lists that insertions and removals may still move. */
  shiftsLeft: number;
}

/**
 * The most that the copies of one patch may hold together, by `measuresOf`: as much as a whole definition. Copies of copies
 * double: without a bound, two dozen short operations would fill the memory.
 */
const MAX_COPIED = 1024 * 1024;

/** The most elements of lists that one patch may shift; a single operation may shift as many as the list is long. */
const MAX_SHIFTED = 20_000_000;

/**
 * Runs all operations in order on a copy; the document itself never changes. Checks path and cost of each operation
 * before the library runs it, because the library follows inherited members and knows no bounds.
 *
 * @param operations fit `PATCH_BODY`.
 * @throws Problem (400) an operation cannot be run, or they copy or shift too much, or nest too deep.
 */
export function applyPatch(document: object, operations: readonly PatchOperation[]): unknown {
  const bounds = { copiesLeft: MAX_COPIED, shiftsLeft: MAX_SHIFTED };
  const patched = operations.reduce<unknown>(
    (current, operation) => run(current, operation, bounds),
    copyOf(document),
  );
  if (measuresOf(patched).depth > MAX_JSON_DEPTH) {
    throw badRequest(`What the patch makes is nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  return patched;
}

/**
 * An object after a patch, of which clients may set some members.
 *
 * @param operations fit `PATCH_BODY`.
 * @throws Problem (400) as `applyPatch`, or the result has another shape or another value in a fixed member.
 */
export function patchedObject(
  what: string,
  before: object,
  operations: unknown,
  { hasShape, fixed }: { readonly hasShape: ValidateFunction; readonly fixed: readonly string[] },
): object {
  const after = applyPatch(before, operations as PatchOperation[]) as object;
  checkShape(hasShape, after, what);
  checkUntouched(before, after, fixed);
  return after;
}

function run(
  document: unknown,
  { op, path, from = '', value: given }: PatchOperation,
  bounds: Bounds,
): unknown {
  // A copy, so that a later operation does not change the request.
  const value = copyOf(given);
  switch (op) {
    case 'test':
      if (isSameJson(read(document, pointer(path)), value)) return document;
      throw badRequest(`Patch test of ${path} failed`);
    case 'copy':
      return add(document, path, copied(read(document, pointer(from)), bounds), bounds);
    case 'move': {
      const moved = read(document, pointer(from));
      if (path.startsWith(`${from}/`)) throw badRequest(`Patch cannot move ${from} into itself`);
      return add(remove(document, from, bounds), path, moved, bounds);
    }
    case 'add':
      return add(document, path, value, bounds);
    case 'remove':
      return remove(document, path, bounds);
    case 'replace':
      read(document, pointer(path));
      return applied(document, { op, path, value });
  }
}

function applied(
  document: unknown,
  operation:
    | { readonly op: 'add' | 'replace'; path: string; value: unknown }
    | { readonly op: 'remove'; path: string },
): unknown {
  // `add` below refuses the only path that could lead to a prototype.
  return jsonPatch.applyOperation(document, operation, false, true, false).newDocument;
}

function copied(value: unknown, bounds: Bounds): unknown {
  const { size } = measuresOf(value, bounds.copiesLeft);
  if (size > bounds.copiesLeft) throw badRequest('Patch copies more than a document can hold');
  bounds.copiesLeft -= size;
  return copyOf(value);
}

function pointer(text: string): string[] {
  return text.split('/').slice(1).map(jsonPatch.unescapePathComponent);
}

/** Sets a member, or inserts an element; `-` means the end of a list, as in the contract's `/treatments/0/keys/-`. */
function add(document: unknown, path: string, value: unknown, bounds: Bounds): unknown {
  const parts = pointer(path);
  const last = parts.at(-1);
  if (last !== undefined) {
    const parent = read(document, parts.slice(0, -1));
    if (!isContainer(parent)) throw missing(parts);
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : indexOf(last, parts);
      if (index > parent.length) throw missing(parts);
      shift(bounds, parent.length - index);
    } else if (last === '__proto__' && !Object.hasOwn(parent, last)) throw missing(parts);
  }
  return applied(document, { op: 'add', path, value });
}

function remove(document: unknown, path: string, bounds: Bounds): unknown {
  const parts = pointer(path);
  if (parts.length === 0) throw badRequest('Patch cannot remove the whole document');
  read(document, parts);
  const parent = read(document, parts.slice(0, -1));
  if (Array.isArray(parent)) shift(bounds, parent.length - Number(parts.at(-1)));
  return applied(document, { op: 'remove', path });
}

function shift(bounds: Bounds, count: number): void {
  bounds.shiftsLeft -= count;
  if (bounds.shiftsLeft < 0) throw badRequest('Patch shifts too many elements of lists');
}

/** Inherited members do not count. */
function read(document: unknown, parts: readonly string[]): unknown {
  let value = document;
  for (const part of parts) {
    if (!isContainer(value)) throw missing(parts);
    const name = Array.isArray(value) ? String(indexOf(part, parts)) : part;
    if (!Object.hasOwn(value, name)) throw missing(parts);
    value = value[name];
  }
  return value;
}

/** RFC 6901 allows no sign and no leading zero. */
function indexOf(part: string, parts: readonly string[]): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(part)) throw missing(parts);
  return Number(part);
}

function missing(parts: readonly string[]): Error {
  return badRequest(`Patch path /${parts.join('/')} does not exist`);
}
