import { clean } from '../../report/sanitize.js';
import { shortSha } from '../health.js';
import type { Message, MessageKind } from './message.js';

export const FORMATS = ['json', 'slack'] as const;

export type NotifyFormat = (typeof FORMATS)[number];

/** The body of each format, before it is made JSON. */
export const BODY_OF: Readonly<Record<NotifyFormat, (message: Message) => object>> = {
  json: jsonBody,
  slack: slackBody,
};

/** For programs. `text` is the report as the command prints it. */
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
  readonly text: string;
}

function jsonBody({ kind, source, run }: Message): JsonBody {
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
    text: run.text,
  };
}

/** A section of Slack's holds 3,000 characters, and entities count as what they are written with. */
const MOST_SLACK_TEXT = 2_800;
const MOST_SLACK_TITLE = 300;

function slackBody(message: Message): object {
  const { summary, text } = message.run;
  const title = slackText(withoutStyle(titleOf(message)), MOST_SLACK_TITLE);
  const lines = text.trimEnd().split('\n').map(clean).join('\n');
  // Three of them would end the block.
  const report = slackText(lines.replaceAll('```', "'''"), MOST_SLACK_TEXT);
  const said = slackText(withoutStyle(clean(summary)), MOST_SLACK_TITLE);
  return {
    text: title,
    blocks: [
      section(`*${title}*\n${said}`),
      ...(report === '' ? [] : [section(`\`\`\`\n${report}\n\`\`\``)]),
    ],
  };
}

/** `verbatim`: names of people, channels and URLs in it call nobody and become no links. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

const WORDS: Readonly<Record<MessageKind, string>> = {
  changed: 'changed',
  failed: 'failed',
  recovered: 'is well again',
  reminder: 'has something to be looked at again',
};

function titleOf({ kind, source, run }: Message): string {
  const commit = run.commit === null ? '' : ` at ${shortSha(clean(run.commit))}`;
  const subject = run.subject === null ? '' : ` ${clean(run.subject)}`;
  return `${clean(source.name)} ${WORDS[kind]}${commit}${subject}`;
}

/** Look-alikes for the signs by which Slack knows bold text and code. */
function withoutStyle(text: string): string {
  return text.replaceAll('*', '∗').replaceAll('`', "'");
}

/** Names no channel and links to nothing. Cut at the end of a line where there is one. */
function slackText(text: string, longest: number): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (escaped.length <= longest) return escaped;
  const cut = escaped.slice(0, longest - 1);
  const end = cut.lastIndexOf('\n');
  return `${end > 0 ? cut.slice(0, end + 1) : cut.replace(/&[a-z]*$|\p{Surrogate}$/u, '')}…`;
}
