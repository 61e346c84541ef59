import { FlagkeelError, messageOf } from '../errors.js';
import { sameJson } from '../model/json.js';
import type { ChangeNote } from '../model/outcome.js';
import { submitOnce, withdrawRequest } from './change-requests.js';
import type { AdminClient, WriteRequest } from './http/admin-client.js';
import * as lookup from './writer-lookup.js';
import * as requests from './writer-requests.js';
import { isNoEndpoint, type ServiceAnswer } from './http/response.js';
import type { AdminReader } from './reader.js';
import * as shapes from './decode.js';
import { KILL } from './wire.js';
import type { AdminWriter } from './writer.js';

type WritingClient = Pick<AdminClient, 'origin' | 'write' | 'clean'>;

/** Statuses of a service without an endpoint to archive. */
const NO_ARCHIVE: ReadonlySet<number> = new Set([404, 405, 501]);

/** Writes over HTTP. The reader looks up the effect of requests of unknown fate. */
export class HttpAdminWriter implements AdminWriter {
  readonly #client: WritingClient;
  readonly #reader: AdminReader;
  readonly #bodyNotes: requests.BodyNotes;
  #hasDeactivation = true;
  /** Whether the service has `uploadKeys?replace=false`, which surely appends; the contract does not promise it. */
  #hasAppend = true;

  constructor(client: WritingClient, reader: AdminReader) {
    this.#client = client;
    this.#reader = reader;
    this.#bodyNotes = new requests.BodyNotes(client);
  }

