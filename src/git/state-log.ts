import { cleanLine } from './words.js';
import type { Git } from './git.js';
import { encodeName } from './state-file.js';

/** One commit of a state ref, as `history` tells it. */
export interface LoggedApply {
  /** Commit of the state ref. */
  readonly commit: string;
  /** Milliseconds since the epoch, by the clock of the machine that wrote it. */
  readonly timeMs: number;
  /** HEAD that was applied; null where the commit does not say. */
  readonly head: string | null;
  readonly subject: string;
  readonly changes: readonly LoggedChange[];
  /** Changes beyond those that the commit lists. */
  readonly more: number;
}

export interface LoggedChange {
  /** Of the change: `applied`, `failed`, `skipped`; `planned` before the first request. */
  readonly outcome: string;
  readonly action: string;
  readonly id: string;
  readonly title: string;
}

/** More changes than these are counted only. */
const MAX_LISTED = 1_000;
/** Commits that one look goes back. */
const MAX_COMMITS = 1_000;
const HEAD_LINE = /^HEAD ([0-9a-f]{40,64})$/;
const MORE_LINE = /^and (\d{1,9}) more$/;

/** Message of a commit of the state ref: a subject, the HEAD that was applied, and a line for each change. */
export function applyMessage(
  subject: string,
  head: string | null,
  changes: readonly LoggedChange[],
): string {
  const lines = changes
    .slice(0, MAX_LISTED)
    .map(({ outcome, action, id, title }) =>
      [outcome, action, id, title].map((each) => cleanLine(each)).join('\t'),
    );
  const more = changes.length - lines.length;
  return [
    subject,
    '',
    ...(head === null ? [] : [`HEAD ${head}`]),
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
    .join('\n')
    .trimEnd();
}

/**
 * What was written to a state ref, newest first.
 *
 * @param object only the commits that wrote what is remembered of it.
 * @throws FlaghoistError `GIT` there is no such ref.
 */
export async function readApplies(
  git: Git,
  ref: string,
  object: { readonly kind: string; readonly name: string } | null,
): Promise<LoggedApply[]> {
  const paths = object === null ? [] : [`objects/${object.kind}/${encodeName(object.name)}.json`];
  const output = await git.run(
    [
      '--literal-pathspecs',
      'log',
      '-z',
      '--format=tformat:%H%n%ct%n%B',
      '--no-color',
      '--no-show-signature',
      `--max-count=${MAX_COMMITS}`,
      '--end-of-options',
      ref,
      '--',
      ...paths,
    ],
    `read the history of ${ref}`,
  );
  return output
    .split('\0')
    .filter((each) => each !== '')
    .map(parseApply);
}

function parseApply(text: string): LoggedApply {
  const [commit = '', time = '', subject = '', ...lines] = text.split('\n');
  const changes = lines.flatMap((line): LoggedChange[] => {
    const [outcome = '', action, id, title] = line.split('\t');
    if (action === undefined || id === undefined || title === undefined) return [];
    return [{ outcome, action, id, title }];
  });
  const found = (pattern: RegExp): string | undefined =>
    lines.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined);
  return {
    commit,
    timeMs: Number(time) * 1_000,
    head: found(HEAD_LINE) ?? null,
    subject,
    changes,
    more: Number(found(MORE_LINE) ?? 0),
  };
}
