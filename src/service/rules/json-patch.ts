import { badRequest } from '../http/problem.js';
import { copyOf, isSameJson, isTooDeep, MAX_JSON_DEPTH, sizeOf } from './json.js';

/**
 * One operation of RFC 6902. The contract names the first three and the members `op`, `path` and `value`. Tools that
 * compute differences also send the other operations, and two of them have `from`.
 */
export interface PatchOperation {
  readonly op: 'replace' | 'add' | 'remove' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** A value whose members or elements a path can lead into. */
type Container = Record<string, unknown> | unknown[];

/** The document of a patch, and how much work the patch may still cause. */
interface Run {
  document: unknown;
  /** Measured by `sizeOf`. */
  copiesLeft: number;
  /** Elements of lists that insertions and removals may still move. */
  shiftsLeft: number;
}

/**
 * The most that the copies of one patch may hold together, by `sizeOf`: as much as a whole definition. Copies of copies
 * double: without a bound, two dozen short operations would fill the memory.
 */
const MAX_COPIED = 1024 * 1024;

/** The most elements of lists that one patch may shift; a single operation may shift as many as the list is long. */
const MAX_SHIFTED = 20_000_000;

/**
 * Runs all operations in order on a copy; the document itself never changes. Checks the cost of each operation before
 * running it.
 *
 * @throws Problem (400) one of them cannot be run, they copy or shift too much, or nest too deep; then no operation
 * takes effect.
 */
export function applyPatch(document: object, operations: readonly PatchOperation[]): unknown {
  // The holder makes the whole document a member like any other, so that the path "" needs no special case.
  const holder = {
    document: copyOf(document),
    copiesLeft: MAX_COPIED,
    shiftsLeft: MAX_SHIFTED,
  };
  for (const operation of operations) run(holder, operation);
  if (isTooDeep(holder.document)) {
    throw badRequest(`What the patch makes is nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  return holder.document;
}

/**
 * Runs one operation.
 *
 * @throws Problem (400) the path leads nowhere, a member that the operation needs is missing, or it copies too much.
 */
function run(holder: Run, operation: PatchOperation): void {
  const path = pointer(operation.path);
  switch (operation.op) {
    case 'add':
      add(holder, path, valueOf(operation));
      return;
    case 'replace':
      // An assignment would create a missing member, but replacing a missing member is an error.
      read(holder, path);
      replace(holder, path, valueOf(operation));
      return;
    case 'remove':
      remove(holder, path);
      return;
    case 'test':
      if (!isSameJson(read(holder, path), valueOf(operation))) {
        throw badRequest(`Patch test of ${operation.path} failed`);
      }
      return;
    case 'copy':
      add(holder, path, copied(holder, read(holder, fromOf(operation))));
      return;
    case 'move': {
      const from = fromOf(operation);
      const value = read(holder, from);
      if (path.length > from.length && from.every((part, index) => part === path[index])) {
        throw badRequest(`Patch cannot move ${String(operation.from)} into itself`);
      }
      remove(holder, from);
      add(holder, path, value);
    }
  }
}

/** Copies a part of the document, after checking its size. */
function copied(holder: Run, value: unknown): unknown {
  const size = sizeOf(value, holder.copiesLeft);
  if (size > holder.copiesLeft) throw badRequest('Patch copies more than a document can hold');
  holder.copiesLeft -= size;
  return copyOf(value);
}

/** Copies the value, so that a later operation does not change the request's own body. */
function valueOf(operation: PatchOperation): unknown {
  if (!Object.hasOwn(operation, 'value')) {
    throw badRequest(`Patch operation ${operation.op} of ${operation.path} has no value`);
  }
  return copyOf(operation.value);
}

/** The path from which `move` and `copy` take their value. */
function fromOf(operation: PatchOperation): string[] {
  if (operation.from !== undefined) return pointer(operation.from);
  throw badRequest(`Patch operation ${operation.op} of ${operation.path} has no from`);
}

/**
 * Splits a JSON Pointer (RFC 6901) into its parts. The first part is always the holder's only
 * member.
 */
function pointer(text: string): string[] {
  if (text !== '' && !text.startsWith('/'))
    throw badRequest(`Patch path ${text} must start with /`);
  if (/~(?![01])/.test(text)) throw badRequest(`Patch path ${text} holds a lone ~`);
  const parts = text.split('/').slice(1);
  return ['document', ...parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))];
}

/**
 * Sets a member, or inserts an element before the one at that index; `-` means the end of a list,
 * as in the contract's `/treatments/0/keys/-`.
 */
function add(holder: Run, path: readonly string[], value: unknown): void {
  const { parent, last } = parentOf(holder, path);
  if (!Array.isArray(parent)) {
    setMember(parent, last, value);
    return;
  }
  const index = last === '-' ? parent.length : indexOf(last, path);
  if (index > parent.length) throw missing(path);
  shift(holder, parent.length - index);
  parent.splice(index, 0, value);
}

/** Sets a member or element that is known to be there. */
function replace(holder: object, path: readonly string[], value: unknown): void {
  const { parent, last } = parentOf(holder, path);
  if (Array.isArray(parent)) parent[indexOf(last, path)] = value;
  else setMember(parent, last, value);
}

/** Takes a member out of an object or an element out of a list, whose later elements move up. */
function remove(holder: Run, path: readonly string[]): void {
  if (path.length === 1) throw badRequest('Patch cannot remove the whole document');
  read(holder, path);
  const { parent, last } = parentOf(holder, path);
  if (!Array.isArray(parent)) {
    Reflect.deleteProperty(parent, last);
    return;
  }
  shift(holder, parent.length - indexOf(last, path));
  parent.splice(indexOf(last, path), 1);
}

/** Counts the elements that move when one before them comes or goes. */
function shift(holder: Run, count: number): void {
  holder.shiftsLeft -= count;
  if (holder.shiftsLeft < 0) throw badRequest('Patch shifts too many elements of lists');
}

/** Defines an own member, even if the name is `__proto__`: an assignment would change the prototype instead. */
function setMember(parent: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(parent, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

/**
 * The value at a path. Inherited members do not count.
 *
 * @throws Problem (400) the path leads nowhere.
 */
function read(holder: object, path: readonly string[]): unknown {
  let value: unknown = holder;
  for (const part of path) {
    if (!isContainer(value)) throw missing(path);
    const name = Array.isArray(value) ? String(indexOf(part, path)) : part;
    if (!Object.hasOwn(value, name)) throw missing(path);
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The container of the last part of a path, and that part. */
function parentOf(holder: object, path: readonly string[]): { parent: Container; last: string } {
  const parent = read(holder, path.slice(0, -1));
  const last = path.at(-1);
  if (!isContainer(parent) || last === undefined) throw missing(path);
  return { parent, last };
}

/** The index that a part of a path names. RFC 6901 allows no sign and no leading zero. */
function indexOf(part: string, path: readonly string[]): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(part)) throw missing(path);
  return Number(part);
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/** @param path includes the holder's member, which the message leaves out. */
function missing(path: readonly string[]): Error {
  return badRequest(`Patch path /${path.slice(1).join('/')} does not exist`);
}
