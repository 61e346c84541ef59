import { FlagkeelError, RejectedError } from '../errors.js';
import { flagFieldsFromWire } from '../model/flag/fields.js';
import type { FlagFields, FlagFieldsChange } from '../model/flag/flag.js';
import { patched, definitionFromWire } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import type { ChangeNote } from '../model/outcome.js';
import type { BodyNotes } from './body-notes.js';
import type { AdminClient } from './http/admin-client.js';
import { look } from './look.js';
import type { AdminReader } from './reader.js';
import * as shapes from './decode.js';
import {
  MAX_KEYS_PER_REQUEST,
  type WireDefinition,
  type WireDefinitionBody,
  type WireFlag,
  type WirePatchOperation,
  type WireSegment,
  type WireSegmentInEnvironment,
} from './wire.js';
import type { AdminWriter, DefinitionTarget, NewObject } from './writer.js';

/** Finds the effect of a write of unknown fate, or the object in an answer. */

/**
 * Whether `live` has all values of `ours`. Empty values of `ours` may be absent in it, and the service may add any
 * others.
 */
function matchesRequest(live: unknown, ours: unknown): boolean {
  if (isEmpty(ours)) return isEmpty(live);
  if (Array.isArray(ours)) {
    return (
      Array.isArray(live) &&
      live.length === ours.length &&
      ours.every((each, index) => matchesRequest(live[index], each))
    );
  }
  if (typeof ours !== 'object' || ours === null) return live === ours;
  if (typeof live !== 'object' || live === null) return false;
  const held = live as Record<string, unknown>;
  return Object.entries(ours).every(([field, value]) => matchesRequest(held[field], value));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

/**
 * @param patch patches the wanted flag.
 * @returns the flag if it was created with the wanted values.
 */
export async function findFlag(
  reader: AdminReader,
  workspaceId: string,
  flag: NewObject,
  patch: (operations: readonly WirePatchOperation[]) => Promise<WireFlag>,
): Promise<WireFlag | undefined> {
  const flags = await reader.listFlags(workspaceId);
  if (flags !== null) return flags.find((found) => isSameObject(found, flag));
  // A service that cannot show a flag returns it for a patch; this one repeats the values of the creation.
  const found = await unlessAbsent(
    patch([{ op: 'replace', path: '/description', value: flag.description }]),
  );
  return found && isSameObject(found, flag) ? found : undefined;
}

/** @returns undefined if the service has no such flag. */
async function unlessAbsent(patching: Promise<WireFlag>): Promise<WireFlag | undefined> {
  try {
    return await patching;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return undefined;
    throw error;
  }
}

/** @returns the definition if it was created with the wanted values. */
export async function findCreated(
  reader: AdminReader,
  place: DefinitionTarget,
  body: WireDefinitionBody,
): Promise<WireDefinition | undefined> {
  const found = await look(reader, place, { name: place.flag });
  return found.is === 'seen' && matchesRequest(found.definition, body)
    ? found.definition
    : undefined;
}

/**
 * @returns the definition if the patch was made; `undefined` if it is still unchanged.
 * @throws FlagkeelError it is neither, because a foreign write has changed it.
 */
export async function findPatched(
  reader: AdminReader,
  place: DefinitionTarget,
  operations: readonly WirePatchOperation[],
  expected: WireDefinition,
): Promise<WireDefinition | undefined> {
  const { flag } = place;
  const found = await look(reader, place, { name: flag, id: expected.id });
  const live = found.is === 'seen' ? found.definition : undefined;
  const isNow = (wire: WireDefinition): boolean =>
    live !== undefined && sameJson(definitionFromWire(live), definitionFromWire(wire));
  if (isNow(patched(expected, operations))) return live;
  if (isNow(expected)) return undefined;
  throw new FlagkeelError(
    'UNREADABLE',
    `the definition of flag ${JSON.stringify(flag)} is neither what it was nor what it should be`,
  );
}

/**
 * @returns the flag if the patch was made; `undefined` if its fields are still unchanged, or if it is gone, which the
 *   next try will show.
 * @throws FlagkeelError they are neither, because a foreign write has changed them.
 */
export async function findPatchedFlag(
  writer: FlagPatcher,
  reader: AdminReader,
  place: FlagPlace,
  { before, after }: FlagFieldsChange,
): Promise<WireFlag | undefined> {
  const live = await shownFlag(writer, reader, place);
  if (!live || hasFields(live, after)) return live;
  if (hasFields(live, before)) return undefined;
  throw new FlagkeelError(
    'UNREADABLE',
    `flag ${JSON.stringify(place.flag)} is neither what it was nor what it should be`,
  );
}

function hasFields(live: WireFlag, wanted: FlagFields): boolean {
  const fields: FlagFields = flagFieldsFromWire(live);
  return sameJson({ ...fields, ...wanted }, fields);
}

/** The contract leaves the answer to a patch open: only a definition of the same place is accepted. */
export function asDefinition(json: unknown, place: DefinitionTarget): WireDefinition | null {
  try {
    const found = shapes.definition(json);
    const { id, name } = found.environment;
    const isSamePlace = [id, name].includes(place.environmentId) && found.name === place.flag;
    return isSamePlace ? found : null;
  } catch {
    return null;
  }
}

export function isSameObject(found: WireFlag | WireSegment, wanted: NewObject): boolean {
  return (
    found.name === wanted.name &&
    (found.description ?? '') === wanted.description &&
    [found.trafficType.name, found.trafficType.id].includes(wanted.trafficType)
  );
}

/** An activation that is only known to exist. */
export function activation(environmentId: string, segment: string): WireSegmentInEnvironment {
  const unknown = { id: '', name: '' };
  return {
    name: segment,
    environment: { id: environmentId, name: environmentId },
    trafficType: unknown,
    creationTime: 0,
  };
}

export function definitionPath({ workspaceId, environmentId, flag }: DefinitionTarget): string[] {
  return ['splits', 'ws', workspaceId, flag, 'environments', environmentId];
}

export function assertFits({ length }: readonly unknown[]): void {
  if (length > MAX_KEYS_PER_REQUEST) throw new Error(`bug: ${length} keys in one request`);
}

/** Awaits a write that needs the flag, and remembers the absence if the service denies the flag. */
export async function aboutFlag<T>(
  reader: AdminReader,
  { workspaceId, flag }: Pick<DefinitionTarget, 'workspaceId' | 'flag'>,
  writing: Promise<T>,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    // A 404 of a proxy has no message of the service, and proves nothing.
    const isSaid = error instanceof RejectedError && error.serviceMessage !== '';
    if (isSaid && error.status === 404) reader.learnAbsence(workspaceId, flag);
    throw error;
  }
}

