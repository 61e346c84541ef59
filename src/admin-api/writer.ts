import type { ChangeRequest } from '../model/change-request.js';
import type { StepRequest } from '../model/plan.js';
import { submitOnce, withdrawRequest, type Submission } from './change-requests.js';
import { sendPatch } from './definition-writes.js';
import { KIND_WRITES } from './kinds.js';
import type { AdminReader } from './reader.js';
import { KILL } from './wire.js';
import type { StepPlace, WriteAnswer, WriteCall, Writes } from './write-call.js';

const WRITES: Writes = {
  ...KIND_WRITES,
  'kill-flag': async ({ flag }, call) => {
    const killed = await sendPatch(flag, KILL, call);
    return killed ? { killed } : undefined;
  },
  'withdraw-request': async ({ request }, { client }) => {
    await withdrawRequest(client, request);
  },
};

export type AdminWriter = Pick<HttpAdminWriter, keyof HttpAdminWriter>;

/**
 * All writes to the administration service.
 *
 * The note goes into the query of every write, and also into the body if the service takes it there. A refusal is a
 * `RejectedError` with the status and message of the service; below 500 the write was not made. From 500 on, and after
 * `UNREACHABLE` and `UNREADABLE`, it is unknown whether it was made. A request is repeated only if `http/retry.ts`
 * allows it for its kind.
 */
export class HttpAdminWriter {
  readonly #service: Omit<WriteCall, 'place'>;

  constructor(client: WriteCall['client'], reader: AdminReader) {
    const bodyNotes = { accepted: new Map(), finding: new Map() };
    this.#service = { client, reader, bodyNotes, missing: new Set() };
  }

  async send(step: StepRequest, place: StepPlace): Promise<WriteAnswer> {
    type Write = (step: StepRequest, call: WriteCall) => Promise<WriteAnswer | undefined>;
    const write = WRITES[step.action] as Write;
    return (await write(step, { ...this.#service, place })) ?? {};
  }

  /** Makes a killed definition live again. Not repeated where its fate is unknown. */
  async restore(flag: string, place: StepPlace): Promise<void> {
    const alive = KILL.map((each) => ({ ...each, value: false }));
    await sendPatch(flag, alive, { ...this.#service, place });
  }

  async submitChangeRequest(submission: Submission): Promise<ChangeRequest | null> {
    const { client, reader } = this.#service;
    return submitOnce(client, reader, submission);
  }
}
