import { FlaghoistError, RejectedError, messageOf } from '../errors.js';
import { sameJson } from '../kinds/json.js';
import type { IdentitiesAnswer, Words } from '../model/run.js';
import type { AdminClient, WriteRequest } from './admin-client.js';
import { holds } from './holds.js';
import { identitiesAnswer } from './identities-answer.js';
import { asDefinition, findPatched, isSameObject, type NewObject } from './look-up.js';
import type { ServiceAnswer } from './answer.js';
import { isNoEndpoint } from './reader-http.js';
import type { AdminReader } from './reader.js';
import * as shapes from './shapes.js';
import {
  KILL,
  MAX_KEYS_PER_REQUEST,
  type WireDefinition,
  type WireDefinitionBody,
  type WireFlag,
  type WireIdentity,
  type WirePatchOperation,
  type WireSegment,
  type WireSegmentInEnvironment,
} from './wire.js';
import type { AdminWriter, DefinitionPlace, IdentitiesPlace } from './writer.js';

type WritingClient = Pick<AdminClient, 'origin' | 'write' | 'clean'>;

/** Writes over HTTP. The reader is for looking up what a request of unknown fate has made. */
export class HttpAdminWriter implements AdminWriter {
  readonly #client: WritingClient;
  readonly #reader: AdminReader;
  #hasDeactivation = true;
  /** `uploadKeys?replace=false`, which says that it appends; the contract does not promise it. */
  #hasAppend = true;

  constructor(client: WritingClient, reader: AdminReader) {
    this.#client = client;
    this.#reader = reader;
  }

