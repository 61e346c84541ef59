import { clean } from '../../report/sanitize.js';
import type { Message } from './message.js';
import { detailOf, titleOf } from './message-text.js';

/** A section of Slack's holds 3,000 characters, and entities count as what they are written with. */
const MOST_TEXT = 2_800;
const MOST_TITLE = 300;

/** In blocks, with the report as far as it fits. */
export function slackBody(message: Message): object {
  const title = slackText(withoutStyle(titleOf(message)), MOST_TITLE);
  // Three of them would end the block.
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

/** `verbatim`: names of people, channels and URLs in it call nobody and become no links. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
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
