import type { Diagnostic } from '../../model/diagnostic.js';
import { clean } from '../sanitize.js';
import { diagnosticsText } from '../text/diagnostics.js';
import { cut } from '../text/layout.js';
import { plural } from '../values.js';
import { assembled, type Block } from './blocks.js';
import { trusted } from './markup.js';
import { COMMENT_BUDGET } from './plan.js';
import { fencedChunks } from './rows.js';

const MESSAGE_COLUMNS = 1_000;

/**
 * The report if no plan could be made: the reason, and the faults in the specs. It fits into the budget of a comment.
 *
 * @param diagnostics empty if the specs are not the reason.
 */
export function failureMarkdown(message: string, diagnostics: readonly Diagnostic[] = []): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const title =
    errors > 0
      ? trusted`### ⛔ The specs are invalid: ${plural(errors, 'error')}`
      : trusted`### ⛔ No plan`;
  const rows = diagnostics.map((each) => [...problemRows(each), '']);
  return assembled(
    [
      { rank: 'head', what: 'verdict', markup: () => title },
      {
        rank: 'head',
        what: 'message',
        markup: () => trusted`Why: ${cut(clean(message), MESSAGE_COLUMNS)}`,
      },
      ...fencedChunks(rows).map((markup): Block => ({
        rank: 'detail',
        what: 'list of problems',
        markup: () => markup,
      })),
    ],
    COMMENT_BUDGET,
  );
}

/**
 * A diagnostic as rows of a fence. The first row begins with our own mark, because text of others at the beginning of a
 * row could imitate a marked one.
 */
function problemRows(diagnostic: Diagnostic): string[] {
  const text = diagnosticsText([diagnostic], { color: false });
  // The last two rows are totals.
  const [head = '', ...excerpt] = text.trimEnd().split('\n').slice(0, -2);
  return [`${diagnostic.severity === 'error' ? '-' : '!'} ${head}`, ...excerpt];
}
