import { FlagkeelError, messageOf } from '../errors.js';
import { listChangeRequests } from './change-requests.js';
import { isNoEndpoint, type ServiceAnswer } from './http/response.js';
import type { GetOnly, ReadRequest } from './http/admin-client.js';
import { FlagIds } from './look.js';
import { KeysCount, readPages, type Page } from './paging.js';
import type { AdminReader } from './reader.js';
import * as shapes from './decode.js';
import type { WireEnvironment, WirePage, WireSegmentKeys } from './wire.js';

/** Largest page sizes that the service accepts; its answers show the sizes that it uses. */
const WORKSPACES_PER_PAGE = 200;
const OBJECTS_PER_PAGE = 50;
const KEYS_PER_PAGE = 100;

/** Only a 404 of the service itself is an absence; one of a proxy proves nothing. */
const isAbsence = (status: number, isOwn: boolean): boolean => status === 404 && isOwn;

type OptionalList = 'traffic types' | 'flags' | 'definitions';

interface OptionalRequest extends ReadRequest {
  readonly list: OptionalList;
  readonly workspaceId: string;
  readonly environmentId?: string;
}

function keysRequest(environmentId: string, segment: string): ReadRequest {
  return {
    path: ['segments', environmentId, segment, 'keys'],
    what: `read the keys of segment ${JSON.stringify(segment)}`,
  };
}

/** Reads over HTTP. It gets nothing but a `get`, so that code with only a reader cannot write. */
export class HttpAdminReader implements AdminReader {
  readonly origin: string;
  readonly #client: GetOnly;
  /** Which optional lists the service has; unknown until the first request. */
  readonly #lists = new Map<OptionalList, 'there' | 'missing'>();
  readonly #keysCount = new KeysCount();
  readonly #flagIds = new FlagIds();
  #showsFlags = false;
  /** Workspace id → environments, for workspaces that answered. */
  readonly #answered = new Map<string, readonly WireEnvironment[]>();

  constructor(client: GetOnly) {
    this.#client = client;
    this.origin = client.origin;
  }

