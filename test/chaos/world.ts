import jsonPatch from 'fast-json-patch';
import type { ChaosDefinition, ChaosWrite, DefinitionChange, KeysWrite } from './requests.js';

/** What a service holds, as far as these runs change it. Mutable: one long replay. */
export interface World {
  /** Name → description. */
  readonly flags: Map<string, string>;
  /** `NAME@ENVIRONMENT` → definition. */
  readonly definitions: Map<string, ChaosDefinition>;
  readonly segments: Set<string>;
  /** `NAME@ENVIRONMENT` → keys; there as soon as it is active. */
  readonly keys: Map<string, Set<string>>;
}

export const emptyWorld = (): World => ({
  flags: new Map(),
  definitions: new Map(),
  segments: new Set(),
  keys: new Map(),
});

export const at = (name: string, environment: string): string => `${name}@${environment}`;

/**
 * Does to a world what a write that was accepted does to the service.
 *
 * @throws Error the world has not what the write changes: it cannot have been accepted.
 */
export function enact(world: World, write: ChaosWrite): void {
  switch (write.kind) {
    case 'create-flag':
      expectAbsent(world.flags.has(write.name), write);
      world.flags.set(write.name, write.description);
      return;
    case 'describe-flag':
      present(world.flags.get(write.name), write);
      world.flags.set(write.name, write.description);
      return;
    case 'delete-flag':
      present(world.flags.get(write.name), write);
      world.flags.delete(write.name);
      dropPlaces(world.definitions, write.name);
      return;
    case 'create-segment':
      expectAbsent(world.segments.has(write.name), write);
      world.segments.add(write.name);
      return;
    case 'delete-segment':
      if (!world.segments.delete(write.name)) throw impossible(write);
      dropPlaces(world.keys, write.name);
      return;
    case 'define':
      present(world.flags.get(write.name), write);
      expectAbsent(world.definitions.has(at(write.name, write.environment)), write);
      world.definitions.set(at(write.name, write.environment), write.definition);
      return;
    case 'patch':
    case 'kill':
    case 'restore':
    case 'undefine':
      enactOnDefinition(world, write);
      return;
    default:
      enactOnKeys(world, write);
  }
}

function enactOnDefinition(world: World, write: DefinitionChange): void {
  const place = at(write.name, write.environment);
  const before = present(world.definitions.get(place), write);
  switch (write.kind) {
    case 'patch': {
      const document = structuredClone(before);
      const after = jsonPatch.applyPatch(document, structuredClone([...write.operations]));
      world.definitions.set(place, after.newDocument);
      return;
    }
    case 'kill':
    case 'restore':
      world.definitions.set(place, { ...before, killed: write.kind === 'kill' });
      return;
    case 'undefine':
      world.definitions.delete(place);
  }
}

function enactOnKeys(world: World, write: KeysWrite): void {
  const place = at(write.name, write.environment);
  if (write.kind === 'activate') {
    if (!world.segments.has(write.name)) throw impossible(write);
    expectAbsent(world.keys.has(place), write);
    world.keys.set(place, new Set());
    return;
  }
  const keys = present(world.keys.get(place), write);
  switch (write.kind) {
    case 'deactivate':
      if (keys.size > 0) throw impossible(write);
      world.keys.delete(place);
      return;
    case 'replace-keys':
      world.keys.set(place, new Set(write.keys));
      return;
    case 'add-keys':
      for (const key of write.keys) keys.add(key);
      return;
    case 'remove-keys':
      for (const key of write.keys) keys.delete(key);
  }
}

/** Forgets everything of a name: its owner no longer knows what the service made of it. */
export function disown(world: World, name: string): void {
  world.flags.delete(name);
  world.segments.delete(name);
  dropPlaces(world.definitions, name);
  dropPlaces(world.keys, name);
}

function dropPlaces(map: Map<string, unknown>, name: string): void {
  for (const place of [...map.keys()]) if (place.startsWith(`${name}@`)) map.delete(place);
}

function present<T>(value: T | undefined, write: ChaosWrite): T {
  if (value === undefined) throw impossible(write);
  return value;
}

function expectAbsent(there: boolean, write: ChaosWrite): void {
  if (there) throw impossible(write);
}

function impossible(write: ChaosWrite): Error {
  return new Error(`the service accepted the impossible: ${JSON.stringify(write).slice(0, 200)}`);
}
