import jsonPatch from 'fast-json-patch';
import {
  API_PREFIX,
  type WireBucket,
  type WireRule,
  type WireTreatment,
} from '../../src/admin-api/wire.js';

/** What a definition holds in these runs: already in the form in which the service answers. */
export interface ChaosDefinition {
  readonly killed: boolean;
  readonly treatments: readonly WireTreatment[];
  readonly defaultTreatment: string;
  readonly baselineTreatment: string;
  readonly trafficAllocation: number;
  readonly rules: readonly WireRule[];
  readonly defaultRule: readonly WireBucket[];
}

export interface ChaosPatch {
  readonly op: 'add' | 'replace';
  readonly path: string;
  readonly value: unknown;
}

interface InEnvironment {
  readonly environment: string;
}

interface WithKeys extends InEnvironment {
  readonly keys: readonly string[];
}

interface WriteMembers {
  'create-flag': { readonly description: string };
  'describe-flag': { readonly description: string };
  'delete-flag': object;
  define: InEnvironment & { readonly definition: ChaosDefinition };
  patch: InEnvironment & { readonly operations: readonly ChaosPatch[] };
  undefine: InEnvironment;
  kill: InEnvironment;
  restore: InEnvironment;
  'create-segment': object;
  'delete-segment': object;
  activate: InEnvironment;
  deactivate: InEnvironment;
  'add-keys': WithKeys;
  'remove-keys': WithKeys;
  'replace-keys': WithKeys;
}

export type WriteKind = keyof WriteMembers;

/** One write of certain kinds, as data: it is sent, and it is replayed. `name` is that of a flag or a segment. */
export type WriteOf<K extends WriteKind> = {
  [Each in K]: { readonly kind: Each; readonly name: string } & WriteMembers[Each];
}[K];

export type ChaosWrite = WriteOf<WriteKind>;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Of the path, beside title and comment. */
  readonly query?: string;
  readonly body?: unknown;
}

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

export const WORKSPACE = 'Default';
export const ENVIRONMENTS = ['staging', 'production'] as const;

const FLAGS = `${API_PREFIX}/splits/ws/${WORKSPACE}`;
const SEGMENTS = `${API_PREFIX}/segments`;
const WHOLE_SEGMENTS = `${SEGMENTS}/ws/${WORKSPACE}`;

export function definitionPath(name: string, environment: string): string {
  return `${FLAGS}/${name}/environments/${environment}`;
}

const definitionOf = ({ name, environment }: InEnvironment & { readonly name: string }): string =>
  definitionPath(name, environment);
const keysOf = ({ name, environment }: InEnvironment & { readonly name: string }): string =>
  `${SEGMENTS}/${environment}/${name}`;

/** How a write is sent, and what it does to a world. False: the service cannot have accepted it there. */
type Rules = {
  readonly [K in WriteKind]: readonly [
    call: (write: WriteOf<K>) => Call,
    effect: (world: World, write: WriteOf<K>) => boolean,
  ];
};

