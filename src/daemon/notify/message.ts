import type { RunRecord, RunResult, SourceView } from '../view.js';

/** Reasons for a message about a run as a whole. */
export type RunKind =
  /** The run wrote something and nothing went wrong. */
  | 'changed'
  | 'failed'
  /** The first successful run after a failure. */
  | 'recovered'
  /** Something in the specs is due for another look. */
  | 'reminder';

/** Reasons for a message about objects, sent once each time that one begins. */
export type NoticeKind =
  /** Changed outside git and not put back. */
  | 'drift'
  /** Killed on the service, and not by git. */
  | 'live-kill'
  /** A ramp takes no step, even if one is due. */
  | 'held-ramp';

export type MessageKind = RunKind | NoticeKind;

/** A message about one run. */
export interface Message {
  readonly kind: MessageKind;
  readonly source: SourceView;
  readonly run: RunRecord;
  /** Objects of a notice; empty for a message about the whole run. */
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

/** Decides after each run what to report: each change, a failure once however often it repeats, and its end. */
export class MessageMemory {
  /** Source → the last reported failure that has not ended. */
  readonly #failing = new Map<string, string>();

  /** @returns undefined if there is nothing new. */
  messageFor(source: SourceView, run: RunRecord): Message | undefined {
    const kind = this.#kindOf(source.name, run);
    return kind && { kind, source, run, objects: [] };
  }

  #kindOf(source: string, run: RunRecord): RunKind | undefined {
    // An interrupted run neither confirms nor ends a failure.
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

/** Identifies a failure by cause and kind, without the numbers, times and commits around it. */
function fingerprintOf({ result, plan, text, summary }: RunRecord): string {
  if (plan === null) {
    // Lines and columns identify invalid specs; durations and retry counts vary between equal failures.
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
