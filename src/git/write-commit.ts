import { type Git, runGit } from './git.js';

/** A commit that flagkeel itself makes, on no branch. */
export interface CommitToMake {
  readonly message: string;
  /** Its parent, if any. */
  readonly from: string | null;
  /** Differences from the parent, as commands of `git fast-import`. */
  readonly lines: readonly string[];
}

/**
 * Makes a commit and leaves no ref behind, because only `update-ref` and `push` compare the commit that they replace.
 *
 * @param purpose see `Git.run`.
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
