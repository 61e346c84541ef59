import { RejectedError } from '../errors.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { WireDefinition } from '../admin-api/wire.js';

/** Where a definition is, in the ids of the service. */
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
 * The definition of a flag of which nothing is known but its name: some services find definitions by the id of the flag
 * alone, and show the flag by its name.
 *
 * @returns undefined: there is none; null: it was not found, and the service does not show the flag, so that nobody knows.
 */
export async function liveDefinition(
  reader: AdminReader,
  { workspaceId, environmentId }: DefinitionPlace,
  name: string,
): Promise<WireDefinition | null | undefined> {
  const named = await reader.getDefinition(workspaceId, environmentId, { name });
  if (named) return named;
  const flag = await reader.getFlag(workspaceId, name);
  // What the service cannot show and has not denied may be there.
  if (!flag) return flag;
  return reader.getDefinition(workspaceId, environmentId, flag);
}

/** Whether the service refused a write because it does not have what it is about. */
export function isNotThere(error: unknown): boolean {
  return error instanceof RejectedError && error.status === 404;
}

/** Whether the service refused a path by names, which it may know by ids alone, or another method. */
export function isNotFoundSo(error: unknown): boolean {
  return error instanceof RejectedError && [400, 404, 405].includes(error.status);
}
