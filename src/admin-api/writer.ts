import { FlagkeelError } from '../errors.js';
import type { ChangeRequest } from '../model/change-request.js';
import type { FlagFieldsChange } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import type { ChangeNote, IdentitiesAnswer } from '../model/outcome.js';
import { submitOnce, withdrawRequest, type Submission } from './change-requests.js';
import * as shapes from './decode.js';
import type { AdminClient } from './http/admin-client.js';
import { isNoEndpoint, type WriteRequest } from './http/request.js';
import type { DefinitionTarget } from './look.js';
import type { AdminReader } from './reader.js';
import {
  KILL,
  type WireDefinition,
  type WireDefinitionBody,
  type WireFlag,
  type WireIdentity,
  type WirePatchOperation,
  type WireSegment,
  type WireSegmentInEnvironment,
} from './wire.js';
import {
  aboutFlag,
  activation,
  findCreated,
  findFlag,
  findPatched,
  isSameObject,
  patchedFlag,
  unlessAbsent,
  assertFits,
  BodyNotes,
  definitionOrNull,
  definitionAt,
  deletion,
  valueOf,
  type IdentitiesTarget,
  type NewObject,
} from './writer-requests.js';

const NO_ARCHIVE: ReadonlySet<number> = new Set([404, 405, 501]);

const flagAt = (workspace: string, flag: string) => ({
  ...{ route: 'splits/ws/:workspace/:flag', at: { workspace, flag } },
});

export type AdminWriter = Pick<HttpAdminWriter, keyof HttpAdminWriter>;

const LISTS = { flag: 'splits', segment: 'segments' } as const;

/**
 * All writes to the administration service, one request each. The reader looks up the effect of requests of unknown
 * fate.
 *
 * `note` goes into the query of every write, and also into the body if the service takes it there. A refusal is a
 * `RejectedError` with the status and message of the service; below 500 the write was not made. From 500 on, and after
 * `UNREACHABLE` and `UNREADABLE`, it is unknown whether it was made. A request is repeated only if `http/retry.ts`
 * allows it for its kind.
 */
export class HttpAdminWriter {
  readonly #client: Pick<AdminClient, 'origin' | 'write' | 'clean'>;
  readonly #reader: AdminReader;
  readonly #bodyNotes: BodyNotes;
  #hasDeactivation = true;
  /** Whether the service has `uploadKeys?replace=false`, which surely appends; the contract does not promise it. */
  #hasAppend = true;

  constructor(client: Pick<AdminClient, 'origin' | 'write' | 'clean'>, reader: AdminReader) {
    this.#client = client;
    this.#reader = reader;
    this.#bodyNotes = new BodyNotes(client);
  }

