import { FlagkeelError, messageOf } from '../../errors.js';
import { clean } from '../sanitize.js';

/** With a line feed at the end. A stack follows only for faults of this program: a `bug:`, or an error of JavaScript. */
export function errorText(error: unknown): string {
  const sentence = `flagkeel: ${clean(messageOf(error))}\n`;
  if (error instanceof FlagkeelError) {
    const items = error.items.map((item) => `  ${clean(item)}\n`).join('');
    return `${sentence}${items}  ${error.code}: more by \`flagkeel explain ${error.code}\`\n`;
  }
  const stack = isBug(error) ? (error.stack ?? '').split('\n') : [];
  const frames = stack.filter((line) => /^\s+at /.test(line));
  return sentence + frames.map((line) => `${clean(line)}\n`).join('');
}

function isBug(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof FlagkeelError) return false;
  return error.message.startsWith('bug:') || FAULTS.some((kind) => error instanceof kind);
}

const FAULTS = [TypeError, RangeError, ReferenceError];
