import { isDeepStrictEqual } from 'node:util';
import { badRequest } from '../problem.js';

/** One operation of RFC 6902. Clients of the contract send the first three; difference tools also the others. */
export interface PatchOperation {
  readonly op: 'replace' | 'add' | 'remove' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

type Container = Record<string, unknown> | unknown[];

/**
 * Runs all operations on a copy, in order; the document itself is never changed.
 *
 * @throws Problem (400) one of them cannot be run; then none was.
 */
export function applyPatch(document: object, operations: readonly PatchOperation[]): unknown {
  // The holder makes the whole document a member like any other, so that the path "" needs no case of its own.
  const holder = { document: structuredClone(document) as unknown };
  for (const operation of operations) run(holder, operation);
  return holder.document;
}

function run(holder: { document: unknown }, operation: PatchOperation): void {
  const path = pointer(operation.path);
  switch (operation.op) {
    case 'add':
      add(holder, path, valueOf(operation));
      return;
    case 'replace':
      read(holder, path);
      replace(holder, path, valueOf(operation));
      return;
    case 'remove':
      remove(holder, path);
      return;
    case 'test':
      if (!isDeepStrictEqual(read(holder, path), valueOf(operation))) {
        throw badRequest(`Patch test of ${operation.path} failed`);
      }
      return;
    case 'copy':
      add(holder, path, structuredClone(read(holder, fromOf(operation))));
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

function valueOf(operation: PatchOperation): unknown {
  if (!Object.hasOwn(operation, 'value')) {
    throw badRequest(`Patch operation ${operation.op} of ${operation.path} has no value`);
  }
  return structuredClone(operation.value);
}

function fromOf(operation: PatchOperation): string[] {
  if (operation.from !== undefined) return pointer(operation.from);
  throw badRequest(`Patch operation ${operation.op} of ${operation.path} has no from`);
}

/** RFC 6901. The first part is always the holder's only member. */
function pointer(text: string): string[] {
  if (text !== '' && !text.startsWith('/'))
    throw badRequest(`Patch path ${text} must start with /`);
  if (/~(?![01])/.test(text)) throw badRequest(`Patch path ${text} holds a lone ~`);
  const parts = text.split('/').slice(1);
  return ['document', ...parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))];
}

function add(holder: object, path: readonly string[], value: unknown): void {
  const { parent, last } = parentOf(holder, path);
  if (!Array.isArray(parent)) {
    setMember(parent, last, value);
    return;
  }
  const index = last === '-' ? parent.length : indexOf(last, path);
  if (index > parent.length) throw missing(path);
  parent.splice(index, 0, value);
}

function replace(holder: object, path: readonly string[], value: unknown): void {
  const { parent, last } = parentOf(holder, path);
  if (Array.isArray(parent)) parent[indexOf(last, path)] = value;
  else setMember(parent, last, value);
}

function remove(holder: object, path: readonly string[]): void {
  if (path.length === 1) throw badRequest('Patch cannot remove the whole document');
  read(holder, path);
  const { parent, last } = parentOf(holder, path);
  if (Array.isArray(parent)) parent.splice(indexOf(last, path), 1);
  else Reflect.deleteProperty(parent, last);
}

/** Also where the name is `__proto__`: an own member, never the prototype. */
function setMember(parent: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(parent, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

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

function parentOf(holder: object, path: readonly string[]): { parent: Container; last: string } {
  const parent = read(holder, path.slice(0, -1));
  const last = path.at(-1);
  if (!isContainer(parent) || last === undefined) throw missing(path);
  return { parent, last };
}

function indexOf(part: string, path: readonly string[]): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(part)) throw missing(path);
  return Number(part);
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function missing(path: readonly string[]): Error {
  return badRequest(`Patch path /${path.slice(1).join('/')} does not exist`);
}
