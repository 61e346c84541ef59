import { clean } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import { shortSha } from '../health.js';
import type { Message, MessageKind, ToldObject } from './message.js';

/** The JSON format, for programs. `text` is the report as the command prints it. */
export interface JsonBody {
  readonly formatVersion: 1;
  readonly event: MessageKind;
  readonly source: string;
  readonly service: string | null;
  readonly workspace: string | null;
  readonly run: string;
  readonly result: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly commit: string | null;
  readonly subject: string | null;
  readonly planHash: string | null;
  readonly summary: string;
  readonly objects: readonly ToldObject[];
  readonly text: string;
}

export function jsonBody({ kind, source, run, objects }: Message): JsonBody {
  return {
    formatVersion: 1,
    event: kind,
    source: source.name,
    service: source.service,
    workspace: source.workspace,
    run: run.id,
    result: run.result,
    startedAt: run.startedAt,
    durationMs: run.durationMs,
    commit: run.commit,
    subject: run.subject,
    planHash: run.plan?.planHash ?? null,
    summary: run.summary,
    objects,
    text: run.text,
  };
}

const WORDS: Readonly<Record<MessageKind, (count: string) => string>> = {
  changed: () => 'changed',
  failed: () => 'failed',
  recovered: () => 'is well again',
  reminder: (count) => `has ${count} to be looked at again`,
  drift: (count) => `has ${count} changed outside git`,
  'live-kill': (count) => `has ${count} killed on the service, not by git`,
  'held-ramp': (count) => `has ${count} whose ramp is held`,
};

/** One line, cleaned. */
export function titleOf({ kind, source, run, objects }: Message): string {
  const commit = run.commit === null ? '' : ` at ${shortSha(clean(run.commit))}`;
  const subject = run.subject === null ? '' : ` ${clean(run.subject)}`;
  return `${clean(source.name)} ${WORDS[kind](plural(objects.length, 'object'))}${commit}${subject}`;
}

const MOST_OBJECTS = 20;

/** Text below title and summary: the objects of a notice, or the report. Cleaned line by line. */
export function detailOf({ run, objects }: Message): string {
  if (objects.length === 0) return run.text.trimEnd().split('\n').map(clean).join('\n');
  const lines = objects.slice(0, MOST_OBJECTS).map(({ id, says }) => clean(`${id}: ${says}`));
  const more = objects.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${String(more)} more`] : [])].join('\n');
}
