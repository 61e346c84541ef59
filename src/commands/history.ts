import { FlaghoistError, type ExitCode } from '../errors.js';
import type { LoggedApply } from '../git/state-log.js';
import { quoted } from '../report/clean.js';
import { historyText, type HistoryRow } from '../report/state-text.js';
import { withState } from './open-state.js';
import type { StateFlags, Terminal } from './options.js';

const OBJECT = /^(flag|segment)\/([^/@]+)$/;

/**
 * What was applied, newest first.
 *
 * @param words an object, a directory, or both in this order.
 */
export async function runHistory(
  words: readonly string[],
  flags: StateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const { object, directory } = parseWords(words);
  return withState(directory, flags, terminal, async (opened) => {
    const applies = (await opened?.home.history(object)) ?? [];
    const rows = withoutBeginnings(applies).map((apply) => historyRow(apply, object));
    const json = `${JSON.stringify({ formatVersion: 1, applies: rows }, null, 2)}\n`;
    return flags.format === 'json' ? json : historyText(rows);
  });
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

function parseWords(words: readonly string[]): { object: Named | null; directory: string } {
  const [first, second, ...rest] = words;
  if (rest.length > 0) throw new FlaghoistError('USAGE', 'cannot read history: too many arguments');
  const [, kind, name] = OBJECT.exec(first ?? '') ?? [];
  if (kind !== undefined && name !== undefined) {
    return { object: { kind, name }, directory: second ?? '.' };
  }
  if (second === undefined) return { object: null, directory: first ?? '.' };
  throw new FlaghoistError(
    'USAGE',
    `cannot read the history of ${quoted(first ?? '')}: expected KIND/NAME, for example flag/new-checkout`,
  );
}

/** A run writes down what it is about to do, and then what became of it: the first is news only where it is all there is. */
function withoutBeginnings(applies: readonly LoggedApply[]): LoggedApply[] {
  return applies.filter((apply, index) => {
    const isBeginning = apply.changes.some(({ outcome }) => outcome === 'planned');
    return !isBeginning || applies[index - 1]?.head !== apply.head;
  });
}

function historyRow(
  { timeMs, head, subject, changes, more }: LoggedApply,
  object: Named | null,
): HistoryRow {
  const key = object && `${object.kind}/${object.name}`;
  const shown = changes.filter(({ id }) => key === null || id === key || id.startsWith(`${key}@`));
  const counts: Record<string, number> = {};
  for (const { outcome } of shown) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return { time: new Date(timeMs).toISOString(), head, subject, counts, changes: shown, more };
}
