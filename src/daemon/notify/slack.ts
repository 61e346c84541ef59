import { clean } from '../../report/sanitize.js';
import type { Message } from './message.js';
import { detailOf, titleOf } from './message-text.js';

/** A Slack section holds 3,000 characters and counts entities in their escaped form. */
const MOST_TEXT = 2_800;
const MOST_TITLE = 300;

/** A message in blocks, with as much of the report as fits. */
export function slackBody(message: Message): object {
  const title = slackText(withoutStyle(titleOf(message)), MOST_TITLE);
  // Three backticks would end the code block.
  const report = slackText(detailOf(message).replaceAll('```', "'''"), MOST_TEXT);
  const said = slackText(withoutStyle(clean(message.run.summary)), MOST_TITLE);
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

/** Replaces the signs of bold text and code with look-alikes. */
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