type FlagPatcher = Pick<AdminWriter, 'patchFlag'>;

interface FlagPlace {
  readonly workspaceId: string;
  readonly flag: string;
  readonly note: ChangeNote;
}

export async function archiveFlag(
  client: Pick<AdminClient, 'origin'>,
  bodyNotes: BodyNotes,
  writer: FlagPatcher,
  reader: AdminReader,
  wanted: FlagPlace,
): Promise<void> {
  const { workspaceId, flag, note } = wanted;
  const what = `archive flag ${JSON.stringify(flag)}`;
  const request = {
    // Repeating is safe, because an archived flag stays archived.
    kind: 'delete' as const,
    method: 'POST' as const,
    path: ['splits', 'ws', workspaceId, flag, 'archive'],
    query: { ...note },
    body: {},
    what,
    accepts: (answered: number) => NO_ARCHIVE.has(answered),
  };
  const { status } = await bodyNotes.write('archiveFlag', request, note);
  // 404 may mean a missing endpoint, or a flag that is gone.
  if (status < 400 || (status === 404 && !(await shownFlag(writer, reader, wanted)))) return;
  throw new FlagkeelError(
    'NOT_ON_SERVICE',
    `cannot ${what} on ${client.origin}: the service answered ${status}, as one that cannot archive (with \`onRemove: delete\` in flagkeel.yaml it is deleted)`,
  );
}

/** Statuses of a service without an endpoint to archive. */
const NO_ARCHIVE: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * The flag, from an empty patch if the service does not show flags.
 *
 * @returns undefined if the service has no such flag.
 */
async function shownFlag(
  writer: FlagPatcher,
  reader: AdminReader,
  { workspaceId, flag, note }: FlagPlace,
): Promise<WireFlag | undefined> {
  const shown = await reader.getFlag(workspaceId, flag);
  return shown === null ? unlessAbsent(writer.patchFlag(workspaceId, flag, [], note)) : shown;
}
