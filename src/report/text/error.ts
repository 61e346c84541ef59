import { FlagkeelError, messageOf } from '../../errors.js';
import { clean } from '../sanitize.js';

/** With a line feed at the end. A stack follows only for faults of this program: a `bug:`, or an error of JavaScript. */
export function errorText(error: unknown): string {
  const sentence = `flagkeel: ${clean(messageOf(error))}\n`;
  if (error instanceof FlagkeelError) {
    return `${sentence}  ${error.code}: more by \`flagkeel explain ${error.code}\`\n`;
  }
  return isBug(error) ? `${sentence}${stackOf(error)}` : sentence;
}

function isBug(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof FlagkeelError) return false;
  return (
    error.message.startsWith('bug:') ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError
  );
}

function stackOf(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `${clean(line)}\n`)
    .join('');
}
