import { paused, realTime, type Time } from '../../platform/clock.js';
import type { Log } from '../../platform/log.js';
import type { Metrics, NotificationResult } from '../metrics/metrics.js';
import type { DaemonView } from '../view.js';
import { MessageMemory, type Message } from './message.js';
import { askedWaitMs, backoffMs } from '../../admin-api/http/retry.js';
import { messageOf } from '../../errors.js';
import { HttpClient } from '../../platform/http-client.js';
import { BODY_OF, type Body, type NotifyTarget } from './formats.js';

interface NotificationOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly time?: Time | undefined;
}

/** Sends the messages about each run to each target. Errors here never reach a run. */
export function startNotifications(
  view: DaemonView,
  targets: readonly NotifyTarget[],
  options: NotificationOptions,
): { readonly close: () => Promise<void> } {
  const memory = new MessageMemory();
  const deliveries = targets.map((target) => new Delivery(target, view.version, options));
  const send = (messages: readonly Message[]): void => {
    for (const delivery of deliveries) for (const each of messages) delivery.add(each);
  };
  view.events.on('end', (source, run) => {
    send(memory.messagesFor(source, run));
  });
  // A confirmation changes what is known without a run.
  view.events.on('change', () => {
    send(view.sources().flatMap((source) => memory.messagesAbout(source)));
  });
  return {
    close: async () => {
      await Promise.all(deliveries.map(async (delivery) => delivery.close()));
    },
  };
}

const MOST_WAITING = 50;
const MOST_TRIES = 5;
const TRY_MS = 10_000;
const LONGEST_WAIT_MS = 60_000;
/** A container has ten seconds to end. */
const GRACE_MS = 2_000;
const KiB = 1024;

/** Sends messages to one target in the background, in the order of events. */
class Delivery {
  readonly #target: NotifyTarget;
  readonly #version: string;
  readonly #options: NotificationOptions;
  readonly #time: Time;
  readonly #client: HttpClient;
  readonly #end = new AbortController();
  readonly #waiting: Message[] = [];
  #sending: Promise<void> | undefined;

  constructor(target: NotifyTarget, version: string, options: NotificationOptions) {
    this.#target = target;
    this.#version = version;
    this.#options = options;
    this.#time = options.time ?? realTime;
    this.#client = new HttpClient({
      url: target.url,
      connections: 1,
      connectTimeoutMs: 5_000,
      headersTimeoutMs: TRY_MS,
      bodyTimeoutMs: TRY_MS,
      maxAnswerBytes: 64 * KiB,
    });
  }

  /** If too many wait, drops the oldest, because the newest describes the current state. */
  add(message: Message): void {
    if (this.#end.signal.aborted) return;
    this.#waiting.push(message);
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#report('dropped', { why: 'too many are waiting' });
    }
    this.#sending ??= this.#sendAll();
  }

  /** Waits briefly for the message being sent, and drops the rest. */
  async close(): Promise<void> {
    await Promise.race([this.#sending, paused(GRACE_MS, realTime, this.#end.signal)]);
    this.#end.abort();
    await this.#sending;
    await this.#client.close();
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const why = await this.#send(BODY_OF[this.#target.format](next, this.#target.template));
      if (why === null) this.#report('sent', {});
      else this.#report('failed', { why, run: next.run.id });
    }
    this.#sending = undefined;
  }

  /** @returns the reason of a final failure. */
  async #send(body: Body): Promise<string | null> {
    for (let tries = 1; ; tries += 1) {
      const { why, isFinal, waitMs } = await this.#try(body);
      if (why === null || isFinal || tries >= MOST_TRIES) return why;
      const pauseMs = Math.min(LONGEST_WAIT_MS, waitMs ?? backoffMs(tries, this.#time.random()));
      if (!(await paused(pauseMs, this.#time, this.#end.signal))) return why;
    }
  }

  async #try({ contentType, text }: Body): Promise<Attempt> {
    const { pathname, search } = new URL(this.#target.url);
    try {
      const { status, headers } = await this.#client.send({
        method: 'POST',
        path: pathname + search,
        headers: { 'content-type': contentType, 'user-agent': `flagkeel/${this.#version}` },
        body: text,
        signal: AbortSignal.any([AbortSignal.timeout(TRY_MS), this.#end.signal]),
      });
      if (status >= 200 && status < 300) return { why: null, isFinal: true };
      const isPassing = status === 408 || status === 429 || status >= 500;
      const waitMs = askedWaitMs(headers, this.#time.now());
      return { why: `it answered ${String(status)}`, isFinal: !isPassing, waitMs };
    } catch (error) {
      return { why: messageOf(error), isFinal: this.#end.signal.aborted };
    }
  }

  #report(result: NotificationResult, facts: Readonly<Record<string, string>>): void {
    const { log, metrics } = this.#options;
    metrics.noteNotification(this.#target.format, result);
    const fields = { to: this.#client.origin, result, ...facts };
    if (result === 'sent') log.debug(fields, 'notification');
    else log.warn(fields, 'notification');
  }
}

interface Attempt {
  readonly why: string | null;
  readonly isFinal: boolean;
  readonly waitMs?: number | undefined;
}