  async createFlag(workspaceId: string, flag: NewObject, note: ChangeNote): Promise<WireFlag> {
    const patch = async (operations: readonly WirePatchOperation[]): Promise<WireFlag> =>
      this.patchFlag(workspaceId, flag.name, operations, note);
    const created = await this.#createNamed('flag', workspaceId, flag, note, {
      check: shapes.flag,
      confirm: async () => findFlag(this.#reader, workspaceId, flag, patch),
    });
    this.#reader.learnFlag(workspaceId, created);
    return created;
  }

  /**
   * @param fields written by the operations. With them, a patch of unknown fate is looked up, and repeated only if
   *   these fields are still unchanged. A patch without operations changes nothing, and returns the flag.
   */
  async patchFlag(
    workspaceId: string,
    flag: string,
    operations: readonly WirePatchOperation[],
    note: ChangeNote,
    fields?: FlagFieldsChange,
  ): Promise<WireFlag> {
    const live = async (): Promise<WireFlag | undefined> =>
      this.#shownFlag(workspaceId, flag, note);
    const writing = this.#written({
      // Repeating an empty patch is safe.
      kind: operations.length === 0 ? 'write' : 'patch',
      method: 'PATCH',
      ...flagAt(workspaceId, flag),
      query: { ...note },
      body: operations,
      what: `patch flag ${JSON.stringify(flag)}`,
      check: shapes.flag,
      ...(fields && { confirm: async () => patchedFlag(await live(), flag, fields) }),
    });
    const patched = await aboutFlag(this.#reader, { workspaceId, flag }, writing);
    this.#reader.learnFlag(workspaceId, patched);
    return patched;
  }

  async deleteFlag(workspaceId: string, flag: string, note: ChangeNote): Promise<void> {
    const what = `delete flag ${JSON.stringify(flag)}`;
    const deleting = this.#delete(flagAt(workspaceId, flag), note, what);
    await aboutFlag(this.#reader, { workspaceId, flag }, deleting);
  }

  /**
   * Archives a flag with its definitions, which the service keeps. A missing flag is no error.
   *
   * @throws FlagkeelError `NOT_ON_SERVICE`: the service cannot archive, and the flag still exists.
   */
  async archiveFlag(workspaceId: string, flag: string, note: ChangeNote): Promise<void> {
    const what = `archive flag ${JSON.stringify(flag)}`;
    const request = {
      // Repeating is safe, because an archived flag stays archived.
      kind: 'delete' as const,
      method: 'POST' as const,
      route: 'splits/ws/:workspace/:flag/archive',
      at: { workspace: workspaceId, flag },
      query: { ...note },
      body: {},
      what,
      accepts: (answered: number) => NO_ARCHIVE.has(answered),
    };
    const { status } = await this.#bodyNotes.write('archiveFlag', request, note);
    if (status < 400) return;
    // 404 may mean a missing endpoint, or a flag that is gone.
    if (status === 404 && !(await this.#shownFlag(workspaceId, flag, note))) return;
    throw new FlagkeelError(
      'NOT_ON_SERVICE',
      `cannot ${what} on ${this.#client.origin}: the service answered ${status}, as one that cannot archive (with \`onRemove: delete\` in flagkeel.yaml it is deleted)`,
    );
  }

  async createDefinition(
    place: DefinitionTarget,
    body: WireDefinitionBody,
    note: ChangeNote,
  ): Promise<WireDefinition> {
    const request = {
      kind: 'create' as const,
      method: 'POST' as const,
      ...definitionAt(place),
      query: { ...note },
      body,
      what: `create the definition of flag ${JSON.stringify(place.flag)}`,
      check: shapes.definition,
      confirm: async () => findCreated(this.#reader, place, body),
    };
    const writing = this.#bodyNotes.write('createDefinition', request, note);
    const created = await aboutFlag(this.#reader, place, writing.then(valueOf));
    this.#reader.learnFlag(place.workspaceId, created);
    return created;
  }

  /**
   * Returns the answer if it is a definition of the same place, because the contract leaves it open; otherwise null, and
   * the caller has to read the definition.
   *
   * @param expected the definition before the patch. With it, a patch of unknown fate is looked up, and repeated only
   *   if the definition is still unchanged.
   */
  async patchDefinition(
    place: DefinitionTarget,
    operations: readonly WirePatchOperation[],
    note: ChangeNote,
    expected?: WireDefinition,
  ): Promise<WireDefinition | null> {
    const isUrgent = sameJson(operations, KILL);
    return this.#written({
      // Safe to repeat; any other patch could undo a foreign change in between.
      kind: isUrgent ? 'write' : 'patch',
      lane: isUrgent ? 'urgent' : 'normal',
      method: 'PATCH',
      ...definitionAt(place),
      query: { ...note },
      body: operations,
      what: `${isUrgent ? 'kill' : 'patch the definition of'} flag ${JSON.stringify(place.flag)}`,
      check: (json) => definitionOrNull(json, place),
      ...(expected && {
        confirm: async () => findPatched(this.#reader, place, operations, expected),
      }),
    });
  }

  async deleteDefinition(place: DefinitionTarget, note: ChangeNote): Promise<void> {
    const what = `delete the definition of flag ${JSON.stringify(place.flag)}`;
    await this.#delete(definitionAt(place), note, what);
  }

  async createSegment(
    workspaceId: string,
    segment: NewObject,
    note: ChangeNote,
  ): Promise<WireSegment> {
    return this.#createNamed('segment', workspaceId, segment, note, {
      check: shapes.segment,
      confirm: async () => {
        const segments = await this.#reader.listSegments(workspaceId);
        return segments.find((found) => isSameObject(found, segment));
      },
    });
  }

  async activateSegment(
    environmentId: string,
    segment: string,
    note: ChangeNote,
  ): Promise<WireSegmentInEnvironment> {
    return this.#create({
      route: 'segments/:environment/:segment',
      at: { environment: environmentId, segment },
      query: { ...note },
      what: `activate segment ${JSON.stringify(segment)}`,
      check: shapes.segmentInEnvironment,
      confirm: async () => {
        // Only an active segment has a list of keys. No caller needs the rest of the answer.
        const found = await this.#reader.countKeys(environmentId, segment);
        return found === undefined ? undefined : activation(environmentId, segment);
      },
    });
  }

  /** Appends; at most 10,000 keys. */
  async uploadKeys(
    environmentId: string,
    segment: string,
    keys: readonly string[],
    note: ChangeNote,
  ): Promise<void> {
    assertFits(keys);
    const what = `upload keys to segment ${JSON.stringify(segment)}`;
    const at = { environment: environmentId, segment };
    const request = { kind: 'write' as const, method: 'PUT' as const, at, what };
    if (this.#hasAppend) {
      const route = 'segments/:environment/:segment/uploadKeys';
      const query = { replace: 'false', ...note };
      const append = { ...request, route, query, body: { keys }, accepts: isNoEndpoint };
      if ((await this.#bodyNotes.write('uploadKeys', append, note)).status < 400) return;
    }
    // A bare list, because the contract has no place for title and comment in this body.
    const route = 'segments/:environment/:segment/upload';
    await this.#client.write({ ...request, route, query: { ...note }, body: keys });
    // Only now it is certain that the 404 was about the endpoint and not about the segment.
    this.#hasAppend = false;
  }

  /** At most 10,000 keys. */
  async removeKeys(
    environmentId: string,
    segment: string,
    keys: readonly string[],
    note: ChangeNote,
  ): Promise<void> {
    assertFits(keys);
    const request = {
      kind: 'write' as const,
      method: 'PUT' as const,
      route: 'segments/:environment/:segment/removeKeys',
      at: { environment: environmentId, segment },
      query: { ...note },
      body: { keys },
      what: `remove keys from segment ${JSON.stringify(segment)}`,
    };
    await this.#bodyNotes.write('removeKeys', request, note);
  }

  /** Does nothing if the service lacks the endpoint. */
  async deactivateSegment(environmentId: string, segment: string, note: ChangeNote): Promise<void> {
    if (!this.#hasDeactivation) return;
    const what = `deactivate segment ${JSON.stringify(segment)}`;
    const at = { environment: environmentId, segment };
    const place = { route: 'segments/:environment/:segment', at };
    const status = await this.#delete(place, note, what, isNoEndpoint);
    if (status < 400) return;
    // 404 may mean a missing endpoint or an inactive segment; a look at the keys decides.
    const isActive = (await this.#reader.countKeys(environmentId, segment)) !== undefined;
    if (status !== 404 || isActive) this.#hasDeactivation = false;
  }

  async deleteSegment(workspaceId: string, segment: string, note: ChangeNote): Promise<void> {
    const what = `delete segment ${JSON.stringify(segment)}`;
    const at = { workspace: workspaceId, segment };
    await this.#delete({ route: 'segments/ws/:workspace/:segment', at }, note, what);
  }

  /** Creates or updates each identity by itself, so that repeating is safe; at most 10,000. */
  async writeIdentities(
    { trafficTypeId, trafficType, environmentId }: IdentitiesTarget,
    identities: readonly WireIdentity[],
    note: ChangeNote,
  ): Promise<IdentitiesAnswer> {
    assertFits(identities);
    return this.#written({
      kind: 'write',
      method: 'POST',
      route: 'trafficTypes/:trafficType/environments/:environment/identities',
      at: { trafficType: trafficTypeId, environment: environmentId },
      query: { ...note },
      body: identities,
      what: `write identities of ${JSON.stringify(trafficType)}`,
      check: (json) =>
        shapes.identitiesAnswer(json, identities, (text) => this.#client.clean(text)),
    });
  }

  async submitChangeRequest(submission: Submission): Promise<ChangeRequest | null> {
    return submitOnce(this.#client, this.#reader, submission);
  }

  async withdrawChangeRequest(id: string): Promise<void> {
    await withdrawRequest(this.#client, id);
  }

  /** The flag, from an empty patch if the service does not show flags; undefined if the service has no such flag. */
  async #shownFlag(
    workspaceId: string,
    flag: string,
    note: ChangeNote,
  ): Promise<WireFlag | undefined> {
    const shown = await this.#reader.getFlag(workspaceId, flag);
    if (shown !== null) return shown;
    return unlessAbsent(this.patchFlag(workspaceId, flag, [], note));
  }

  async #written<T>(request: WriteRequest<T>): Promise<T> {
    return valueOf(await this.#client.write(request));
  }

  async #createNamed<T>(
    kind: keyof typeof LISTS,
    workspaceId: string,
    { name, trafficType, description }: NewObject,
    note: ChangeNote,
    answer: Required<Pick<WriteRequest<T>, 'check' | 'confirm'>>,
  ): Promise<T> {
    return this.#create({
      route: `${LISTS[kind]}/ws/:workspace/trafficTypes/:trafficType`,
      at: { workspace: workspaceId, trafficType },
      query: { ...note },
      body: { name, description },
      what: `create ${kind} ${JSON.stringify(name)}`,
      ...answer,
    });
  }

  async #create<T>(request: Omit<WriteRequest<T>, 'kind' | 'method'>): Promise<T> {
    return this.#written({ ...request, kind: 'create', method: 'POST' });
  }

  /** @returns the status, which `accepts` may allow to be an error. */
  async #delete(
    place: Pick<WriteRequest, 'route' | 'at'>,
    note: ChangeNote,
    what: string,
    accepts?: WriteRequest['accepts'],
  ): Promise<number> {
    const query = { ...note };
    const { status } = await this.#client.write({
      ...{ kind: 'delete', method: 'DELETE', ...place, query, what, check: deletion },
      ...(accepts && { accepts }),
    });
    return status;
  }
}
