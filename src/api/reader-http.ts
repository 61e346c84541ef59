import { FlaghoistError } from '../errors.js';
import {
  definition,
  environment,
  flagAnswer,
  rolloutStatus,
  segment,
  segmentInEnvironment,
  segmentKeys,
  trafficType,
  workspace,
} from './answers.js';
import type { GetOnly } from './client.js';
import { readWhole } from './paging.js';
import type { AdminReader, ListedKeys } from './reader.js';
import { integer, list, shape, type Check } from './shapes.js';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WirePage,
  WireRolloutStatus,
  WireSegment,
  WireSegmentInEnvironment,
  WireSegmentKeys,
  WireTrafficType,
  WireWorkspace,
} from './wire.js';

/** The largest pages that public documentation names; a service that takes less says so by giving less. */
const WORKSPACES_PER_PAGE = 200;
const OBJECTS_PER_PAGE = 50;
const KEYS_PER_PAGE = 100;

/** Statuses by which a service says that it does not have an endpoint, or an object. */
const UNKNOWN = [404, 405];

/** Reads over HTTP. It is given nothing that could write. */
export class HttpAdminReader implements AdminReader {
  readonly origin: string;
  readonly #http: GetOnly;
  /** Endpoints of this service that are known to be missing, by the name of their method here. */
  readonly #missing = new Set<string>();

  constructor(http: GetOnly) {
    this.origin = http.origin;
    this.#http = http;
  }

