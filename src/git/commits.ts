import { withoutApiKeys } from '../model/audit-note.js';
import { type Git, runGit } from './git.js';

/** Texts of a commit, from the object as git stores it, without Admin API keys. Untrusted, not yet cleaned. */
export interface CommitText {
  readonly id: string;
  /** Name only, so that no mail address reaches the service. */
  readonly author: string;
  readonly subject: string;
  /** Text after the subject, without our own trailers. */
  readonly body: string;
  readonly flagTitle?: string;
  readonly flagComment?: string;
}

/** Longest part of a message to read; commits may hold messages of any size. */
const MAX_BYTES = 64 * 1024;

const TRAILER = /^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:(.*)$/;

export function parseCommit(id: string, object: Buffer): CommitText {
  const end = object.indexOf('\n\n');
  const header = object.toString('utf8', 0, end === -1 ? object.length : end);
  const encoding = /^encoding (.+)$/m.exec(header)?.[1] ?? 'utf-8';
  const text = withoutApiKeys(decode(object.subarray(0, Math.max(end, 0) + MAX_BYTES), encoding));
  const message = end === -1 ? '' : text.slice(text.indexOf('\n\n') + 2);
  const author = /^author (.*) <[^\n]*$/m.exec(text.slice(0, text.indexOf('\n\n')))?.[1];
  const [subject = '', ...rest] = message
    .replace(/\r\n?/g, '\n')
    .trim()
    .split(/\n[^\S\n]*\n+/);
  const trailers = takeTrailers(rest);
  return {
    id,
    author: author?.trim() === undefined || author.trim() === '' ? 'unknown' : author.trim(),
    subject,
    body: trailers.body,
    ...trailers.own,
  };
}

/**
 * Trailers are the last paragraphs in which every line is a trailer or continues one. There may be several paragraphs,
 * because forges add their own (`Co-authored-by:`) after an empty line.
 */
function takeTrailers(paragraphs: readonly string[]): {
  body: string;
  own: Pick<CommitText, 'flagTitle' | 'flagComment'>;
} {
  let first = paragraphs.length;
  while (first > 0 && isTrailers(paragraphs[first - 1] ?? '')) first -= 1;
  const kept = paragraphs.slice(0, first);
  const found = new Map<string, string>();
  for (const paragraph of paragraphs.slice(first)) {
    const others: string[] = [];
    for (const trailer of paragraph.replace(/\n[^\S\n]+/g, ' ').split('\n')) {
      const [, name = '', value = ''] = TRAILER.exec(trailer) ?? [];
      const key = name.toLowerCase();
      if (key !== 'flag-title' && key !== 'flag-comment') others.push(trailer);
      else if (value.trim() !== '') found.set(key, value.trim());
    }
    if (others.length > 0) kept.push(others.join('\n'));
  }
  const flagTitle = found.get('flag-title');
  const flagComment = found.get('flag-comment');
  return {
    body: kept.join('\n\n'),
    own: {
      ...(flagTitle === undefined ? {} : { flagTitle }),
      ...(flagComment === undefined ? {} : { flagComment }),
    },
  };
}

function isTrailers(paragraph: string): boolean {
  const lines = paragraph.split('\n');
  return lines.every(
    (line, index) =>
      TRAILER.test(line) ||
      line.startsWith('(cherry picked from') ||
      (index > 0 && /^\s/.test(line)),
  );
}

function decode(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    // A commit may name an unknown encoding.
    return bytes.toString('utf8');
  }
}

/** A commit that flagkeel itself makes, on no branch. */
export interface CommitToMake {
  readonly message: string;
  readonly from: string | null;
  /** Differences from the parent, as commands of `git fast-import`. */
  readonly lines: readonly string[];
}

/**
 * Makes a commit and leaves no ref behind, because only `update-ref` and `push` compare the commit that they replace.
 *
 * @param purpose see `GitCommand`.
 * @returns its full hash.
 * @throws FlagkeelError `GIT`
 */
export async function writeCommit(
  git: Git,
  { message, from, lines }: CommitToMake,
  purpose: string,
): Promise<string> {
  const scratch = 'refs/flagkeel-scratch';
  const stream = [
    `commit ${scratch}`,
    'mark :1',
    'committer flagkeel <flagkeel@localhost> now',
    importData(`${message}\n`),
    ...(from === null ? [] : [`from ${from}`]),
    ...lines,
    'get-mark :1',
    `reset ${scratch}`,
    `from ${'0'.repeat(from?.length ?? 40)}`,
    '',
    'done',
    '',
  ].join('\n');
  const answer = await runGit(git, {
    args: ['fast-import', '--quiet', '--done', '--date-format=now', '--force'],
    purpose,
    writes: true,
    input: stream,
  });
  return answer.trim();
}

/** Text as `git fast-import` takes it. */
export function importData(text: string): string {
  return `data ${String(Buffer.byteLength(text))}\n${text}`;
}
