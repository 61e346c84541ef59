import { RejectedError, FlagkeelError } from '../errors.js';
import { flagFieldsFromWire } from '../model/flag/fields.js';
import type { FlagFields, FlagFieldsChange } from '../model/flag/flag.js';
import { patched, definitionFromWire } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import type { ChangeNote } from '../model/outcome.js';
import * as shapes from './decode.js';
import type { AdminClient } from './http/admin-client.js';
import type { ServiceAnswer, WriteRequest } from './http/request.js';
import { look, type DefinitionTarget } from './look.js';
import type { AdminReader } from './reader.js';
import {
  MAX_KEYS_PER_REQUEST,
  type WireDefinition,
  type WireDefinitionBody,
  type WireFlag,
  type WirePatchOperation,
  type WireSegment,
  type WireSegmentInEnvironment,
} from './wire.js';

export interface IdentitiesTarget {
  readonly trafficTypeId: string;
  /** Name. */
  readonly trafficType: string;
  readonly environmentId: string;
}

export function definitionAt({ workspaceId, environmentId, flag }: DefinitionTarget) {
  return {
    route: 'splits/ws/:workspace/:flag/environments/:environment',
    at: { workspace: workspaceId, environment: environmentId, flag },
  };
}

export function assertFits({ length }: readonly unknown[]): void {
  if (length > MAX_KEYS_PER_REQUEST) throw new Error(`bug: ${length} keys in one request`);
}

/** Remembers the absence of a flag if the service denies it to a write that needs it. */
export async function aboutFlag<T>(
  reader: AdminReader,
  { workspaceId, flag }: Pick<DefinitionTarget, 'workspaceId' | 'flag'>,
  writing: Promise<T>,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    // A 404 of a proxy has no message of the service, and proves nothing.
    const isSaid = error instanceof RejectedError && error.serviceMessage !== '';
    if (isSaid && error.status === 404) reader.learnAbsence(workspaceId, flag);
    throw error;
  }
}

/** The body of an answer to a request with a check, which no error status answers. */
export function valueOf<T>({ json }: ServiceAnswer<T>): T {
  if (json === undefined) throw new Error('bug: an answer without a body passed its check');
  return json;
}

export function definitionOrNull(json: unknown, place: DefinitionTarget): WireDefinition | null {
  try {
    const found = shapes.definition(json);
    const { id, name } = found.environment;
    const isSamePlace = [id, name].includes(place.environmentId) && found.name === place.flag;
    return isSamePlace ? found : null;
  } catch {
    return null;
  }
}

export function deletion(json: unknown): void {
  if (json === true || json === undefined) return;
  throw new Error(`expected true, got ${JSON.stringify(json).slice(0, 80)}`);
}

/** Writes whose body is an object. */
export type NotedWrite = 'createDefinition' | 'archiveFlag' | 'uploadKeys' | 'removeKeys';

/** The body is without title and comment. */
type NotedRequest<T> = WriteRequest<T> & { readonly body: object };

type BodyForm = (note: ChangeNote) => Partial<ChangeNote>;

const WHOLE_NOTE: BodyForm = (note) => note;
/** The form of `removeKeys` in the contract. */
const COMMENT_ALONE: BodyForm = ({ comment }) => ({ comment });
const NO_NOTE: BodyForm = () => ({});

/** Statuses for a body with an unknown member, or without a required one. */
const BODY_REFUSED = new Set([400, 422]);

/**
 * Adds title and comment to bodies, as far as the service accepts them there; the query has them in any case.
 *
 * A refusal does not reliably name the offending member. So the body is repeated with less of the note until the
 * service accepts it, and later writes of this kind use that form.
 */
export class BodyNotes {
  readonly #client: Pick<AdminClient, 'write'>;
  /** By kind of write. */
  readonly #accepted = new Map<NotedWrite, BodyForm>();
  /** The write that finds out the form of its kind. The others wait, or each would meet the same refusals. */
  readonly #finding = new Map<NotedWrite, Promise<unknown>>();

  constructor(client: Pick<AdminClient, 'write'>) {
    this.#client = client;
  }

  async write<T>(
    kind: NotedWrite,
    request: NotedRequest<T>,
    note: ChangeNote,
  ): Promise<ServiceAnswer<T>> {
    while (!this.#accepted.has(kind) && this.#finding.has(kind)) await this.#finding.get(kind);
    const accepted = this.#accepted.get(kind);
    if (accepted) return this.#writeAs(accepted, kind, request, note);
    const finding = this.#writeAsAccepted(kind, request, note);
    this.#finding.set(
      kind,
      finding.catch(() => undefined),
    );
    try {
      return await finding;
    } finally {
      this.#finding.delete(kind);
    }
  }

