import { FlagkeelError, RejectedError } from '../errors.js';
import { flagFieldsFromWire } from '../model/flag/fields.js';
import type { FlagFields, FlagFieldsChange } from '../model/flag/flag.js';
import { patched, definitionFromWire } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import { look, type DefinitionTarget } from './look.js';
import type { AdminReader } from './reader.js';
import type {
  WireDefinition,
  WireDefinitionBody,
  WireFlag,
  WirePatchOperation,
  WireSegment,
  WireSegmentInEnvironment,
} from './wire.js';

/** Finds the effect of a write of unknown fate. */

export interface NewObject {
  readonly name: string;
  /** Name. */
  readonly trafficType: string;
  readonly description: string;
}

/**
 * Whether `live` has all values of `ours`. Empty values of `ours` may be absent in it, and the service may add others.
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

/** The flag if it was created with the wanted values. @param patch patches it. */
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

export async function unlessAbsent(patching: Promise<WireFlag>): Promise<WireFlag | undefined> {
  try {
    return await patching;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return undefined;
    throw error;
  }
}

/** The definition if it was created with the wanted values. */
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
 * @throws FlagkeelError a foreign write has changed it.
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
 * @param live undefined if the flag is gone, which the next try will show.
 * @returns the flag if the patch was made; `undefined` if its fields are still unchanged.
 * @throws FlagkeelError a foreign write has changed them.
 */
export function patchedFlag(
  live: WireFlag | undefined,
  flag: string,
  { before, after }: FlagFieldsChange,
): WireFlag | undefined {
  if (!live || hasFields(live, after)) return live;
  if (hasFields(live, before)) return undefined;
  throw new FlagkeelError(
    'UNREADABLE',
    `flag ${JSON.stringify(flag)} is neither what it was nor what it should be`,
  );
}

function hasFields(live: WireFlag, wanted: FlagFields): boolean {
  const fields: FlagFields = flagFieldsFromWire(live);
  return sameJson({ ...fields, ...wanted }, fields);
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
