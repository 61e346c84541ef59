import { clean } from '../../report/sanitize.js';
import type { Message } from './message.js';
import { detailOf, titleOf } from './message-text.js';

/** A card may have 28 KB in all, and a character may need six bytes when escaped in JSON. */
const MOST_TEXT = 3_500;
const MOST_TITLE = 300;

/**
 * An adaptive card for the workflows of Microsoft Teams. Untrusted text goes into text runs, which are not read as
 * Markdown, so it can neither mention people nor become a link.
 */
export function teamsBody(message: Message): object {
  const lines = cut(detailOf(message), MOST_TEXT);
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      paragraph(cut(titleOf(message), MOST_TITLE), { weight: 'Bolder', size: 'Medium' }),
      paragraph(cut(clean(message.run.summary), MOST_TITLE), {}),
      ...(lines === ''
        ? []
        : lines.split('\n').map((line) => paragraph(line, { fontType: 'Monospace' }))),
    ],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] };
}

function paragraph(text: string, style: Readonly<Record<string, string>>): object {
  return {
    type: 'RichTextBlock',
    spacing: 'Small',
    inlines: [{ type: 'TextRun', text, ...style }],
  };
}

function cut(text: string, longest: number): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, longest - 1).replace(/\p{Surrogate}$/u, '')}…`;
}
