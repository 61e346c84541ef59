import { FlaghoistError } from '../errors.js';
import { patched } from '../kinds/flag-patch.js';
import { definitionFromWire } from '../kinds/flag-wire.js';
import { sameJson } from '../kinds/json.js';
import type { AdminReader } from './reader.js';
import * as shapes from './shapes.js';
import type { WireDefinition, WireFlag, WirePatchOperation, WireSegment } from './wire.js';
import type { DefinitionPlace } from './writer.js';

/** Tells what a write of unknown fate has made, or which object an answer shows. */

export interface NewObject {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
}

/**
 * @returns the definition where the patch was made; `undefined` where it is still as it was before.
 * @throws FlaghoistError it is neither: somebody else has changed it.
 */
export async function findPatched(
  reader: AdminReader,
  { workspaceId, environmentId, flag }: DefinitionPlace,
  operations: readonly WirePatchOperation[],
  expected: WireDefinition,
): Promise<WireDefinition | undefined> {
  const live = await reader.getDefinition(workspaceId, environmentId, {
    name: flag,
    id: expected.id,
  });
  const isNow = (wire: WireDefinition): boolean =>
    live !== undefined && sameJson(definitionFromWire(live), definitionFromWire(wire));
  if (isNow(patched(expected, operations))) return live;
  if (isNow(expected)) return undefined;
  throw new FlaghoistError(
    'UNREADABLE',
    `the definition of flag ${JSON.stringify(flag)} is neither what it was nor what it should be`,
  );
}

/** The contract does not show what a patch answers: a definition of the same place is taken, all else is not. */
export function asDefinition(json: unknown, place: DefinitionPlace): WireDefinition | null {
  try {
    const found = shapes.definition(json);
    const isSamePlace = found.environment.id === place.environmentId && found.name === place.flag;
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
