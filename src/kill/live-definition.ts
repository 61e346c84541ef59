import { RejectedError } from '../errors.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { WireDefinition } from '../admin-api/wire.js';

/** Place of a definition, by ids of the service. */
export interface DefinitionPlace {
  readonly workspaceId: string;
  readonly environmentId: string;
}

/** A workspace as it was when the state was written. */
export interface RememberedPlace {
  readonly workspaceId: string;
  /** Id → name. */
  readonly environments?: Readonly<Record<string, string>> | undefined;
}

/**
 * The definition of a flag of which only the name is known. If the name does not find it, this asks for the id of the
 * flag, because some services find definitions by that alone.
 *
 * @returns undefined if there is none; null if it was not found and the service does not show the flag, so that it may
 *   exist.
 */
export async function liveDefinition(
  reader: AdminReader,
  { workspaceId, environmentId }: DefinitionPlace,
  name: string,
): Promise<WireDefinition | null | undefined> {
  const named = await reader.getDefinition(workspaceId, environmentId, { name });
  if (named) return named;
  const flag = await reader.getFlag(workspaceId, name);
  // null stays null: a flag that the service can neither show nor deny may exist.
  if (!flag) return flag;
  return reader.getDefinition(workspaceId, environmentId, flag);
}

/** Whether the service refused a write because its target does not exist. */
export function isNotThere(error: unknown): boolean {
  return error instanceof RejectedError && error.status === 404;
}

/** Whether the service refused a path with names, which may mean that it only knows ids, or a method. */
export function isNotFoundSo(error: unknown): boolean {
  return error instanceof RejectedError && [400, 404, 405].includes(error.status);
}
