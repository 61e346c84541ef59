import { RejectedError } from '../errors.js';
import type { ChangeNote } from '../model/outcome.js';
import type { AdminClient, WriteRequest } from './http/admin-client.js';
import type { ServiceAnswer } from './http/response.js';

/** Writes whose body is an object, so that title and comment can stand in it. */
export type NotedWrite = 'createDefinition' | 'archiveFlag' | 'uploadKeys' | 'removeKeys';

/** What of a note stands in the body. */
type BodyForm = (note: ChangeNote) => Partial<ChangeNote>;

const WHOLE_NOTE: BodyForm = (note) => note;
/** As the contract shows `removeKeys`. */
const COMMENT_ALONE: BodyForm = ({ comment }) => ({ comment });
const NO_NOTE: BodyForm = () => ({});

/** What a service answers to members of a body that it does not take, or that it misses. */
const BODY_REFUSED = new Set([400, 422]);

/**
 * Sends title and comment in bodies too, as far as the service takes them there; the query carries them anyway.
 *
 * Nothing in a refusal says for certain which member it is about. The body is therefore sent with less of the note until
 * one is accepted, and this kind of write is sent in that form from then on.
 */
export class BodyNotes {
  readonly #client: Pick<AdminClient, 'write'>;
  /** The form that the service accepted, by kind of write. */
  readonly #accepted = new Map<NotedWrite, BodyForm>();

  constructor(client: Pick<AdminClient, 'write'>) {
    this.#client = client;
  }

  /**
   * @param request its body is the one without title and comment.
   * @throws RejectedError what the service says of the last body that it was sent.
   */
  async write(
    kind: NotedWrite,
    request: WriteRequest & { readonly body: object },
    note: ChangeNote,
  ): Promise<ServiceAnswer> {
    const accepted = this.#accepted.get(kind);
    if (accepted) return this.#writeAs(accepted, kind, request, note);
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
