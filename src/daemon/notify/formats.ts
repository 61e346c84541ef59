import { isLoopback } from '../../platform/proxy.js';
import { FlagkeelError } from '../../errors.js';
import { limited } from '../../model/audit-note.js';
import { clean } from '../../report/sanitize.js';
import { firstOf, plural, shortSha } from '../../report/values.js';
import type { Message, MessageKind, ToldObject } from './message.js';

export const FORMATS = ['json', 'slack', 'teams', 'plain'] as const;

type NotifyFormat = (typeof FORMATS)[number];

export interface Body {
  readonly contentType: string;
  readonly text: string;
}

export const BODY_OF: Readonly<
  Record<NotifyFormat, (message: Message, template?: string) => Body>
> = {
  json: (message) => json(jsonBody(message)),
  slack: (message) => json(slackBody(message)),
  teams: (message) => json(teamsBody(message)),
  plain: (message, template = PLAIN) => ({
    contentType: 'text/plain; charset=utf-8',
    text: filled(template, message),
  }),
};

function json(value: object): Body {
  return { contentType: 'application/json', text: JSON.stringify(value) };
}

/** Receivers refuse large bodies, mostly from 1 MB on, and a report of many changes has several. */
const MOST_TEXT = 100_000;
const MOST_LISTED = 500;

/** Members of the JSON format, for programs. `text` is the report as the command prints it. */
const MEMBERS: Readonly<Record<string, (message: Message) => unknown>> = {
  formatVersion: () => 1,
  event: ({ kind }) => kind,
  source: ({ source }) => source.name,
  service: ({ source }) => source.service,
  workspace: ({ source }) => source.workspace,
  run: ({ run }) => run.id,
  result: ({ run }) => run.result,
  startedAt: ({ run }) => run.startedAt,
  durationMs: ({ run }) => run.durationMs,
  commit: ({ run }) => run.commit,
  subject: ({ run }) => run.subject,
  planHash: ({ run }) => run.plan?.planHash ?? null,
  headline: headlineOf,
  summary: summaryOf,
  objects: ({ objects }) => objects.slice(0, MOST_LISTED),
  moreObjects: ({ objects }) => Math.max(0, objects.length - MOST_LISTED),
  text: ({ run }) => limited(run.text, MOST_TEXT),
};

export function jsonBody(message: Message): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(MEMBERS).map(([name, of]) => [name, of(message)]));
}

const PLAIN = '{title}\n{summary}\n{objects}';
const PLACEHOLDER = /\{([A-Za-z]+)\}/g;

/** Fills placeholders in one pass, so that a value that looks like a placeholder stays text. */
function filled(template: string, message: Message): string {
  const values: Readonly<Record<string, unknown>> = {
    ...jsonBody(message),
    title: titleOf(message),
    objects: limited(message.objects.map(objectLine).join('\n'), MOST_TEXT),
  };
  return template
    .replace(PLACEHOLDER, (_, name: string) => {
      const value = values[name];
      return typeof value === 'string' || typeof value === 'number' ? cleanLines(`${value}`) : '';
    })
    .trimEnd();
}

export function unknownPlaceholders(template: string): string[] {
  const all = [...template.matchAll(PLACEHOLDER)];
  return all.filter(([, name = '']) => !isPlaceholder(name)).map(([whole]) => whole);
}

function isPlaceholder(name: string): boolean {
  return name === 'title' || Object.hasOwn(MEMBERS, name);
}

const WORDS: Readonly<Record<MessageKind, (count: string) => string>> = {
  changed: () => 'changed',
  failed: () => 'failed',
  recovered: () => 'runs without a failure again',
  held: (count) => `has ${count} held for a person`,
  'not-done': (count) => `has ${count} failed`,
  unknown: () => 'has objects that are unknown',
  'live-again': () => 'has objects that are known and as git orders again',
  reminder: (count) => `has ${count} to be looked at again`,
  drift: (count) => `has ${count} changed outside git`,
  'live-kill': (count) => `has ${count} killed on the service, not by git`,
  'held-ramp': (count) => `has ${count} whose ramp is held`,
  unsigned: () => 'has a newer commit that is not signed, and stays',
};

function titleOf(message: Message): string {
  const { kind, source, run, objects } = message;
  const event = `${clean(source.name)} ${WORDS[kind](plural(objects.length, 'object'))}`;
  const at = run.commit === null ? '' : ` at ${shortSha(clean(run.commit))}`;
  const subject = run.subject === null ? '' : ` ${clean(run.subject)}`;
  const headline = headlineOf(message);
  return headline === '' ? event + at + subject : `${event}: ${headline}${at}${subject}`;
}

