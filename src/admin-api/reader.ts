import { FlagkeelError, messageOf } from '../errors.js';
import type { ListedRequest } from '../model/change-request.js';
import { listChangeRequests } from './change-requests.js';
import { isNoEndpoint, type ReadRequest, type ServiceAnswer } from './http/request.js';
import type { GetOnly } from './http/admin-client.js';
import { KeysCount, readPages, type Page } from './paging.js';
import * as shapes from './decode.js';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireRolloutStatus,
  WireTrafficType,
  WireWorkspace,
} from './wire.js';

/** The largest that the service accepts. */
const WORKSPACES_PER_PAGE = 200;
const OBJECTS_PER_PAGE = 50;

/** Only a 404 of the service itself is an absence; one of a proxy proves nothing. */
export const isAbsence = (status: number, isOwn: boolean): boolean => status === 404 && isOwn;

type OptionalList = 'traffic types' | 'flags' | 'definitions';

interface OptionalRequest extends ReadRequest {
  readonly list: OptionalList;
  /** Ids. */
  readonly at: { readonly workspace: string; readonly environment?: string };
}

/** Newest id of a flag, and all ids that it had, oldest first; undefined if no answer of the run named it. */
export type FlagSaid =
  { readonly id: string; readonly ids: readonly string[] } | 'absent' | undefined;

export type AdminReader = Pick<HttpAdminReader, keyof HttpAdminReader>;

/**
 * All reads of the administration service. It has a `get` alone, so that a dry run, which gets only this, cannot write.
 *
 * For all methods:
 * - `undefined` means that the service clearly reported an absence;
 * - `null` means that the service lacks the endpoint, which the contract does not promise; remembered for the run;
 * - a list is complete, or the call fails;
 * - a failure is thrown (`FlagkeelError`) and never looks like an absence.
 *
 * Environments are given by id, flags and segments by name. Repeating is safe.
 */
export class HttpAdminReader {
  readonly origin: string;
  readonly #client: GetOnly;
  /** Which optional lists the service has; unknown until the first request. */
  readonly #lists = new Map<OptionalList, 'there' | 'missing'>();
  /** What the answers of the run prove of the meaning of `count`. */
  readonly keysCount = new KeysCount();
  /** Ids and absences of flags, by `WORKSPACE/NAME`. */
  readonly #flagIds = new Map<string, readonly string[]>();
  readonly #absentFlags = new Set<string>();
  #showsFlags = false;
  /** By workspace id. */
  readonly #answered = new Map<string, readonly WireEnvironment[]>();

  constructor(client: GetOnly) {
    this.#client = client;
    this.origin = client.origin;
  }

  async listWorkspaces(): Promise<readonly WireWorkspace[]> {
    const request = { route: 'workspaces', what: 'read workspaces' };
    return this.objects(request, shapes.workspace, ({ id }) => id, WORKSPACES_PER_PAGE);
  }

  async listEnvironments(workspaceId: string): Promise<readonly WireEnvironment[]> {
    const request = {
      route: 'environments/ws/:workspace',
      at: { workspace: workspaceId },
      what: 'read environments',
    };
    const environments = await this.#list(request, shapes.environment);
    this.#answered.set(workspaceId, environments);
    return environments;
  }

  async listRolloutStatuses(workspaceId: string): Promise<readonly WireRolloutStatus[]> {
    const query = { wsId: workspaceId };
    const request = { route: 'rolloutStatuses', query, what: 'read rollout statuses' };
    return this.#list(request, shapes.rolloutStatus);
  }

