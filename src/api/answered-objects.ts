import * as shapes from './shapes.js';
import type { WireDefinition, WireFlag, WireSegment, WireSegmentInEnvironment } from './wire.js';
import type { DefinitionPlace } from './writer.js';

/** What the service answers to writes, and what is found where an answer was lost. */

export interface NewObject {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
}

/** The contract does not show what a patch answers: a definition of the same place is taken, all else is not. */
export function asDefinition(json: unknown, place: DefinitionPlace): WireDefinition | null {
  try {
    const found = shapes.definition(json, '');
    const isSamePlace = found.environment.id === place.environmentId && found.name === place.flag;
    return isSamePlace ? found : null;
  } catch {
    return null;
  }
}

/** Whether what was found is what was to be created. */
export function isSameObject(found: WireFlag | WireSegment, wanted: NewObject): boolean {
  return (
    found.name === wanted.name &&
    (found.description ?? '') === wanted.description &&
    [found.trafficType.name, found.trafficType.id].includes(wanted.trafficType)
  );
}

/** An activation that was found and not answered: the rest of it nobody needs. */
export function activation(environmentId: string, segment: string): WireSegmentInEnvironment {
  const unknown = { id: '', name: '' };
  return {
    name: segment,
    environment: { id: environmentId, name: environmentId },
    trafficType: unknown,
    creationTime: 0,
  };
}
