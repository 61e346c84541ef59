import { FlagkeelError } from '../../errors.js';
import type { LoggedChange, LoggedKeys, LoggedWrite } from '../../model/outcome.js';
import { keyOfId, NAMED } from '../../model/ref.js';
import { BEGINNING } from '../../reconcile/record.js';
import type { LoggedApply } from '../../state/run-log.js';
import { clean, quoted } from '../../report/sanitize.js';
import { valueText } from '../../report/values.js';
import { moment, positive, commonOptions, serviceOptions } from '../options.js';
import type { DeclareCommand } from '../command.js';
import { withState, type StateOptions } from '../state-session.js';
import { ending, type Screen } from '../terminal.js';

const OBJECT = new RegExp(`^(${NAMED.join('|')})/([^/@]+)$`);

export const declareHistory: DeclareCommand = (command, invocation) => {
  command
    // Which of the two a single argument is, its form says; commander cannot tell.
    .usage('[options] [object] [directory]')
    .argument('[object-or-directory...]', 'KIND/NAME to see only its own; config repository');
  command
    .option('-n, --max-count <number>', 'list this many, the newest', positive)
    .option('--since <time>', 'nothing older: a day or time (ISO 8601), or 24h, 7d', moment);
  commonOptions(serviceOptions(command)).action(ending(showHistory, invocation));
};

interface HistoryOptions extends StateOptions {
  readonly maxCount?: number;
  /** Milliseconds since the epoch. */
  readonly since?: number;
}

/** @param args an object, a directory, or both in this order. */
async function showHistory(
  args: readonly string[],
  options: HistoryOptions,
  screen: Screen,
): Promise<void> {
  const { since = 0, maxCount = Infinity } = options;
  const { object, directory } = parseArguments(args);
  return withState(directory, options, screen, async (home) => {
    const applies = (await home?.history(object)) ?? [];
    const rows = withoutBeginnings(applies)
      .filter(({ timeMs }) => timeMs >= since)
      .map((apply) => historyRow(apply, object))
      .filter(({ changes }) => object === null || changes.length > 0)
      .slice(0, maxCount);
    await screen.print({ applies: rows }, () => historyText(rows, object !== null));
  });
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

function parseArguments(args: readonly string[]): { object: Named | null; directory: string } {
  const [first, second, ...rest] = args;
  if (rest.length > 0) throw new FlagkeelError('USAGE', 'cannot read history: too many arguments');
  const [, kind, name] = OBJECT.exec(first ?? '') ?? [];
  if (kind !== undefined && name !== undefined) {
    return { object: { kind, name }, directory: second ?? '.' };
  }
  if (second === undefined) return { object: null, directory: first ?? '.' };
  const what = `cannot read the history of ${quoted(first ?? '')}`;
  throw new FlagkeelError('USAGE', `${what}: expected KIND/NAME, for example flag/new-checkout`);
}

/** A run records what it is about to do, and then what became of it: the first is news only if it is all there is. */
function withoutBeginnings(applies: readonly LoggedApply[]): LoggedApply[] {
  return applies.filter(({ subject, head, changes }, index) => {
    if (!subject.startsWith(BEGINNING)) return true;
    const ids = new Set(changes.map(({ id }) => id));
    const isTold = (later: LoggedApply): boolean =>
      later.head === head &&
      later.changes.some(({ outcome, id }) => outcome !== 'planned' && ids.has(id));
    return ids.size > 0 && !applies.slice(0, index).some(isTold);
  });
}

/** Whether a change may have reached the service: a killed run recorded no outcome, and older versions no comment. */
function mayBeWritten({ outcome, written }: LoggedChange): boolean {
  return outcome === 'applied' || outcome === 'planned' || written !== undefined;
}

type ShownChange = Omit<LoggedChange, 'written'> & Partial<LoggedWrite>;

function historyRow({ timeMs, head, subject, changes, more }: LoggedApply, object: Named | null) {
  const isMeant = (change: LoggedChange): boolean =>
    object === null ||
    (keyOfId(change.id) === `${object.kind}/${object.name}` && mayBeWritten(change));
  const shown = changes
    .filter(isMeant)
    .map(({ written, ...change }): ShownChange => ({ ...change, ...written }));
  const counts: Record<string, number> = {};
  for (const { outcome } of shown) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return { time: new Date(timeMs).toISOString(), head, subject, counts, changes: shown, more };
}

const SHORT = 8;
const VALUE_COLUMNS = 60;

function historyText(rows: readonly ReturnType<typeof historyRow>[], isDetailed: boolean): string {
  if (rows.length === 0) return 'No such write is recorded here.\n';
  return rows
    .map(({ time, head, subject, changes, more }) => {
      const revision = head === null ? '' : ` ${head.slice(0, SHORT)}`;
      const lines = changes.map(
        ({ outcome, action, id, title, ...written }) =>
          `    ${clean(outcome)} ${clean(action)} ${clean(id)}${title === '' ? '' : `: ${clean(title)}`}\n` +
          (isDetailed ? writtenLines(written) : []).map((line) => `        ${line}\n`).join(''),
      );
      const rest = more > 0 ? `    and ${more} more\n` : '';
      return `${time}${revision}  ${clean(subject)}\n${lines.join('')}${rest}`;
    })
    .join('');
}

function writtenLines({ comment = '', fields = [], keys }: Partial<LoggedWrite>): string[] {
  return [
    ...fields.map(({ path, before, after, keys: targets }) => {
      // No look saw whether a flag was killed before.
      const known = path === '/killed' && before === undefined ? [after] : [before, after];
      const sides = known.map((side) => valueText(side, VALUE_COLUMNS));
      return `${clean(path)}: ${targets ? keyNumbers(targets) : sides.join(' → ')}`;
    }),
    ...(keys ? [keyNumbers(keys)] : []),
    ...comment
      .split('\n')
      .filter((line) => line !== '')
      .map(clean),
  ];
}

function keyNumbers({ added, removed, changed }: LoggedKeys): string {
  const others = changed === undefined ? '' : `, ${String(changed)} changed`;
  return `+${String(added)} −${String(removed)} keys${others}`;
}
