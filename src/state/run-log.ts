import { FlagkeelError } from '../errors.js';
import { cleanLine, cleanText } from '../model/audit-note.js';
import { present } from '../model/collections.js';
import { isDeeperThan, isRecord } from '../model/json.js';
import type { LoggedChange, LoggedField, LoggedKeys, LoggedWrite } from '../model/outcome.js';
import { type Git, runGit } from '../git/git.js';

export interface LoggedApply {
  /** Milliseconds since the epoch, by the clock of the machine that wrote it. */
  readonly timeMs: number;
  /** HEAD that was applied; null if the commit does not name it. */
  readonly head: string | null;
  readonly subject: string;
  readonly changes: readonly LoggedChange[];
  readonly more: number;
  /** A signal ended the run, so that most skipped changes were never sent. */
  readonly isInterrupted: boolean;
}

/** Listed changes; further ones are only counted. The plan of ten times the largest workspace fits. */
const MAX_LISTED = 100_000;
/** Commits that one call goes back by default. */
const MAX_COMMITS = 1_000;
const MAX_DEPTH = 64;
/** Version of the lines below. A message names it from the second on, as `FORMAT 2` on a line of its own. */
const FORMAT_VERSION = 1;
const FORMAT_LINE = /^FORMAT (\d{1,9})$/;
const INTERRUPTED_LINE = 'INTERRUPTED';
const HEAD_LINE = /^HEAD ([0-9a-f]{40,64})$/;
const MORE_LINE = /^and (\d{1,9}) more$/;

export function applyMessage(
  subject: string,
  head: string | null,
  changes: readonly LoggedChange[],
  { isInterrupted = false }: Partial<Pick<LoggedApply, 'isInterrupted'>> = {},
): string {
  const lines = changes.slice(0, MAX_LISTED).map(({ outcome, action, id, title, written }) => {
    const words = [outcome, action, id, title].map((each) => cleanLine(each));
    // JSON holds neither tabs nor line feeds, so that both can separate.
    return [...words, ...(written ? [JSON.stringify(written)] : [])].join('\t');
  });
  const more = changes.length - lines.length;
  return [
    subject,
    '',
    ...(head === null ? [] : [`HEAD ${head}`]),
    ...(isInterrupted ? [INTERRUPTED_LINE] : []),
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
    .join('\n')
    .trimEnd();
}

/**
 * The applies that a state ref records, newest first.
 *
 * @param object limits the answer to commits that name it.
 * @param most commits to go back.
 * @throws FlagkeelError `GIT` there is no such ref; `STATE_UNREADABLE` a newer version wrote one of them.
 */
export async function readApplies(
  git: Git,
  ref: string,
  object: { readonly kind: string; readonly name: string } | null,
  most = MAX_COMMITS,
): Promise<LoggedApply[]> {
  const named = object && cleanLine(`${object.kind}/${object.name}`);
  const form = ['-z', '--format=tformat:%H%n%ct%n%B', '--no-color', '--no-show-signature'];
  const filter = named === null ? [] : ['--fixed-strings', `--grep=${named}`];
  const output = await runGit(git, {
    args: ['log', ...form, `--max-count=${most}`, ...filter, '--end-of-options', ref, '--'],
    purpose: `read the history of ${ref}`,
  });
  return output
    .split('\0')
    .filter((each) => each !== '')
    .map(parseApply);
}

function parseApply(text: string): LoggedApply {
  const [commit = '', time = '', subject = '', ...lines] = text.split('\n');
  const found = (pattern: RegExp): string | undefined =>
    lines.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined);
  const format = Number(found(FORMAT_LINE) ?? FORMAT_VERSION);
  if (format > FORMAT_VERSION) {
    const message = `cannot read the log of the state: ${commit.slice(0, 8)} has format ${format}, and this version reads up to ${FORMAT_VERSION} (a newer flagkeel wrote it: use that one)`;
    throw new FlagkeelError('STATE_UNREADABLE', message);
  }
  return {
    timeMs: Number(time) * 1_000,
    head: found(HEAD_LINE) ?? null,
    subject,
    changes: parseChanges(lines),
    more: Number(found(MORE_LINE) ?? 0),
    isInterrupted: lines.includes(INTERRUPTED_LINE),
  };
}

export function parseChanges(lines: readonly string[]): LoggedChange[] {
  return lines.flatMap((line): LoggedChange[] => {
    const [outcome = '', action, id, title, json] = line.split('\t');
    if (action === undefined || id === undefined || title === undefined) return [];
    const written = json === undefined ? undefined : parseWrite(json);
    return [{ outcome, action, id, title, ...(written && { written }) }];
  });
}

/** undefined if the text has another form: anyone who can push may have written it. */
function parseWrite(json: string): LoggedWrite | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || isDeeperThan(value, MAX_DEPTH)) return undefined;
  const { comment, fields, keys } = value;
  if (typeof comment !== 'string' || !Array.isArray(fields)) return undefined;
  return {
    comment: cleanText(comment),
    fields: fields.flatMap((field: unknown): LoggedField[] => {
      if (!isRecord(field) || typeof field['path'] !== 'string') return [];
      const { path, before, after } = field;
      return [{ path, ...present({ before, after, keys: parseKeys(field['keys']) }) }];
    }),
    ...present({ keys: parseKeys(keys) }),
  };
}

function parseKeys(value: unknown): LoggedKeys | undefined {
  if (!isRecord(value)) return undefined;
  const { added, removed, changed } = value;
  if (typeof added !== 'number' || typeof removed !== 'number') return undefined;
  return { added, removed, ...(typeof changed === 'number' && { changed }) };
}
