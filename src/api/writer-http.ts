import type { Words } from '../model/run.js';
import { definition, flagAnswer, segment, segmentInEnvironment } from './answers.js';
import type { AdminClient, ClientAnswer } from './client.js';
import type { AdminReader } from './reader.js';
import type {
  WireDefinition,
  WireDefinitionBody,
  WireFlag,
  WirePatchOperation,
  WireSegment,
  WireSegmentInEnvironment,
} from './wire.js';
import type { AdminWriter, DefinitionPlace } from './writer.js';

/** Writes over HTTP. The reader finds out what a creation whose answer was lost has made. */
export class HttpAdminWriter implements AdminWriter {
  readonly #http: AdminClient;
  readonly #reader: AdminReader;

  constructor(http: AdminClient, reader: AdminReader) {
    this.#http = http;
    this.#reader = reader;
  }

  async createFlag(
    workspaceId: string,
    flag: { name: string; trafficType: string; description: string },
    words: Words,
  ): Promise<WireFlag> {
    const { name, trafficType, description } = flag;
    const { body } = await this.#http.send({
      kind: 'create',
      method: 'POST',
      path: ['splits', 'ws', workspaceId, 'trafficTypes', trafficType],
      query: { ...words },
      body: { name, description },
      what: `create flag "${name}"`,
      lookUp: async () => this.#lookUpFlag(workspaceId, flag),
    });
    return flagAnswer(body, 'the flag');
  }

  /** Ours is one of this traffic type; where the service lists no flags, nothing can be found out. */
  async #lookUpFlag(
    workspaceId: string,
    { name, trafficType }: { name: string; trafficType: string },
  ): Promise<ClientAnswer | undefined> {
    const flags = await this.#reader.listFlags(workspaceId);
    const found = flags?.find(
      (each) => each.name === name && each.trafficType.name === trafficType,
    );
    return found && { status: 200, body: found };
  }

  async patchFlag(
    workspaceId: string,
    flag: string,
    operations: readonly WirePatchOperation[],
    words: Words,
  ): Promise<WireFlag> {
    const { body } = await this.#http.send({
      // Every operation on a flag replaces a whole value, so that a second time changes nothing.
      kind: 'write',
      method: 'PATCH',
      path: ['splits', 'ws', workspaceId, flag],
      query: { ...words },
      body: operations,
      what: `change flag "${flag}"`,
    });
    return flagAnswer(body, 'the flag');
  }

  async deleteFlag(workspaceId: string, flag: string, words: Words): Promise<void> {
    await this.#delete(['splits', 'ws', workspaceId, flag], `delete flag "${flag}"`, words);
  }

  async createDefinition(
    place: DefinitionPlace,
    body: WireDefinitionBody,
    words: Words,
  ): Promise<WireDefinition> {
    const { workspaceId, environmentId, flag } = place;
    const answer = await this.#http.send({
      kind: 'create',
      method: 'POST',
      path: definitionPath(place),
      query: { ...words },
      body: { ...body, ...words },
      what: `create the definition of flag "${flag}"`,
      lookUp: async () => {
        const found = await this.#reader.getDefinition(workspaceId, environmentId, { name: flag });
        return found && { status: 200, body: found };
      },
    });
    return definition(answer.body, 'the definition');
  }

  async patchDefinition(
    place: DefinitionPlace,
    operations: readonly WirePatchOperation[],
    words: Words,
  ): Promise<WireDefinition | null> {
    const { body } = await this.#http.send({
      kind: 'patch',
      method: 'PATCH',
      path: definitionPath(place),
      query: { ...words },
      body: operations,
      what: `change the definition of flag "${place.flag}"`,
      mayBeEmpty: true,
    });
    // The contract does not show what a PATCH answers.
    const isDefinition = typeof body === 'object' && body !== null && 'treatments' in body;
    return isDefinition ? definition(body, 'the definition') : null;
  }

  async deleteDefinition(place: DefinitionPlace, words: Words): Promise<void> {
    await this.#delete(
      definitionPath(place),
      `delete the definition of flag "${place.flag}"`,
      words,
    );
  }

  async createSegment(
    workspaceId: string,
    { name, trafficType, description }: { name: string; trafficType: string; description: string },
    words: Words,
  ): Promise<WireSegment> {
    const { body } = await this.#http.send({
      kind: 'create',
      method: 'POST',
      path: ['segments', 'ws', workspaceId, 'trafficTypes', trafficType],
      query: { ...words },
      body: { name, description },
      what: `create segment "${name}"`,
      lookUp: async () => {
        const segments = await this.#reader.listSegments(workspaceId);
        const found = segments.find(
          (each) => each.name === name && each.trafficType.name === trafficType,
        );
        return found && { status: 200, body: found };
      },
    });
    return segment(body, 'the segment');
  }

  async activateSegment(
    environmentId: string,
    name: string,
    words: Words,
  ): Promise<WireSegmentInEnvironment> {
    const { body } = await this.#http.send({
      kind: 'create',
      method: 'POST',
      path: ['segments', environmentId, name],
      query: { ...words },
      what: `activate segment "${name}"`,
      lookUp: async () => {
        const count = await this.#reader.countKeys(environmentId, name);
        return count === undefined ? undefined : { status: 200, body: { name } };
      },
    });
    return segmentInEnvironment(body, 'the segment');
  }

  async uploadKeys(
    environmentId: string,
    name: string,
    keys: readonly string[],
    words: Words,
  ): Promise<void> {
    await this.#http.send({
      kind: 'write',
      method: 'PUT',
      path: ['segments', environmentId, name, 'upload'],
      query: { ...words },
      body: keys,
      what: `upload ${keys.length} keys to segment "${name}"`,
    });
  }

  async removeKeys(
    environmentId: string,
    name: string,
    keys: readonly string[],
    words: Words,
  ): Promise<void> {
    await this.#http.send({
      kind: 'write',
      method: 'PUT',
      path: ['segments', environmentId, name, 'removeKeys'],
      query: { ...words },
      body: { keys, ...words },
      what: `remove ${keys.length} keys from segment "${name}"`,
    });
  }

  async deactivateSegment(environmentId: string, name: string, words: Words): Promise<true | null> {
    const { status } = await this.#http.send({
      kind: 'delete',
      method: 'DELETE',
      path: ['segments', environmentId, name],
      query: { ...words },
      what: `deactivate segment "${name}"`,
      accept: [404, 405],
    });
    return status === 404 || status === 405 ? null : true;
  }

  async deleteSegment(workspaceId: string, name: string, words: Words): Promise<void> {
    await this.#delete(['segments', 'ws', workspaceId, name], `delete segment "${name}"`, words);
  }

  async #delete(path: readonly string[], what: string, words: Words): Promise<void> {
    await this.#http.send({ kind: 'delete', method: 'DELETE', path, query: { ...words }, what });
  }
}

function definitionPath({ workspaceId, environmentId, flag }: DefinitionPlace): string[] {
  return ['splits', 'ws', workspaceId, flag, 'environments', environmentId];
}
