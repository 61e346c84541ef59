import { withoutApiKeys } from '../model/audit-note.js';

/**
 * Cleans untrusted text for people: names, titles, keys, descriptions, the service's messages.
 *
 * All printed text that this program did not write itself goes through `clean` first.
 */

const SPACE = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]|\p{Zs}/gu;

/**
 * Control, format (bidi overrides among them) and other characters that a terminal acts on or does not show. Joiners
 * and variation selectors within an emoji are kept.
 */
const KEPT_JOINER =
  '(?<=\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})';
const KEPT_SELECTOR = '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]';
const UNSEEN = new RegExp(
  `${KEPT_JOINER}|${KEPT_SELECTOR}|(\\p{Cc}|\\p{Cf}|\\p{Cs}|\\p{Default_Ignorable_Code_Point})`,
  'gu',
);

const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * One line of text that shows all its characters: white space becomes a space, and invisible characters are spelled out
 * (`<U+202E>`), so that different texts look different. Admin API keys are hidden. Cleaning twice changes nothing more.
 */
export function clean(text: string): string {
  const safe = withoutApiKeys(text);
  // Most text takes this path; the test needs a tenth of the time of the full cleaning.
  if (PRINTABLE_ASCII.test(safe) && !safe.includes(WORKFLOW_COMMAND)) return safe;
  return safe
    .replace(SPACE, ' ')
    .replace(UNSEEN, (whole, unseen?: string) => (unseen === undefined ? whole : spelled(unseen)))
    .replaceAll(WORKFLOW_COMMAND, `#${spelled('#')}[`);
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** GitHub's runner executes the text after this, anywhere in a line of a job's output. */
const WORKFLOW_COMMAND = '##[';

const PLAIN_WORD = /^[\p{L}\p{M}\p{N}_.@:+/%*#&=-]+$/u;

/** Cleaned text, in double quotes if its end would be unclear: empty text, and text with spaces, commas or brackets. */
export function quoted(text: string): string {
  const cleaned = clean(text);
  return PLAIN_WORD.test(cleaned) ? cleaned : JSON.stringify(cleaned);
}