  async createFlag(workspaceId: string, flag: NewObject, words: Words): Promise<WireFlag> {
    const { name, trafficType, description } = flag;
    return this.#create(
      {
        path: ['splits', 'ws', workspaceId, 'trafficTypes', trafficType],
        query: { ...words },
        body: { name, description },
        what: `create flag ${JSON.stringify(name)}`,
        lookUp: async () => this.#findFlag(workspaceId, flag, words),
      },
      shapes.flag,
    );
  }

  async patchFlag(
    workspaceId: string,
    flag: string,
    operations: readonly WirePatchOperation[],
    words: Words,
  ): Promise<WireFlag> {
    const request: WriteRequest = {
      kind: 'patch',
      method: 'PATCH',
      path: ['splits', 'ws', workspaceId, flag],
      query: { ...words },
      body: operations,
      what: `patch flag ${JSON.stringify(flag)}`,
    };
    return this.#checked(request, (await this.#client.write(request)).json, shapes.flag);
  }

  async deleteFlag(workspaceId: string, flag: string, words: Words): Promise<void> {
    await this.#delete(
      ['splits', 'ws', workspaceId, flag],
      words,
      `delete flag ${JSON.stringify(flag)}`,
    );
  }

  async createDefinition(
    place: DefinitionPlace,
    body: WireDefinitionBody,
    words: Words,
  ): Promise<WireDefinition> {
    const { workspaceId, environmentId, flag } = place;
    return this.#create(
      {
        path: definitionPath(place),
        query: { ...words },
        body: { ...body, ...words },
        what: `create the definition of flag ${JSON.stringify(flag)}`,
        lookUp: async () => {
          const found = await this.#reader.getDefinition(workspaceId, environmentId, {
            name: flag,
          });
          return found !== undefined && holds(found, body) ? found : undefined;
        },
      },
      shapes.definition,
    );
  }

  async patchDefinition(
    place: DefinitionPlace,
    operations: readonly WirePatchOperation[],
    words: Words,
    expected?: WireDefinition,
  ): Promise<WireDefinition | null> {
    const isKill = sameJson(operations, KILL);
    const { json } = await this.#client.write({
      // Killing twice is killing once; every other patch could undo what somebody did in between.
      kind: isKill ? 'write' : 'patch',
      lane: isKill ? 'kill' : 'normal',
      method: 'PATCH',
      path: definitionPath(place),
      query: { ...words },
      body: operations,
      what: `patch the definition of flag ${JSON.stringify(place.flag)}`,
      ...(expected && {
        lookUp: async () => findPatched(this.#reader, place, operations, expected),
      }),
    });
    return asDefinition(json, place);
  }

  async deleteDefinition(place: DefinitionPlace, words: Words): Promise<void> {
    const what = `delete the definition of flag ${JSON.stringify(place.flag)}`;
    await this.#delete(definitionPath(place), words, what);
  }

  async createSegment(workspaceId: string, segment: NewObject, words: Words): Promise<WireSegment> {
    const { name, trafficType, description } = segment;
    return this.#create(
      {
        path: ['segments', 'ws', workspaceId, 'trafficTypes', trafficType],
        query: { ...words },
        body: { name, description },
        what: `create segment ${JSON.stringify(name)}`,
        lookUp: async () => {
          const segments = await this.#reader.listSegments(workspaceId);
          return segments.find((found) => isSameObject(found, segment));
        },
      },
      shapes.segment,
    );
  }

  async activateSegment(
    environmentId: string,
    segment: string,
    words: Words,
  ): Promise<WireSegmentInEnvironment> {
    return this.#create(
      {
        path: ['segments', environmentId, segment],
        query: { ...words },
        what: `activate segment ${JSON.stringify(segment)}`,
        lookUp: async () => {
          // A list of keys is there exactly where the segment is active; the rest of the answer nobody needs.
          const found = await this.#reader.countKeys(environmentId, segment);
          return found === undefined ? undefined : activation(environmentId, segment);
        },
      },
      shapes.segmentInEnvironment,
    );
  }

  async uploadKeys(
    environmentId: string,
    segment: string,
    keys: readonly string[],
    words: Words,
  ): Promise<void> {
    const what = `upload keys to segment ${JSON.stringify(segment)}`;
    const place = ['segments', environmentId, segment];
    if (this.#hasAppend) {
      const [path, query] = [[...place, 'uploadKeys'], { replace: 'false', ...words }];
      const body = { keys, ...words };
      const request = { path, query, body, what, accepts: isNoEndpoint };
      if ((await this.#putKeys(keys, request)).status < 400) return;
    }
    const path = [...place, 'upload'];
    // A bare list: the contract has no place for words in this body.
    await this.#putKeys(keys, { path, query: { ...words }, body: keys, what });
    // Only now is it certain that the 404 was about the endpoint and not about the segment.
    this.#hasAppend = false;
  }

  async removeKeys(
    environmentId: string,
    segment: string,
    keys: readonly string[],
    words: Words,
  ): Promise<void> {
    await this.#putKeys(keys, {
      path: ['segments', environmentId, segment, 'removeKeys'],
      query: { ...words },
      body: { keys, ...words },
      what: `remove keys from segment ${JSON.stringify(segment)}`,
    });
  }

  async deactivateSegment(
    environmentId: string,
    segment: string,
    words: Words,
  ): Promise<true | null> {
    if (!this.#hasDeactivation) return null;
    const request: WriteRequest = {
      kind: 'delete',
      method: 'DELETE',
      path: ['segments', environmentId, segment],
      query: { ...words },
      what: `deactivate segment ${JSON.stringify(segment)}`,
      accepts: isNoEndpoint,
    };
    const { status, json } = await this.#client.write(request);
    if (status < 400) {
      this.#assertDeleted(request, json);
      return true;
    }
    // 404 is said of an endpoint that is not there, and of a segment that is not active: the keys tell which.
    const isActive = (await this.#reader.countKeys(environmentId, segment)) !== undefined;
    if (status === 404 && !isActive) return true;
    this.#hasDeactivation = false;
    return null;
  }

  async deleteSegment(workspaceId: string, segment: string, words: Words): Promise<void> {
    const what = `delete segment ${JSON.stringify(segment)}`;
    await this.#delete(['segments', 'ws', workspaceId, segment], words, what);
  }

  async writeIdentities(
    { trafficTypeId, trafficType, environmentId }: IdentitiesPlace,
    identities: readonly WireIdentity[],
    words: Words,
  ): Promise<IdentitiesAnswer> {
    assertFits(identities);
    const request: WriteRequest = {
      // The same operation creates and updates: twice is once.
      kind: 'write',
      method: 'POST',
      path: ['trafficTypes', trafficTypeId, 'environments', environmentId, 'identities'],
      query: { ...words },
      body: identities,
      what: `write identities of ${JSON.stringify(trafficType)}`,
    };
    const clean = (text: string): string => this.#client.clean(text);
    const { json } = await this.#client.write(request);
    return this.#checked(request, json, (value) => identitiesAnswer(value, identities, clean));
  }

  async #findFlag(workspaceId: string, flag: NewObject, words: Words): Promise<unknown> {
    const flags = await this.#reader.listFlags(workspaceId);
    if (flags !== null) return flags.find((found) => isSameObject(found, flag));
    // A service that cannot show a flag answers it to a patch; this one repeats what the creation said.
    const operations: WirePatchOperation[] = [
      { op: 'replace', path: '/description', value: flag.description },
    ];
    try {
      const found = await this.patchFlag(workspaceId, flag.name, operations, words);
      return isSameObject(found, flag) ? found : undefined;
    } catch (error) {
      if (error instanceof RejectedError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #create<T>(
    request: Omit<WriteRequest, 'kind' | 'method'>,
    check: shapes.Check<T>,
  ): Promise<T> {
    const full: WriteRequest = { ...request, kind: 'create', method: 'POST' };
    return this.#checked(full, (await this.#client.write(full)).json, check);
  }

  async #delete(path: readonly string[], words: Words, what: string): Promise<void> {
    const request: WriteRequest = {
      kind: 'delete',
      method: 'DELETE',
      path,
      query: { ...words },
      what,
    };
    const { status, json } = await this.#client.write(request);
    if (status < 400) this.#assertDeleted(request, json);
  }

  async #putKeys(
    keys: readonly string[],
    request: Omit<WriteRequest, 'kind' | 'method'>,
  ): Promise<ServiceAnswer> {
    assertFits(keys);
    return this.#client.write({ ...request, kind: 'write', method: 'PUT' });
  }

  #assertDeleted(request: WriteRequest, json: unknown): void {
    if (json === true || json === undefined) return;
    throw this.#unreadable(request, `expected true, got ${JSON.stringify(json).slice(0, 80)}`);
  }

  #checked<T>(request: WriteRequest, json: unknown, check: shapes.Check<T>): T {
    try {
      return check(json);
    } catch (cause) {
      throw this.#unreadable(request, messageOf(cause), cause);
    }
  }

  #unreadable(request: WriteRequest, why: string, cause?: unknown): FlaghoistError {
    return new FlaghoistError(
      'UNREADABLE',
      `cannot ${request.what} on ${this.#client.origin}: ${why}; it is unknown whether it was done`,
      { cause },
    );
  }
}

function assertFits({ length }: readonly unknown[]): void {
  if (length > MAX_KEYS_PER_REQUEST) throw new Error(`bug: ${length} keys in one request`);
}

function definitionPath({ workspaceId, environmentId, flag }: DefinitionPlace): string[] {
  return ['splits', 'ws', workspaceId, flag, 'environments', environmentId];
}

function activation(environmentId: string, segment: string): WireSegmentInEnvironment {
  const unknown = { id: '', name: '' };
  return {
    name: segment,
    environment: { id: environmentId, name: environmentId },
    trafficType: unknown,
    creationTime: 0,
  };
}