  createFlag: AdminWriter['createFlag'] = async (workspaceId, flag, note) => {
    const { name, trafficType, description } = flag;
    const created = await this.#create(
      {
        path: ['splits', 'ws', workspaceId, 'trafficTypes', trafficType],
        query: { ...note },
        body: { name, description },
        what: `create flag ${JSON.stringify(name)}`,
        confirm: async () =>
          lookup.findFlag(this.#reader, workspaceId, flag, async (operations) =>
            this.patchFlag(workspaceId, name, operations, note),
          ),
      },
      shapes.flag,
    );
    this.#reader.learnFlag(workspaceId, created);
    return created;
  };

  patchFlag: AdminWriter['patchFlag'] = async (workspaceId, flag, operations, note, fields) => {
    const request: WriteRequest = {
      // Repeating an empty patch is safe.
      kind: operations.length === 0 ? 'write' : 'patch',
      method: 'PATCH',
      path: ['splits', 'ws', workspaceId, flag],
      query: { ...note },
      body: operations,
      what: `patch flag ${JSON.stringify(flag)}`,
      ...(fields && {
        confirm: async () =>
          lookup.findPatchedFlag(this, this.#reader, { workspaceId, flag, note }, fields),
      }),
    };
    const writing = this.#client.write(request);
    const { json } = await requests.aboutFlag(this.#reader, { workspaceId, flag }, writing);
    const patched = this.#checked(request, json, shapes.flag);
    this.#reader.learnFlag(workspaceId, patched);
    return patched;
  };

  deleteFlag: AdminWriter['deleteFlag'] = async (workspaceId, flag, note) => {
    const what = `delete flag ${JSON.stringify(flag)}`;
    const path = ['splits', 'ws', workspaceId, flag];
    await requests.aboutFlag(this.#reader, { workspaceId, flag }, this.#delete(path, note, what));
  };

  archiveFlag: AdminWriter['archiveFlag'] = async (workspaceId, flag, note) => {
    const what = `archive flag ${JSON.stringify(flag)}`;
    const request = {
      // Repeating is safe, because an archived flag stays archived.
      kind: 'delete' as const,
      method: 'POST' as const,
      path: ['splits', 'ws', workspaceId, flag, 'archive'],
      query: { ...note },
      body: {},
      what,
      accepts: (answered: number) => NO_ARCHIVE.has(answered),
    };
    const { status } = await this.#bodyNotes.write('archiveFlag', request, note);
    if (status < 400) return;
    // 404 may mean a missing endpoint, or a flag that is gone.
    const place = { workspaceId, flag, note };
    if (status === 404 && !(await lookup.shownFlag(this, this.#reader, place))) return;
    throw new FlagkeelError(
      'NOT_ON_SERVICE',
      `cannot ${what} on ${this.#client.origin}: the service answered ${status}, as one that cannot archive (with \`onRemove: delete\` in flagkeel.yaml it is deleted)`,
    );
  };

  createDefinition: AdminWriter['createDefinition'] = async (place, body, note) => {
    const request = {
      kind: 'create' as const,
      method: 'POST' as const,
      path: requests.definitionPath(place),
      query: { ...note },
      body,
      what: `create the definition of flag ${JSON.stringify(place.flag)}`,
      confirm: async () => lookup.findCreated(this.#reader, place, body),
    };
    const writing = this.#bodyNotes.write('createDefinition', request, note);
    const { json } = await requests.aboutFlag(this.#reader, place, writing);
    const created = this.#checked(request, json, shapes.definition);
    this.#reader.learnFlag(place.workspaceId, created);
    return created;
  };

  patchDefinition: AdminWriter['patchDefinition'] = async (place, operations, note, expected) => {
    const isUrgent = sameJson(operations, KILL);
    const { json } = await this.#client.write({
      // Safe to repeat; any other patch could undo a foreign change in between.
      kind: isUrgent ? 'write' : 'patch',
      lane: isUrgent ? 'urgent' : 'normal',
      method: 'PATCH',
      path: requests.definitionPath(place),
      query: { ...note },
      body: operations,
      what: `${isUrgent ? 'kill' : 'patch the definition of'} flag ${JSON.stringify(place.flag)}`,
      ...(expected && {
        confirm: async () => lookup.findPatched(this.#reader, place, operations, expected),
      }),
    });
    return requests.asDefinition(json, place);
  };

  deleteDefinition: AdminWriter['deleteDefinition'] = async (place, note) => {
    const what = `delete the definition of flag ${JSON.stringify(place.flag)}`;
    await this.#delete(requests.definitionPath(place), note, what);
  };

  createSegment: AdminWriter['createSegment'] = async (workspaceId, segment, note) => {
    const { name, trafficType, description } = segment;
    return this.#create(
      {
        path: ['segments', 'ws', workspaceId, 'trafficTypes', trafficType],
        query: { ...note },
        body: { name, description },
        what: `create segment ${JSON.stringify(name)}`,
        confirm: async () => {
          const segments = await this.#reader.listSegments(workspaceId);
          return segments.find((found) => lookup.isSameObject(found, segment));
        },
      },
      shapes.segment,
    );
  };

  activateSegment: AdminWriter['activateSegment'] = async (environmentId, segment, note) => {
    return this.#create(
      {
        path: ['segments', environmentId, segment],
        query: { ...note },
        what: `activate segment ${JSON.stringify(segment)}`,
        confirm: async () => {
          // Only an active segment has a list of keys. No caller needs the rest of the answer.
          const found = await this.#reader.countKeys(environmentId, segment);
          return found === undefined ? undefined : lookup.activation(environmentId, segment);
        },
      },
      shapes.segmentInEnvironment,
    );
  };

  uploadKeys: AdminWriter['uploadKeys'] = async (environmentId, segment, keys, note) => {
    const what = `upload keys to segment ${JSON.stringify(segment)}`;
    const place = ['segments', environmentId, segment];
    if (this.#hasAppend) {
      const [path, query] = [[...place, 'uploadKeys'], { replace: 'false', ...note }];
      const request = { path, query, what, accepts: isNoEndpoint };
      if ((await this.#putKeys('uploadKeys', keys, request, note)).status < 400) return;
    }
    requests.assertFits(keys);
    await this.#client.write({
      kind: 'write',
      method: 'PUT',
      path: [...place, 'upload'],
      query: { ...note },
      // A bare list, because the contract has no place for title and comment in this body.
      body: keys,
      what,
    });
    // Only now it is certain that the 404 was about the endpoint and not about the segment.
    this.#hasAppend = false;
  };

  removeKeys: AdminWriter['removeKeys'] = async (environmentId, segment, keys, note) => {
    const request = {
      path: ['segments', environmentId, segment, 'removeKeys'],
      query: { ...note },
      what: `remove keys from segment ${JSON.stringify(segment)}`,
    };
    await this.#putKeys('removeKeys', keys, request, note);
  };

  deactivateSegment: AdminWriter['deactivateSegment'] = async (environmentId, segment, note) => {
    if (!this.#hasDeactivation) return null;
    const request: WriteRequest = {
      kind: 'delete',
      method: 'DELETE',
      path: ['segments', environmentId, segment],
      query: { ...note },
      what: `deactivate segment ${JSON.stringify(segment)}`,
      accepts: isNoEndpoint,
    };
    const { status, json } = await this.#client.write(request);
    if (status < 400) {
      this.#assertDeleted(request, json);
      return true;
    }
    // 404 may mean a missing endpoint or an inactive segment; a look at the keys decides.
    const isActive = (await this.#reader.countKeys(environmentId, segment)) !== undefined;
    if (status === 404 && !isActive) return true;
    this.#hasDeactivation = false;
    return null;
  };

  deleteSegment: AdminWriter['deleteSegment'] = async (workspaceId, segment, note) => {
    const what = `delete segment ${JSON.stringify(segment)}`;
    await this.#delete(['segments', 'ws', workspaceId, segment], note, what);
  };

  writeIdentities: AdminWriter['writeIdentities'] = async (place, identities, note) => {
    requests.assertFits(identities);
    const { trafficTypeId, trafficType, environmentId } = place;
    const request: WriteRequest = {
      // The operation creates and updates, so that repeating is safe.
      kind: 'write',
      method: 'POST',
      path: ['trafficTypes', trafficTypeId, 'environments', environmentId, 'identities'],
      query: { ...note },
      body: identities,
      what: `write identities of ${JSON.stringify(trafficType)}`,
    };
    const { json } = await this.#client.write(request);
    return this.#checked(request, json, (value) =>
      shapes.identitiesAnswer(value, identities, (text) => this.#client.clean(text)),
    );
  };

  submitChangeRequest: AdminWriter['submitChangeRequest'] = async (submission) =>
    submitOnce(this.#client, this.#reader, submission);

  withdrawChangeRequest: AdminWriter['withdrawChangeRequest'] = async (id) =>
    withdrawRequest(this.#client, id);

  async #create<T>(
    request: Omit<WriteRequest, 'kind' | 'method'>,
    check: shapes.Check<T>,
  ): Promise<T> {
    const full: WriteRequest = { ...request, kind: 'create', method: 'POST' };
    return this.#checked(full, (await this.#client.write(full)).json, check);
  }

  async #delete(path: readonly string[], note: ChangeNote, what: string): Promise<void> {
    const query = { ...note };
    const request: WriteRequest = { kind: 'delete', method: 'DELETE', path, query, what };
    const { status, json } = await this.#client.write(request);
    if (status < 400) this.#assertDeleted(request, json);
  }

  async #putKeys(
    kind: requests.NotedWrite,
    keys: readonly string[],
    request: Omit<WriteRequest, 'kind' | 'method' | 'body'>,
    note: ChangeNote,
  ): Promise<ServiceAnswer> {
    requests.assertFits(keys);
    const whole = { ...request, kind: 'write' as const, method: 'PUT' as const, body: { keys } };
    return this.#bodyNotes.write(kind, whole, note);
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

  #unreadable(request: WriteRequest, why: string, cause?: unknown): FlagkeelError {
    return new FlagkeelError(
      'UNREADABLE',
      `cannot ${request.what} on ${this.#client.origin}: ${why}; it is unknown whether it was done`,
      { cause },
    );
  }
}