  async listWorkspaces(): Promise<readonly WireWorkspace[]> {
    const path = ['workspaces'];
    const found = await this.#pages(
      'list the workspaces',
      path,
      WORKSPACES_PER_PAGE,
      workspace,
      byId,
    );
    if (found === null) throw notFound('list the workspaces');
    return found;
  }

  async listEnvironments(workspaceId: string): Promise<readonly WireEnvironment[]> {
    const path = ['environments', 'ws', workspaceId];
    return this.#bareList('list the environments', { path }, environment);
  }

  async listRolloutStatuses(workspaceId: string): Promise<readonly WireRolloutStatus[]> {
    const path = ['rolloutStatuses'];
    return this.#bareList(
      'list the rollout statuses',
      { path, query: { wsId: workspaceId } },
      rolloutStatus,
    );
  }

  async listSegments(workspaceId: string): Promise<readonly WireSegment[]> {
    const path = ['segments', 'ws', workspaceId];
    const found = await this.#pages('list the segments', path, OBJECTS_PER_PAGE, segment, byName);
    if (found === null) throw notFound('list the segments');
    return found;
  }

  async getDefinition(
    workspaceId: string,
    environmentId: string,
    flag: { readonly name: string; readonly id?: string | undefined },
  ): Promise<WireDefinition | undefined> {
    for (const name of [flag.name, flag.id]) {
      if (name === undefined) continue;
      const what = `read flag "${flag.name}"`;
      const path = ['splits', 'ws', workspaceId, name, 'environments', environmentId];
      // One after the other: the id is asked only where the name is not known.
      const { status, body } = await this.#http.get({ path, what, accept: [404] });
      if (status !== 404) return definition(body, 'the definition');
    }
    return undefined;
  }

  async listKeys(environmentId: string, name: string): Promise<ListedKeys | undefined> {
    const seen: { openChangeRequestId: string | null; isActive: boolean } = {
      openChangeRequestId: null,
      isActive: true,
    };
    const keys = await readWhole(
      `read the keys of segment "${name}"`,
      (key: string) => key,
      async (offset) => {
        const page = await this.#keysPage(environmentId, name, offset);
        seen.isActive = page !== undefined;
        seen.openChangeRequestId ??= page?.openChangeRequestId ?? null;
        return { objects: page?.keys.map(({ key }) => key) ?? [], total: page?.count ?? 0 };
      },
    );
    const { openChangeRequestId } = seen;
    return seen.isActive ? { keys, openChangeRequestId } : undefined;
  }

  async countKeys(environmentId: string, name: string): Promise<number | undefined> {
    return (await this.#keysPage(environmentId, name, 0))?.count;
  }

  async listTrafficTypes(workspaceId: string): Promise<readonly WireTrafficType[] | null> {
    return this.#ifKnown('listTrafficTypes', workspaceId, async () => {
      const what = 'list the traffic types';
      const path = ['trafficTypes', 'ws', workspaceId];
      const { status, body } = await this.#http.get({ path, what, accept: UNKNOWN });
      return UNKNOWN.includes(status) ? null : list(trafficType)(body, 'the traffic types');
    });
  }

  async listFlags(workspaceId: string): Promise<readonly WireFlag[] | null> {
    const path = ['splits', 'ws', workspaceId];
    return this.#ifKnown('listFlags', workspaceId, async () =>
      this.#pages('list the flags', path, OBJECTS_PER_PAGE, flagAnswer, byName),
    );
  }

  async listDefinitions(
    workspaceId: string,
    environmentId: string,
  ): Promise<readonly WireDefinition[] | null> {
    const path = ['splits', 'ws', workspaceId, 'environments', environmentId];
    return this.#ifKnown('listDefinitions', workspaceId, async () =>
      this.#pages('list the definitions', path, OBJECTS_PER_PAGE, definition, byName),
    );
  }

  async listActiveSegments(
    workspaceId: string,
    environmentId: string,
  ): Promise<readonly WireSegmentInEnvironment[] | null> {
    const path = ['segments', 'ws', workspaceId, 'environments', environmentId];
    return this.#ifKnown('listActiveSegments', workspaceId, async () =>
      this.#pages('list the active segments', path, OBJECTS_PER_PAGE, segmentInEnvironment, byName),
    );
  }

  /**
   * A list that is not there may mean that the service does not have it, or that the ids are wrong, which must never
   * look like an empty workspace: the list of environments, which every service has, tells the two apart.
   */
  async #ifKnown<T>(
    endpoint: string,
    workspaceId: string,
    read: () => Promise<T | null>,
  ): Promise<T | null> {
    if (this.#missing.has(endpoint)) return null;
    const answer = await read();
    if (answer !== null) return answer;
    await this.listEnvironments(workspaceId);
    this.#missing.add(endpoint);
    return null;
  }

  async #bareList<T>(
    what: string,
    request: { path: readonly string[]; query?: Readonly<Record<string, string>> },
    check: Check<T>,
  ): Promise<readonly T[]> {
    const { body } = await this.#http.get({ ...request, what });
    return list(check)(body, 'the list');
  }

  /** Null: the service does not know the path. */
  async #pages<T>(
    what: string,
    path: readonly string[],
    limit: number,
    check: Check<T>,
    keyOf: (object: T) => string,
  ): Promise<readonly T[] | null> {
    const page = shape<WirePage<T>>({ objects: list(check), totalCount: integer });
    const endpoint = { isKnown: true };
    const objects = await readWhole(what, keyOf, async (offset) => {
      const query = { offset: String(offset), limit: String(limit) };
      const { status, body } = await this.#http.get({
        path,
        query,
        what,
        accept: offset === 0 ? UNKNOWN : [],
      });
      if (UNKNOWN.includes(status)) {
        endpoint.isKnown = false;
        return { objects: [], total: 0 };
      }
      const read = page(body, 'the page');
      return { objects: read.objects, total: read.totalCount };
    });
    return endpoint.isKnown ? objects : null;
  }

  async #keysPage(
    environmentId: string,
    name: string,
    offset: number,
  ): Promise<WireSegmentKeys | undefined> {
    const what = `read the keys of segment "${name}"`;
    const path = ['segments', environmentId, name, 'keys'];
    const query = { offset: String(offset), limit: String(KEYS_PER_PAGE) };
    const { status, body } = await this.#http.get({
      path,
      query,
      what,
      accept: offset === 0 ? [404] : [],
    });
    return status === 404 ? undefined : segmentKeys(body, 'the page of keys');
  }
}

function byId({ id }: { id: string }): string {
  return id;
}

function byName({ name }: { name: string }): string {
  return name;
}

function notFound(what: string): FlaghoistError {
  return new FlaghoistError(
    'UNREADABLE',
    `cannot ${what}: the service does not know this path (is the URL right?)`,
  );
}
