import { FlagkeelError, messageOf } from '../../errors.js';
import { clean } from '../sanitize.js';

/**
 * One sentence for the person whose run failed: `flagkeel: <message>`, a line feed at the end. A second line names the
 * code of an error of the run, and how to learn more of it.
 *
 * A stack follows only where the fault is this program's own: a `bug:` error, or one that the language threw.
 */
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

/** The frames alone: the message stands above them already. */
function stackOf(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `${clean(line)}\n`)
    .join('');
}
