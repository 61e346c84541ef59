import { clean } from '../../report/sanitize.js';
import { jsonBody, titleOf } from './message-text.js';
import { slackBody } from './slack.js';
import { teamsBody } from './teams.js';
import type { Message } from './message.js';

export const FORMATS = ['json', 'slack', 'teams', 'plain'] as const;

export type NotifyFormat = (typeof FORMATS)[number];

/** A request body with its content type. */
export interface Body {
  readonly contentType: string;
  readonly text: string;
}

/** The body in each format. Only `plain` uses templates. */
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

const PLAIN = '{title}\n{summary}\n{objects}';
const PLACEHOLDER = /\{([A-Za-z]+)\}/g;

/** Values for templates: object lines and the members of the JSON format. Missing values are empty. */
function valuesOf(message: Message): ReadonlyMap<string, string> {
  const { objects, ...members } = jsonBody(message);
  return new Map([
    ['title', titleOf(message)],
    ['objects', objects.map(({ id, says }) => clean(`${id}: ${says}`)).join('\n')],
    ...Object.entries(members).map(
      ([name, value]) =>
        [
          name,
          String(value ?? '')
            .split('\n')
            .map(clean)
            .join('\n'),
        ] as const,
    ),
  ]);
}

/** Fills placeholders in one pass, so that a value that looks like a placeholder stays text. */
function filled(template: string, message: Message): string {
  const values = valuesOf(message);
  return template
    .replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole)
    .trimEnd();
}

/** Placeholders of a template that no message fills. Known names are the members of the JSON format, and `title`. */
export function unknownPlaceholders(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].flatMap(([whole, name = '']) =>
    PLACEHOLDERS.includes(name) ? [] : [whole],
  );
}

const PLACEHOLDERS: readonly string[] = [
  ...['title', 'formatVersion', 'event', 'source', 'service', 'workspace', 'run', 'result'],
  ...['startedAt', 'durationMs', 'commit', 'subject', 'planHash', 'summary', 'text', 'objects'],
];
