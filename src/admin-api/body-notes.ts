import { RejectedError } from '../errors.js';
import type { ChangeNote } from '../model/outcome.js';
import type { AdminClient, WriteRequest } from './http/admin-client.js';
import type { ServiceAnswer } from './http/response.js';

/** Writes whose body is an object, so that title and comment can stand in it. */
export type NotedWrite = 'createDefinition' | 'archiveFlag' | 'uploadKeys' | 'removeKeys';

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
  /** The form that the service accepted, by kind of write. */
  readonly #accepted = new Map<NotedWrite, BodyForm>();
  /** The write that finds out the form of its kind. The others wait, or each would meet the same refusals. */
  readonly #finding = new Map<NotedWrite, Promise<unknown>>();

  constructor(client: Pick<AdminClient, 'write'>) {
    this.#client = client;
  }

  /**
   * @param request with the body without title and comment.
   * @throws RejectedError the refusal of the last body.
   */
  async write(
    kind: NotedWrite,
    request: WriteRequest & { readonly body: object },
    note: ChangeNote,
  ): Promise<ServiceAnswer> {
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

  async #writeAsAccepted(
    kind: NotedWrite,
    request: WriteRequest & { readonly body: object },
    note: ChangeNote,
  ): Promise<ServiceAnswer> {
    for (const form of [WHOLE_NOTE, COMMENT_ALONE]) {
      try {
        return await this.#writeAs(form, kind, request, note);
      } catch (error) {
        if (!(error instanceof RejectedError) || !BODY_REFUSED.has(error.status)) throw error;
      }
    }
    return this.#writeAs(NO_NOTE, kind, request, note);
  }

  async #writeAs(
    form: BodyForm,
    kind: NotedWrite,
    request: WriteRequest & { readonly body: object },
    note: ChangeNote,
  ): Promise<ServiceAnswer> {
    const body = { ...request.body, ...form(note) };
    const answer = await this.#client.write({ ...request, body });
    if (answer.status < 400) this.#accepted.set(kind, form);
    return answer;
  }
}
