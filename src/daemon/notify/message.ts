import type { RunRecord, RunResult, SourceView } from '../view.js';

/** What is told of a run as a whole. */
export type RunKind =
  /** The run wrote something and nothing went wrong. */
  | 'changed'
  | 'failed'
  /** The first run after a failure that went well. */
  | 'recovered'
  /** Something was to be looked at again by now. */
  | 'reminder';

/** What is told of objects, once for each time that it begins. */
export type NoticeKind =
  /** Changed outside git and not put back. */
  | 'drift'
  /** Killed on the service, and not by git. */
  | 'live-kill'
  /** No step of a ramp is taken, whatever is due. */
  | 'held-ramp';

export type MessageKind = RunKind | NoticeKind;

/** What one run is worth telling. */
export interface Message {
  readonly kind: MessageKind;
  readonly source: SourceView;
  readonly run: RunRecord;
  /** Those that a notice is about; empty where it is of the run as a whole. */
  readonly objects: readonly ToldObject[];
}

export interface ToldObject {
  readonly id: string;
  /** A clause; untrusted text. */
  readonly says: string;
}

const FAILURES: ReadonlySet<RunResult> = new Set([
  'held',
  'degraded',
  'refused',
  'invalid',
  'partial',
  'failed',
]);

/** Decides run by run what to tell: each change, each failure once however often it repeats, and its end. */
export class MessageMemory {
  /** Source → the failure that was told last and has not ended. */
  readonly #failing = new Map<string, string>();

  /** @returns undefined: nothing new. */
  messageFor(source: SourceView, run: RunRecord): Message | undefined {
    const kind = this.#kindOf(source.name, run);
    return kind && { kind, source, run, objects: [] };
  }

  #kindOf(source: string, run: RunRecord): RunKind | undefined {
    // It says nothing about how things stand.
    if (run.result === 'interrupted') return wrote(run) ? 'changed' : undefined;
    const before = this.#failing.get(source);
    if (FAILURES.has(run.result)) {
      const failure = fingerprintOf(run);
      this.#failing.set(source, failure);
      return failure !== before || wrote(run) ? 'failed' : undefined;
    }
    this.#failing.delete(source);
    if (before !== undefined) return 'recovered';
    return wrote(run) ? 'changed' : undefined;
  }
}

function wrote({ plan }: RunRecord): boolean {
  return plan?.changes.some(({ outcome }) => outcome === 'applied') ?? false;
}

/** What makes two failures the same: what failed and how, and none of the numbers, times and commits around it. */
function fingerprintOf({ result, plan, text, summary }: RunRecord): string {
  if (plan === null) {
    // Lines and columns of what is invalid are its identity; durations and counts of tries are not.
    return JSON.stringify([result, result === 'invalid' ? text : withoutNumbers(summary)]);
  }
  const failed = plan.changes
    .filter(({ outcome }) => outcome !== 'applied')
    .map(({ id, outcome, error }) => [id, outcome, error?.code, error?.status]);
  const guards = plan.guards?.map(({ guard, environment, id }) => [guard, environment, id]);
  return JSON.stringify([result, failed, guards]);
}

function withoutNumbers(text: string): string {
  return text.replace(/\b[0-9a-f]{7,64}\b|\d+/g, '#');
}