const RULES: Rules = {
  'create-flag': [
    ({ name, description }) => {
      return { method: 'POST', path: `${FLAGS}/trafficTypes/user`, body: { name, description } };
    },
    ({ flags }, { name, description }) => added(flags, name, description),
  ],
  'describe-flag': [
    ({ name, description: value }) => {
      const body = [{ op: 'replace', path: '/description', value }];
      return { method: 'PATCH', path: `${FLAGS}/${name}`, body };
    },
    ({ flags }, { name, description }) => changed(flags, name, () => description),
  ],
  'delete-flag': [
    ({ name }) => ({ method: 'DELETE', path: `${FLAGS}/${name}` }),
    ({ flags, definitions }, { name }) => {
      dropPlaces(definitions, name);
      return flags.delete(name);
    },
  ],
  define: [
    (write) => ({ method: 'POST', path: definitionOf(write), body: write.definition }),
    ({ flags, definitions }, { name, environment, definition }) =>
      flags.has(name) && added(definitions, at(name, environment), definition),
  ],
  patch: [
    (write) => ({ method: 'PATCH', path: definitionOf(write), body: write.operations }),
    ({ definitions }, { name, environment, operations }) =>
      changed(definitions, at(name, environment), (before) => {
        const document = structuredClone(before);
        return jsonPatch.applyPatch(document, structuredClone([...operations])).newDocument;
      }),
  ],
  undefine: [
    (write) => ({ method: 'DELETE', path: definitionOf(write) }),
    ({ definitions }, { name, environment }) => definitions.delete(at(name, environment)),
  ],
  kill: [
    (write) => ({ method: 'PUT', path: `${definitionOf(write)}/kill` }),
    (world, write) => setKilled(world, write, true),
  ],
  restore: [
    (write) => ({ method: 'PUT', path: `${definitionOf(write)}/restore` }),
    (world, write) => setKilled(world, write, false),
  ],
  'create-segment': [
    ({ name }) => {
      const body = { name, description: '' };
      return { method: 'POST', path: `${WHOLE_SEGMENTS}/trafficTypes/user`, body };
    },
    ({ segments }, { name }) => !segments.has(name) && Boolean(segments.add(name)),
  ],
  'delete-segment': [
    ({ name }) => ({ method: 'DELETE', path: `${WHOLE_SEGMENTS}/${name}` }),
    ({ segments, keys }, { name }) => {
      dropPlaces(keys, name);
      return segments.delete(name);
    },
  ],
  activate: [
    (write) => ({ method: 'POST', path: keysOf(write) }),
    ({ segments, keys }, { name, environment }) =>
      segments.has(name) && added(keys, at(name, environment), new Set()),
  ],
  deactivate: [
    (write) => ({ method: 'DELETE', path: keysOf(write) }),
    ({ keys }, { name, environment }) =>
      keys.get(at(name, environment))?.size === 0 && keys.delete(at(name, environment)),
  ],
  'add-keys': [
    (write) => ({ method: 'PUT', path: `${keysOf(write)}/upload`, body: write.keys }),
    (world, write) => setKeys(world, write, (before) => [...before, ...write.keys]),
  ],
  'remove-keys': [
    (write) => {
      const body = { keys: write.keys, comment: 'chaos' };
      return { method: 'PUT', path: `${keysOf(write)}/removeKeys`, body };
    },
    (world, write) =>
      setKeys(world, write, (before) => before.filter((key) => !write.keys.includes(key))),
  ],
  'replace-keys': [
    (write) => {
      const body = { keys: write.keys };
      return { method: 'PUT', path: `${keysOf(write)}/uploadKeys`, query: '&replace=true', body };
    },
    (world, write) => setKeys(world, write, () => write.keys),
  ],
};

/** @param title finds the change in the audit log again. */
export function callOf(write: ChaosWrite, title: string): Call {
  const { query = '', ...call } = RULES[write.kind][0](write as never);
  return { ...call, path: `${call.path}?title=${title}&comment=chaos${query}` };
}

/**
 * Does to a world what a write that was accepted does to the service.
 *
 * @throws Error the world has not what the write changes: it cannot have been accepted.
 */
export function enact(world: World, write: ChaosWrite): void {
  if (RULES[write.kind][1](world, write as never)) return;
  const text = JSON.stringify(write).slice(0, 200);
  throw new Error(`the service accepted the impossible: ${text}`);
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

function added<T>(map: Map<string, T>, name: string, value: T): boolean {
  return !map.has(name) && Boolean(map.set(name, value));
}

function changed<T>(map: Map<string, T>, name: string, change: (before: T) => T): boolean {
  const before = map.get(name);
  return before !== undefined && Boolean(map.set(name, change(before)));
}

function setKilled(
  { definitions }: World,
  { name, environment }: WriteOf<'kill' | 'restore'>,
  killed: boolean,
): boolean {
  return changed(definitions, at(name, environment), (before) => ({ ...before, killed }));
}

function setKeys(
  { keys }: World,
  { name, environment }: WriteOf<'add-keys' | 'remove-keys' | 'replace-keys'>,
  change: (before: readonly string[]) => readonly string[],
): boolean {
  return changed(keys, at(name, environment), (before) => new Set(change([...before])));
}
