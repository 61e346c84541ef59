import { RejectedError } from '../errors.js';
import type { ChangeNote } from '../model/outcome.js';
import * as shapes from './decode.js';
import type { AdminClient } from './http/admin-client.js';
import type { WriteRequest } from './http/request.js';
import type { ServiceAnswer } from './http/response.js';
import type { DefinitionTarget } from './look.js';
import type { AdminReader } from './reader.js';
import { MAX_KEYS_PER_REQUEST, type WireDefinition } from './wire.js';

export interface IdentitiesTarget {
  readonly trafficTypeId: string;
  /** Name. */
  readonly trafficType: string;
  readonly environmentId: string;
}

export function definitionPath({ workspaceId, environmentId, flag }: DefinitionTarget): string[] {
  return ['splits', 'ws', workspaceId, flag, 'environments', environmentId];
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

/** Writes whose body is an object, so that title and comment can stand in it. */
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
