import { once } from 'node:events';
import { appendFileSync, constants, openSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { FlagkeelError, messageOf, type ExitCode } from '../errors.js';
import type { ChangeNote, KillResult, StepEnd } from '../model/outcome.js';
import type { Step } from '../model/plan.js';
import type { ProgressView } from '../model/run.js';
import { planDocument } from '../report/json/plan.js';
import type { PlanReport } from '../report/plan-report.js';
import { quoted } from '../report/sanitize.js';
import { packageVersion } from '../platform/package-files.js';

export interface EventSink extends AsyncDisposable {
  write(line: string): void;
}

interface EventSinkOptions {
  readonly stdout: Writable;
  readonly note: (text: string) => void;
  /** How long a reader may take to open the pipe, and to take the rest at the end. Default: 5 s. */
  readonly readerWithinMs?: number;
}

/**
 * Opens the file of events, if there is to be one; `-` is standard output. A line of a regular file is in it when
 * `write` returns, so that a run killed with SIGKILL has an event for each write that it sent. A reader that goes away,
 * or a full disk, ends the events and not the run. @throws FlagkeelError `OUTPUT`
 */
export async function openEventSink(
  target: string | undefined,
  { stdout, note, readerWithinMs = READER_WITHIN_MS }: EventSinkOptions,
): Promise<EventSink | undefined> {
  if (target === undefined) return undefined;
  let isRead = true;
  const stop = (error: unknown): void => {
    if (isRead) note(`warning: events are not told any more: ${messageOf(error)}`);
    isRead = false;
  };
  const { write, close } =
    target === '-'
      ? { write: writeTo(stdout, stop), close: async () => Promise.resolve() }
      : await fileSink(target, stop, readerWithinMs);
  return {
    write: (line) => {
      if (isRead) write(line);
    },
    [Symbol.asyncDispose]: close,
  };
}

interface Destination {
  readonly write: (line: string) => void;
  readonly close: () => Promise<void>;
}

/** Events of many thousand writes, which a reader that is only slow may leave for a while. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

const READER_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;

function writeTo(stream: Writable, failed: (error: unknown) => void): Destination['write'] {
  stream.on('error', failed);
  return (line) => {
    stream.write(line);
    if (stream.writableLength > MOST_WAITING_BYTES) failed(new Error('their reader is too slow'));
  };
}

/** Writes in the background: a reader that is slow, or reads nothing, must not hold up the run. */
function backgroundSink(
  stream: Writable,
  failed: (error: unknown) => void,
  readerWithinMs: number,
): Destination {
  const closed = once(stream, 'close').catch(() => undefined);
  return {
    write: writeTo(stream, failed),
    close: async () => {
      stream.end();
      const timer = setTimeout(() => {
        stream.destroy(new Error('their reader did not take the rest'));
      }, readerWithinMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function fileSink(
  path: string,
  failed: (error: unknown) => void,
  readerWithinMs: number,
): Promise<Destination> {
  if ((await stat(path).catch(() => null))?.isFIFO() === true) {
    const fd = await openedPipe(path, readerWithinMs);
    const pipe = new Socket({ fd, readable: false, writable: true });
    return backgroundSink(pipe, failed, readerWithinMs);
  }
  const file = await open(path, 'w').catch((error: unknown) => {
    throw unwritable(path, messageOf(error), error);
  });
  if ((await file.stat()).isFile()) {
    return {
      write: (line) => {
        try {
          appendFileSync(file.fd, line);
        } catch (error) {
          failed(error);
        }
      },
      close: async () => file.close(),
    };
  }
  return backgroundSink(file.createWriteStream(), failed, readerWithinMs);
}

/** Waits a while for a reader: opening a pipe that none reads would wait for ever, and could not be interrupted. */
async function openedPipe(path: string, readerWithinMs: number): Promise<number> {
  const until = performance.now() + readerWithinMs;
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      const isUnread = error instanceof Error && 'code' in error && error.code === 'ENXIO';
      if (!isUnread) throw unwritable(path, messageOf(error), error);
      if (performance.now() > until) {
        throw unwritable(path, 'no program reads this pipe (start its reader first)', error);
      }
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function unwritable(path: string, why: string, cause: unknown): FlagkeelError {
  return new FlagkeelError('OUTPUT', `cannot write events to ${quoted(path)}: ${why}`, { cause });
}

/** Writes a line of JSON for each event of the run over one directory, as `schemas/event.schema.json` describes it. */
export class RunEvents {
  readonly #sink: EventSink;
  readonly #directory: string;

  constructor(sink: EventSink, directory: string) {
    this.#sink = sink;
    this.#directory = directory;
  }

  started(run: { readonly dryRun: boolean }): void {
    this.#tell('started', { version: packageVersion(), dryRun: run.dryRun });
  }

  planned(report: PlanReport): void {
    const { planHash, heldHash, origin, workspace, revision, stateless, summary, guards } =
      planDocument(report, { showKeys: false });
    const names = guards?.map(({ guard }) => guard);
    const head = { planHash, origin, workspace, revision, stateless, summary };
    this.#tell('planned', { ...head, heldHash, guards: names });
  }

  killed(id: string, result: KillResult): void {
    const write = { id, step: 'kill-flag' };
    if (result.status === 'absent') {
      this.#tell('skipped', { ...write, why: 'the flag has no definition there' });
      return;
    }
    if (result.note) this.#tell('sent', { ...write, ...result.note });
    if (result.status === 'killed') {
      this.#tell('answered', write);
      return;
    }
    const code = result.error instanceof FlagkeelError ? result.error.code : 'BUG';
    this.#tell('failed', { ...write, error: { code, message: messageOf(result.error) } });
  }

  sent({ change, action }: Step, note: ChangeNote | undefined): void {
    this.#tell('sent', { id: change, step: action, ...note });
  }

  ended({ change, action }: Step, end: StepEnd): void {
    const write = { id: change, step: action };
    if (end.status === 'failed') this.#tell('failed', { ...write, error: end.error });
    else if (end.status === 'skipped') this.#tell('skipped', { ...write, why: end.why });
    else {
      const { written, failed } = end.identities ?? {};
      const identities = written && { written: written.length, failed: failed?.length };
      this.#tell('answered', { ...write, identities });
    }
  }

  /** How far long work has come: after five seconds, and then once a minute. */
  readonly progress = (view: ProgressView): void => {
    this.#tell('progress', view);
  };

  /** What a second look found; of an apply alone. */
  verified(report: PlanReport): void {
    const { converged, changes, left = [] } = planDocument(report, { showKeys: false });
    if (converged === undefined) return;
    const outcomes = { applied: 0, failed: 0, skipped: 0 };
    for (const { outcome } of changes) if (outcome) outcomes[outcome] += 1;
    this.#tell('verified', { converged, outcomes, left: left.map(({ id }) => id) });
  }

  over(exitCode: ExitCode, error?: { readonly code: string; readonly message: string }): void {
    this.#tell('ended', { exitCode, ...(error && { error }) });
  }

  #tell(event: string, members: object): void {
    const head = { formatVersion: 1, event, time: new Date().toISOString() };
    this.#sink.write(`${JSON.stringify({ ...head, directory: this.#directory, ...members })}\n`);
  }
}