  async #writeAsAccepted<T>(
    kind: NotedWrite,
    request: NotedRequest<T>,
    note: ChangeNote,
  ): Promise<ServiceAnswer<T>> {
    for (const form of [WHOLE_NOTE, COMMENT_ALONE]) {
      try {
        return await this.#writeAs(form, kind, request, note);
      } catch (error) {
        if (!(error instanceof RejectedError) || !BODY_REFUSED.has(error.status)) throw error;
      }
    }
    return this.#writeAs(NO_NOTE, kind, request, note);
  }

  async #writeAs<T>(
    form: BodyForm,
    kind: NotedWrite,
    request: NotedRequest<T>,
    note: ChangeNote,
  ): Promise<ServiceAnswer<T>> {
    const body = { ...request.body, ...form(note) };
    const answer = await this.#client.write({ ...request, body });
    if (answer.status < 400) this.#accepted.set(kind, form);
    return answer;
  }
}

/** A flag or a segment to create. */
export interface NewObject {
  readonly name: string;
  /** Name. */
  readonly trafficType: string;
  readonly description: string;
}

/**
 * Whether `live` has all values of `ours`. Empty values of `ours` may be absent in it, and the service may add others.
 */
function matchesRequest(live: unknown, ours: unknown): boolean {
  if (isEmpty(ours)) return isEmpty(live);
  if (Array.isArray(ours)) {
    return (
      Array.isArray(live) &&
      live.length === ours.length &&
      ours.every((each, index) => matchesRequest(live[index], each))
    );
  }
  if (typeof ours !== 'object' || ours === null) return live === ours;
  if (typeof live !== 'object' || live === null) return false;
  const held = live as Record<string, unknown>;
  return Object.entries(ours).every(([field, value]) => matchesRequest(held[field], value));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

/** The flag if it was created with the wanted values. */
export async function findFlag(
  reader: AdminReader,
  workspaceId: string,
  flag: NewObject,
  patch: (operations: readonly WirePatchOperation[]) => Promise<WireFlag>,
): Promise<WireFlag | undefined> {
  const flags = await reader.listFlags(workspaceId);
  if (flags !== null) return flags.find((found) => isSameObject(found, flag));
  // A service that cannot show a flag returns it for a patch; this one repeats the values of the creation.
  const found = await unlessAbsent(
    patch([{ op: 'replace', path: '/description', value: flag.description }]),
  );
  return found && isSameObject(found, flag) ? found : undefined;
}

export async function unlessAbsent(patching: Promise<WireFlag>): Promise<WireFlag | undefined> {
  try {
    return await patching;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return undefined;
    throw error;
  }
}

/** The definition if it was created with the wanted values. */
export async function findCreated(
  reader: AdminReader,
  place: DefinitionTarget,
  body: WireDefinitionBody,
): Promise<WireDefinition | undefined> {
  const found = await look(reader, place, { name: place.flag });
  return found.is === 'seen' && matchesRequest(found.definition, body)
    ? found.definition
    : undefined;
}

/** `undefined` if it is still unchanged. @throws FlagkeelError a foreign write has changed it. */
export async function findPatched(
  reader: AdminReader,
  place: DefinitionTarget,
  operations: readonly WirePatchOperation[],
  expected: WireDefinition,
): Promise<WireDefinition | undefined> {
  const { flag } = place;
  const found = await look(reader, place, { name: flag, id: expected.id });
  const live = found.is === 'seen' ? found.definition : undefined;
  const isNow = (wire: WireDefinition): boolean =>
    live !== undefined && sameJson(definitionFromWire(live), definitionFromWire(wire));
  if (isNow(patched(expected, operations))) return live;
  if (isNow(expected)) return undefined;
  throw changedByOthers(`the definition of flag ${JSON.stringify(flag)}`);
}

function changedByOthers(object: string): FlagkeelError {
  const message = `${object} is neither what it was nor what it should be`;
  return new FlagkeelError('UNREADABLE', message);
}

/**
 * `undefined` if its fields are still unchanged. @throws FlagkeelError a foreign write has changed them.
 *
 * @param live undefined if the flag is gone, which the next try will show.
 */
export function patchedFlag(
  live: WireFlag | undefined,
  flag: string,
  { before, after }: FlagFieldsChange,
): WireFlag | undefined {
  if (!live || hasFields(live, after)) return live;
  if (hasFields(live, before)) return undefined;
  throw changedByOthers(`flag ${JSON.stringify(flag)}`);
}

function hasFields(live: WireFlag, wanted: FlagFields): boolean {
  const fields: FlagFields = flagFieldsFromWire(live);
  return sameJson({ ...fields, ...wanted }, fields);
}

export function isSameObject(found: WireFlag | WireSegment, wanted: NewObject): boolean {
  return (
    found.name === wanted.name &&
    (found.description ?? '') === wanted.description &&
    [found.trafficType.name, found.trafficType.id].includes(wanted.trafficType)
  );
}

/** An activation that is only known to exist. */
export function activation(environmentId: string, segment: string): WireSegmentInEnvironment {
  const unknown = { id: '', name: '' };
  return {
    name: segment,
    environment: { id: environmentId, name: environmentId },
    trafficType: unknown,
    creationTime: 0,
  };
}
