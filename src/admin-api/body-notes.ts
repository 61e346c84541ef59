import { RejectedError } from '../errors.js';
import type { ChangeNote } from '../model/outcome.js';
import type { AdminClient, WriteRequest } from './http/admin-client.js';
import type { ServiceAnswer } from './http/response.js';

/** Writes whose body has a place for title and comment by the contract. */
export type NotedWrite = 'createDefinition' | 'uploadKeys' | 'removeKeys';

/** What a service answers to members of a body that it does not take. */
const BODY_REFUSED = new Set([400, 422]);

/**
 * Sends title and comment in bodies too, for as long as the service takes them there; the query carries them anyway.
 *
 * Nothing in a refusal says for certain which member it is about. The body is therefore sent once more without them,
 * and only where that is accepted is this kind of write sent so from then on.
 */
export class BodyNotes {
  readonly #client: Pick<AdminClient, 'write'>;
  /** Whether the service takes them; unknown until it accepted a body. */
  readonly #taken = new Map<NotedWrite, boolean>();

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
    if (this.#taken.get(kind) === false) return this.#client.write(request);
    try {
      const answer = await this.#client.write({ ...request, body: { ...request.body, ...note } });
      if (answer.status < 400) this.#taken.set(kind, true);
      return answer;
    } catch (error) {
      const isBodyRefused = error instanceof RejectedError && BODY_REFUSED.has(error.status);
      if (!isBodyRefused || this.#taken.get(kind) === true) throw error;
    }
    const answer = await this.#client.write(request);
    if (answer.status < 400) this.#taken.set(kind, false);
    return answer;
  }
}
