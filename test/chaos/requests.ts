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
export type DefinitionChange = WriteOf<'patch' | 'undefine' | 'kill' | 'restore'>;
export type KeysWrite = WriteOf<
  'activate' | 'deactivate' | 'add-keys' | 'remove-keys' | 'replace-keys'
>;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query. */
  readonly path: string;
  readonly body?: unknown;
}

export const WORKSPACE = 'Default';
export const ENVIRONMENTS = ['staging', 'production'] as const;

const FLAGS = `${API_PREFIX}/splits/ws/${WORKSPACE}`;
const SEGMENTS = `${API_PREFIX}/segments`;

export function definitionPath(name: string, environment: string): string {
  return `${FLAGS}/${name}/environments/${environment}`;
}

/** @param title finds the change in the audit log again. */
export function callOf(write: ChaosWrite, title: string): Call {
  const call = plainCall(write);
  return { ...call, path: `${call.path}?title=${title}&comment=chaos${call.query ?? ''}` };
}

function plainCall(write: ChaosWrite): Call & { readonly query?: string } {
  const { kind, name } = write;
  switch (kind) {
    case 'create-flag': {
      const body = { name, description: write.description };
      return { method: 'POST', path: `${FLAGS}/trafficTypes/user`, body };
    }
    case 'describe-flag': {
      const body = [{ op: 'replace', path: '/description', value: write.description }];
      return { method: 'PATCH', path: `${FLAGS}/${name}`, body };
    }
    case 'delete-flag':
      return { method: 'DELETE', path: `${FLAGS}/${name}` };
    case 'create-segment': {
      const path = `${SEGMENTS}/ws/${WORKSPACE}/trafficTypes/user`;
      return { method: 'POST', path, body: { name, description: '' } };
    }
    case 'delete-segment':
      return { method: 'DELETE', path: `${SEGMENTS}/ws/${WORKSPACE}/${name}` };
    case 'define':
    case 'patch':
    case 'undefine':
    case 'kill':
    case 'restore':
      return definitionCall(write);
    default:
      return segmentCall(write);
  }
}

function definitionCall(write: DefinitionChange | WriteOf<'define'>): Call {
  const path = definitionPath(write.name, write.environment);
  switch (write.kind) {
    case 'define':
      return { method: 'POST', path, body: write.definition };
    case 'patch':
      return { method: 'PATCH', path, body: write.operations };
    case 'undefine':
      return { method: 'DELETE', path };
    case 'kill':
    case 'restore':
      return { method: 'PUT', path: `${path}/${write.kind}` };
  }
}

function segmentCall(write: KeysWrite): Call & { readonly query?: string } {
  const path = `${SEGMENTS}/${write.environment}/${write.name}`;
  switch (write.kind) {
    case 'activate':
      return { method: 'POST', path };
    case 'deactivate':
      return { method: 'DELETE', path };
    case 'add-keys':
      return { method: 'PUT', path: `${path}/upload`, body: write.keys };
    case 'remove-keys':
      return {
        method: 'PUT',
        path: `${path}/removeKeys`,
        body: { keys: write.keys, comment: 'chaos' },
      };
    case 'replace-keys': {
      const body = { keys: write.keys };
      return { method: 'PUT', path: `${path}/uploadKeys`, body, query: '&replace=true' };
    }
  }
}
