import type { Diagnostic } from '../../model/diagnostic.js';
import { clean } from '../clean.js';
import { diagnosticsText } from '../diagnostics-text.js';
import { cut } from '../text-width.js';
import { plural } from '../value-words.js';
import { assembled, type Block } from './blocks.js';
import { ours } from './markup.js';
import { COMMENT_BUDGET } from './plan-markdown.js';
import { fencedChunks } from './rows.js';

const MESSAGE_COLUMNS = 1_000;

/** What stands in the place of a plan where there is none: why, and what is wrong with the specs. */
export function failureMarkdown(message: string, diagnostics: readonly Diagnostic[] = []): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const title =
    errors > 0
      ? ours`### ⛔ The specs are invalid: ${plural(errors, 'error')}`
      : ours`### ⛔ No plan`;
  const rows = diagnostics.map((each) => [...problemRows(each), '']);
  return assembled(
    [
      { rank: 'head', what: 'verdict', markup: () => title },
      {
        rank: 'head',
        what: 'message',
        markup: () => ours`Why: ${cut(clean(message), MESSAGE_COLUMNS)}`,
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

/** Begins with a mark of our own, as every row of a fence does that others could begin. */
function problemRows(diagnostic: Diagnostic): string[] {
  const text = diagnosticsText([diagnostic], { color: false });
  // The last two rows count what there is.
  const [head = '', ...excerpt] = text.trimEnd().split('\n').slice(0, -2);
  return [`${diagnostic.severity === 'error' ? '-' : '!'} ${head}`, ...excerpt];
}