  /** Only for `look`, because a 404 of one key proves no absence. @param flag `key`: its name or an id, for the path. */
  async getDefinition(
    workspaceId: string,
    environmentId: string,
    { name, key }: { readonly name: string; readonly key: string },
  ): Promise<WireDefinition | undefined> {
    const inEnvironment = shapes.inEnvironment(shapes.definition, environmentId);
    const { json } = await this.#client.get({
      route: 'splits/ws/:workspace/:flag/environments/:environment',
      at: { workspace: workspaceId, flag: key, environment: environmentId },
      what: `read the definition of flag ${JSON.stringify(name)}`,
      accepts: isAbsence,
      check: (value) => {
        const definition = inEnvironment(value);
        // A definition of another flag must not be taken for this one, because it would be overwritten.
        if (definition.name === key || definition.id === key) return definition;
        throw anotherFlag(definition);
      },
    });
    return json;
  }

  /** Remembers for the run the id in an answer. Sends no request. */
  learnFlag(workspaceId: string, { name, id }: Pick<WireFlag, 'name' | 'id'>): void {
    const place = `${workspaceId}/${name}`;
    const known = this.#flagIds.get(place);
    if (known?.includes(id) !== true) this.#flagIds.set(place, known ? [...known, id] : [id]);
    this.#absentFlags.delete(place);
  }

  /**
   * Remembers for the run that the service refused a write because it has no such flag. Sends no request. Ignores flags
   * with a known id, because a service may take a while to find a flag that it has just shown.
   */
  learnAbsence(workspaceId: string, flag: string): void {
    const place = `${workspaceId}/${flag}`;
    if (!this.#flagIds.has(place)) this.#absentFlags.add(place);
  }

  /** Facts about a flag from other answers of the run. Sends no request. */
  flagSaid(workspaceId: string, flag: string): FlagSaid {
    const place = `${workspaceId}/${flag}`;
    if (this.#absentFlags.has(place)) return 'absent';
    const ids = this.#flagIds.get(place) ?? [];
    const id = ids.at(-1);
    return id === undefined ? undefined : { id, ids };
  }

  async listTrafficTypes(workspaceId: string): Promise<readonly WireTrafficType[] | null> {
    const request = {
      list: 'traffic types',
      route: 'trafficTypes/ws/:workspace',
      at: { workspace: workspaceId },
      what: 'read traffic types',
    } as const;
    const check = shapes.list(shapes.trafficType);
    return this.#optional(
      request,
      async (asked) => (await this.#client.get({ ...asked, check })).json,
    );
  }

  async listFlags(workspaceId: string): Promise<readonly WireFlag[] | null> {
    const at = { workspace: workspaceId };
    const found = await this.#optional(
      { list: 'flags', route: 'splits/ws/:workspace', at, what: 'read flags' },
      async (asked) => this.#pages(asked, shapes.flag, ({ name }) => name),
    );
    for (const flag of found ?? []) this.learnFlag(workspaceId, flag);
    return found;
  }

  /** One flag. `null` also if the service shows no flag of this name and has not shown any flag yet. */
  async getFlag(workspaceId: string, flag: string): Promise<WireFlag | null | undefined> {
    if (this.#lists.get('flags') === 'missing') return null;
    const { json } = await this.#client.get({
      route: 'splits/ws/:workspace/:flag',
      at: { workspace: workspaceId, flag },
      what: `read flag ${JSON.stringify(flag)}`,
      accepts: this.#showsFlags ? isAbsence : isNoEndpoint,
      check: (value) => {
        const found = shapes.flag(value);
        if (found.name !== flag) throw anotherFlag(found);
        return found;
      },
    });
    if (json === undefined) return this.#showsFlags ? undefined : null;
    this.#showsFlags = true;
    this.learnFlag(workspaceId, json);
    return json;
  }

  /** @param onEach called for each definition on arrival; twice for some if the list has to be read again. */
  async listDefinitions(
    workspaceId: string,
    environmentId: string,
    onEach?: (definition: WireDefinition) => void,
  ): Promise<readonly WireDefinition[] | null> {
    const inEnvironment = shapes.inEnvironment(shapes.definition, environmentId);
    const check: typeof inEnvironment = (value) => {
      const definition = inEnvironment(value);
      onEach?.(definition);
      return definition;
    };
    const route = 'splits/ws/:workspace/environments/:environment';
    const at = { workspace: workspaceId, environment: environmentId };
    return this.#optional(
      { list: 'definitions', route, at, what: 'read definitions' },
      async (asked) => this.#pages(asked, check, ({ name }) => name),
    );
  }

  async listChangeRequests(environmentId: string): Promise<readonly ListedRequest[] | null> {
    return listChangeRequests(this.#client, environmentId);
  }

  async #list<T>(request: ReadRequest, check: shapes.Check<T>): Promise<T[]> {
    const { json } = await this.#client.get({ ...request, check: shapes.list(check) });
    return whole(request, json);
  }

  /** @param read returns `undefined` if the service denies the list, with a status that `accepts` of the request took. */
  async #optional<T>(
    request: OptionalRequest,
    read: (request: ReadRequest) => Promise<readonly T[] | undefined>,
  ): Promise<readonly T[] | null> {
    if (this.#lists.get(request.list) === 'missing') return null;
    let denial = 404;
    const accepts = (status: number): boolean => {
      denial = status;
      return isNoEndpoint(status);
    };
    const found = await read({ ...request, accepts });
    if (found === undefined && denial === 404) await this.#confirmMissing(request);
    this.#lists.set(request.list, found === undefined ? 'missing' : 'there');
    return found ?? null;
  }

  /** Unknown ids in the path of a list give 404 as well, which must not look like a service without this list. */
  async #confirmMissing({ list, at, what }: OptionalRequest): Promise<void> {
    const { workspace, environment } = at;
    const cannot = `cannot ${what} from ${this.origin}`;
    if (this.#lists.get(list) === 'there') {
      const why = 'it answered 404 for a list that it answered before';
      throw new FlagkeelError('UNREADABLE', `${cannot}: ${why}`);
    }
    const environments = this.#answered.get(workspace) ?? (await this.listEnvironments(workspace));
    if (environment === undefined || environments.some(({ id }) => id === environment)) return;
    const why = `there is no environment ${JSON.stringify(environment)}`;
    throw new FlagkeelError('NOT_ON_SERVICE', `${cannot}: ${why}`);
  }

  async get<T>(request: ReadRequest<T>): Promise<ServiceAnswer<T>> {
    return this.#client.get(request);
  }

  /** A list of a path of its own, in pages, that every service has. */
  async objects<T>(
    request: ReadRequest,
    each: shapes.Check<T>,
    idOf: (object: T) => string,
    limit?: number,
  ): Promise<T[]> {
    return whole(request, await this.#pages(request, each, idOf, limit));
  }

  async #pages<T>(
    request: ReadRequest,
    each: shapes.Check<T>,
    idOf: (object: T) => string,
    limit = OBJECTS_PER_PAGE,
  ): Promise<T[] | undefined> {
    const check = shapes.page(each);
    const fetchPage = async (offset: number): Promise<Page<T> | undefined> => {
      const query = { ...request.query, limit: String(limit), offset: String(offset) };
      const { json, length } = await this.#client.get({ ...request, query, check });
      return json && { objects: json.objects, total: json.totalCount, offset: json.offset, length };
    };
    return this.pages(request, fetchPage, idOf);
  }

  async pages<T>(
    request: ReadRequest,
    fetchPage: (offset: number) => Promise<Page<T> | undefined>,
    idOf: (object: T) => string,
  ): Promise<T[] | undefined> {
    try {
      return await readPages(fetchPage, idOf);
    } catch (cause) {
      if (cause instanceof FlagkeelError) throw cause;
      const message = `cannot ${request.what} from ${this.origin}: ${messageOf(cause)}`;
      throw new FlagkeelError('UNREADABLE', message, { cause });
    }
  }
}

function anotherFlag({ name }: { readonly name: string }): Error {
  return new Error(`it answered flag ${JSON.stringify(name)}`);
}

/** The list of a request that accepts no error status. */
function whole<T>({ what }: ReadRequest, list: T[] | undefined): T[] {
  if (list === undefined) throw new Error(`bug: a 404 was accepted: ${what}`);
  return list;
}