  listWorkspaces: AdminReader['listWorkspaces'] = async () => {
    const request = { path: ['workspaces'], what: 'read workspaces' };
    const check = shapes.workspace;
    return this.#whole(
      request,
      await this.#pages(request, check, WORKSPACES_PER_PAGE, ({ id }) => id),
    );
  };

  listEnvironments: AdminReader['listEnvironments'] = async (workspaceId) => {
    const environments = await this.#read(
      { path: ['environments', 'ws', workspaceId], what: 'read environments' },
      shapes.list(shapes.environment),
    );
    this.#answered.set(workspaceId, environments);
    return environments;
  };

  listRolloutStatuses: AdminReader['listRolloutStatuses'] = async (workspaceId) => {
    return this.#read(
      {
        path: ['rolloutStatuses'],
        query: { wsId: workspaceId },
        what: 'read rollout statuses',
      },
      shapes.list(shapes.rolloutStatus),
    );
  };

  listSegments: AdminReader['listSegments'] = async (workspaceId) => {
    const request = { path: ['segments', 'ws', workspaceId], what: 'read segments' };
    const pages = this.#pages(request, shapes.segment, OBJECTS_PER_PAGE, ({ name }) => name);
    return this.#whole(request, await pages);
  };

  getDefinition: AdminReader['getDefinition'] = async (
    workspaceId,
    environmentId,
    { name, key },
  ) => {
    const request = {
      path: ['splits', 'ws', workspaceId, key, 'environments', environmentId],
      what: `read the definition of flag ${JSON.stringify(name)}`,
    };
    const answer = await this.#client.get({ ...request, accepts: isAbsence });
    if (answer.status === 404) return undefined;
    const check = shapes.inEnvironment(shapes.definition, environmentId);
    const definition = this.#checked(request, answer, check);
    // A definition of another flag must not be taken for this one, because it would be overwritten.
    if (definition.name === key || definition.id === key) return definition;
    throw this.#unreadable(request, `it answered flag ${JSON.stringify(definition.name)}`);
  };

  learnFlag: AdminReader['learnFlag'] = (workspaceId, flag) => {
    this.#flagIds.learn(workspaceId, flag);
  };

  learnAbsence: AdminReader['learnAbsence'] = (workspaceId, flag) => {
    this.#flagIds.learnAbsent(workspaceId, flag);
  };

  flagSaid: AdminReader['flagSaid'] = (workspaceId, flag) =>
    this.#flagIds.saidOf(workspaceId, flag);

  listKeys: AdminReader['listKeys'] = async (environmentId, segment) => {
    const request = keysRequest(environmentId, segment);
    let openChangeRequestId: string | null = null;
    const keys = await this.#readPages<string>(
      request,
      async (offset) => {
        const found = await this.#keysPage(request, offset, KEYS_PER_PAGE);
        if (found === undefined) return undefined;
        const { page, length } = found;
        openChangeRequestId = page.openChangeRequestId;
        const total = await this.#keysCount.askedTotal(
          page,
          offset,
          async () => (await this.#keysPage(request, 0, 1))?.page,
        );
        return { objects: page.keys.map(({ key }) => key), total, offset: page.offset, length };
      },
      (key) => key,
    );
    return keys === undefined ? undefined : { keys, openChangeRequestId };
  };

  countKeys: AdminReader['countKeys'] = async (environmentId, segment) => {
    const found = await this.#keysPage(keysRequest(environmentId, segment), 0, 1);
    return found && this.#keysCount.provenCount(found.page);
  };

  listTrafficTypes: AdminReader['listTrafficTypes'] = async (workspaceId) => {
    const request: OptionalRequest = {
      list: 'traffic types',
      workspaceId,
      path: ['trafficTypes', 'ws', workspaceId],
      what: 'read traffic types',
    };
    return this.#optional(request, async () => {
      const answer = await this.#client.get({ ...request, accepts: isNoEndpoint });
      if (isNoEndpoint(answer.status)) return answer.status;
      return this.#checked(request, answer, shapes.list(shapes.trafficType));
    });
  };

  listFlags: AdminReader['listFlags'] = async (workspaceId) => {
    const found = await this.#optionalPages(
      { list: 'flags', workspaceId, path: ['splits', 'ws', workspaceId], what: 'read flags' },
      shapes.flag,
    );
    for (const flag of found ?? []) this.learnFlag(workspaceId, flag);
    return found;
  };

  getFlag: AdminReader['getFlag'] = async (workspaceId, flag) => {
    const request = {
      path: ['splits', 'ws', workspaceId, flag],
      what: `read flag ${JSON.stringify(flag)}`,
    };
    if (this.#lists.get('flags') === 'missing') return null;
    const accepts = this.#showsFlags ? isAbsence : isNoEndpoint;
    const answer = await this.#client.get({ ...request, accepts });
    if (isNoEndpoint(answer.status)) return this.#showsFlags ? undefined : null;
    const found = this.#checked(request, answer, shapes.flag);
    if (found.name !== flag) {
      throw this.#unreadable(request, `it answered flag ${JSON.stringify(found.name)}`);
    }
    this.#showsFlags = true;
    this.learnFlag(workspaceId, found);
    return found;
  };

  listDefinitions: AdminReader['listDefinitions'] = async (workspaceId, environmentId, onEach) => {
    const check = shapes.inEnvironment(shapes.definition, environmentId);
    const checkAndReport: typeof check = (value) => {
      const definition = check(value);
      onEach?.(definition);
      return definition;
    };
    return this.#optionalPages(
      {
        list: 'definitions',
        workspaceId,
        environmentId,
        path: ['splits', 'ws', workspaceId, 'environments', environmentId],
        what: 'read definitions',
      },
      checkAndReport,
    );
  };

  listChangeRequests: AdminReader['listChangeRequests'] = async (environmentId) =>
    listChangeRequests(this.#client, environmentId);

  async #keysPage(
    request: ReadRequest,
    offset: number,
    limit: number,
  ): Promise<{ readonly page: WireSegmentKeys; readonly length: number } | undefined> {
    const query = { limit: String(limit), offset: String(offset) };
    const answer = await this.#client.get({ ...request, query, accepts: isAbsence });
    if (answer.status === 404) return undefined;
    return { page: this.#checked(request, answer, shapes.segmentKeys), length: answer.length };
  }

  async #optionalPages<T extends { name: string }>(
    request: OptionalRequest,
    check: shapes.Check<T>,
  ): Promise<readonly T[] | null> {
    return this.#optional(request, async () => {
      let status = 404;
      const accepts = (each: number): boolean => {
        status = each;
        return isNoEndpoint(each);
      };
      const paged = { ...request, accepts };
      return (await this.#pages(paged, check, OBJECTS_PER_PAGE, ({ name }) => name)) ?? status;
    });
  }

  /** @param read returns the list, or the status that denies it. */
  async #optional<T>(
    request: OptionalRequest,
    read: () => Promise<readonly T[] | number>,
  ): Promise<readonly T[] | null> {
    if (this.#lists.get(request.list) === 'missing') return null;
    const result = await read();
    if (typeof result !== 'number') {
      this.#lists.set(request.list, 'there');
      return result;
    }
    if (result === 404) await this.#confirmMissing(request);
    this.#lists.set(request.list, 'missing');
    return null;
  }

  /**
   * Checks that the service knows the ids in the path of a list that was 404. Unknown ids give 404 as well, which must
   * not look like a service without this list.
   */
  async #confirmMissing(request: OptionalRequest): Promise<void> {
    const { workspaceId, environmentId } = request;
    if (this.#lists.get(request.list) === 'there') {
      throw this.#unreadable(request, 'it answered 404 for a list that it answered before');
    }
    const environments =
      this.#answered.get(workspaceId) ?? (await this.listEnvironments(workspaceId));
    if (environmentId === undefined || environments.some(({ id }) => id === environmentId)) return;
    throw new FlagkeelError(
      'NOT_ON_SERVICE',
      `cannot ${request.what} from ${this.origin}: there is no environment ${JSON.stringify(environmentId)}`,
    );
  }

  async #pages<T>(
    request: ReadRequest,
    check: shapes.Check<T>,
    limit: number,
    idOf: (object: T) => string,
  ): Promise<T[] | undefined> {
    const page = shapes.record<WirePage<T>>({
      objects: shapes.list(check),
      totalCount: shapes.count,
    });
    const fetchPage = async (offset: number): Promise<Page<T> | undefined> => {
      const query = { ...request.query, limit: String(limit), offset: String(offset) };
      const answer = await this.#client.get({ ...request, query });
      if (isNoEndpoint(answer.status)) return undefined;
      const { objects, totalCount, offset: echoed } = this.#checked(request, answer, page);
      return { objects, total: totalCount, offset: echoed, length: answer.length };
    };
    return this.#readPages(request, fetchPage, idOf);
  }

  async #readPages<T>(
    request: ReadRequest,
    fetchPage: (offset: number) => Promise<Page<T> | undefined>,
    idOf: (object: T) => string,
  ): Promise<T[] | undefined> {
    try {
      return await readPages(fetchPage, idOf);
    } catch (error) {
      throw error instanceof FlagkeelError
        ? error
        : this.#unreadable(request, messageOf(error), error);
    }
  }

  #whole<T>(request: ReadRequest, list: T[] | undefined): T[] {
    if (list === undefined) throw new Error(`bug: a 404 was accepted: ${request.what}`);
    return list;
  }

  async #read<T>(request: ReadRequest, check: shapes.Check<T>): Promise<T> {
    return this.#checked(request, await this.#client.get(request), check);
  }

  #checked<T>(request: ReadRequest, answer: ServiceAnswer, check: shapes.Check<T>): T {
    try {
      return check(answer.json);
    } catch (error) {
      throw this.#unreadable(request, messageOf(error), error);
    }
  }

  #unreadable(request: ReadRequest, why: string, cause?: unknown): FlagkeelError {
    const message = `cannot ${request.what} from ${this.origin}: ${why}`;
    return new FlagkeelError('UNREADABLE', message, { cause });
  }
}