/** The first line of the report. Empty for a message that is not about the run, or if the run had nothing to write. */
function headlineOf({ run, objects }: Message): string {
  return objects.length > 0 ? '' : clean(run.open?.headline ?? '');
}

function summaryOf({ run, summary = run.summary }: Message): string {
  return summary;
}

const MOST_OBJECTS = 20;

function detailOf({ objects, run }: Message): string {
  if (objects.length === 0) return cleanLines(run.text.trimEnd());
  const rest = (more: number): string => `and ${String(more)} more`;
  return firstOf(objects, MOST_OBJECTS, objectLine, rest).join('\n');
}

function objectLine({ id, says }: ToldObject): string {
  return clean(`${id}: ${says}`);
}

function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}

const MOST_TITLE = 300;
/** A Slack section holds 3,000 characters and counts entities in their escaped form. */
const MOST_SLACK_TEXT = 2_800;

function slackBody(message: Message): object {
  const title = slackText(withoutStyle(titleOf(message)), MOST_TITLE);
  // Three backticks would end the code block.
  const report = slackText(detailOf(message).replaceAll('```', "'''"), MOST_SLACK_TEXT);
  const said = slackText(withoutStyle(clean(summaryOf(message))), MOST_TITLE);
  return {
    text: title,
    blocks: [
      section(`*${title}*\n${said}`),
      ...(report === '' ? [] : [section(`\`\`\`\n${report}\n\`\`\``)]),
    ],
  };
}

/** `verbatim` keeps Slack from turning names into mentions and URLs into links. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

function withoutStyle(text: string): string {
  return text.replaceAll('*', '∗').replaceAll('`', "'");
}

/** Escapes mentions and links, and shortens the text, at the end of a line if possible. */
function slackText(text: string, longest: number): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (escaped.length <= longest) return escaped;
  const cut = escaped.slice(0, longest - 1);
  const end = cut.lastIndexOf('\n');
  return `${end > 0 ? cut.slice(0, end + 1) : cut.replace(/&[a-z]*$|\p{Surrogate}$/u, '')}…`;
}

/** A card of Teams may have 28 KB in all, and a character may need six bytes when escaped in JSON. */
const MOST_CARD_TEXT = 3_500;

/**
 * An adaptive card for the workflows of Microsoft Teams. Untrusted text goes into text runs, which are not read as
 * Markdown, so it can neither mention people nor become a link.
 */
function teamsBody(message: Message): object {
  const lines = limited(detailOf(message), MOST_CARD_TEXT);
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      paragraph(limited(titleOf(message), MOST_TITLE), { weight: 'Bolder', size: 'Medium' }),
      paragraph(limited(clean(summaryOf(message)), MOST_TITLE), {}),
      ...(lines === ''
        ? []
        : lines.split('\n').map((line) => paragraph(line, { fontType: 'Monospace' }))),
    ],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] };
}

function paragraph(text: string, style: Readonly<Record<string, string>>): object {
  const inlines = [{ type: 'TextRun', text, ...style }];
  return { type: 'RichTextBlock', spacing: 'Small', inlines };
}

/** The path of the URL is often a secret, so only the origin is ever shown. */
export interface NotifyTarget {
  readonly format: NotifyFormat;
  readonly url: string;
  readonly template?: string;
}

/**
 * Parses `slack=https://…`, `json=https://…` and so on, or a URL alone, whose format is JSON unless its host implies
 * another.
 *
 * @throws FlagkeelError USAGE if this is no such URL. The message does not show it, because it may hold a secret.
 */
export function parseNotifyTarget(text: string): NotifyTarget {
  const [, named, address = ''] = /^(?:([a-z]+)=)?(.*)$/s.exec(text.trim()) ?? [];
  const format = FORMATS.find((each) => each === named);
  if (named !== undefined && format === undefined) {
    throw unusable(`"${named}" is no format (known: ${FORMATS.join(', ')})`);
  }
  if (!URL.canParse(address)) throw unusable('it is not a URL');
  const url = new URL(address);
  const isPlain = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !isPlain) throw unusable('only https, and http on loopback');
  if (isPlain && !isLoopback(url.href)) throw unusable('beyond loopback https is needed');
  if (url.username !== '' || url.password !== '') throw unusable('its URL holds credentials');
  url.hash = '';
  const known = HOSTS.find(([pattern]) => pattern.test(url.hostname))?.[1];
  return { format: format ?? known ?? 'json', url: url.href };
}

const HOSTS: readonly (readonly [RegExp, NotifyFormat])[] = [
  [/^hooks\.slack\.com$/, 'slack'],
  [/\.(webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/, 'teams'],
];

function unusable(why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot use the address for notifications: ${why}`);
}
