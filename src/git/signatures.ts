import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { FlagkeelError, messageOf } from '../errors.js';
import type { Checkout, Repository } from './checkout.js';
import { headerOf, parentsIn, personIn } from './lineage.js';
import { exitCodeOf, type Git, runGit } from './git.js';

/** Files of the operator that name the keys whose commits may be applied; null for a kind that is not used. */
export interface Signers {
  /** In the form of `ssh-keygen`: a principal and its key on each line. */
  readonly allowedSigners: string | null;
  /** Public keys of gpg, as `gpg --export` writes them. */
  readonly keyring: string | null;
}

/** Names and reasons are untrusted text. */
export interface UnsignedCommit {
  readonly commit: string;
  readonly committer: string;
  readonly why: string;
}

export interface SignedLine {
  /** The newest signed commit; null if none of those looked at is signed. */
  readonly signed: string | null;
  /** The newest unsigned commit above it; null if the head itself is signed. */
  readonly unsigned: UnsignedCommit | null;
}

/**
 * Follows first parents from `head` to the first commit that a signer signed, `most` commits long. Git itself judges
 * the signatures, in a repository of ours, so that no setting of the checkout names a program or a key.
 *
 * @throws FlagkeelError `USAGE` a file of the signers cannot be used; `GIT`.
 */
export async function signedLine(
  { repository, directory }: Pick<Checkout, 'repository' | 'directory'>,
  head: string,
  signers: Signers,
  most: number,
): Promise<SignedLine> {
  if (repository === null) throw new Error(`bug: no repository holds ${head}`);
  const inside = [directory, repository.root, repository.gitDir];
  const allowed = await fileOf('FLAGKEEL_ALLOWED_SIGNERS', signers.allowedSigners, inside);
  const keyring = await fileOf('FLAGKEEL_SIGNER_KEYRING', signers.keyring, inside);
  const home = await mkdtemp(join(tmpdir(), 'flagkeel-gpg-'));
  try {
    if (keyring !== null) await importKeys(keyring, home);
    const ours = await repository.ours();
    const git = { ...ours, place: { ...ours.place, GNUPGHOME: home } };
    let unsigned: UnsignedCommit | null = null;
    let commit: string | undefined = head;
    // One commit after the other, because the first signed one ends the search.
    for (let looked = 0; commit !== undefined && looked < most; looked += 1) {
      const object = await contentOf(repository, commit);
      const why = await complaintAbout(git, { commit, object, allowed });
      if (why === null) return { signed: commit, unsigned };
      const committer = personIn(headerOf(object), 'committer') ?? 'an unnamed committer';
      unsigned ??= { commit, committer, why };
      [commit] = parentsIn(object);
    }
    return { signed: null, unsigned };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** @param unsigned null for files that are no commit. */
export function unsignedError(unsigned: UnsignedCommit | null): FlagkeelError {
  if (unsigned === null) {
    return new FlagkeelError(
      'UNSIGNED',
      'cannot apply files that are no commit: signatures are demanded (commit them with git commit -S)',
    );
  }
  const { commit, committer, why } = unsigned;
  const short = commit.slice(0, 8);
  const remedy = `a signer who agrees with it: git commit --allow-empty -S -m "Sign ${short}" && git push`;
  const what = `cannot apply ${short}, which ${committer} committed: no allowed signer signed it`;
  return new FlagkeelError('UNSIGNED', `${what}: ${why} (${remedy})`);
}

async function fileOf(
  variable: string,
  file: string | null,
  inside: readonly string[],
): Promise<string | null> {
  if (file === null) return null;
  const real = await realpath(file).catch((cause: unknown) => {
    throw new FlagkeelError('USAGE', `cannot use ${variable}: "${file}" is not there`, { cause });
  });
  if (!(await stat(real)).isFile()) {
    throw new FlagkeelError('USAGE', `cannot use ${variable}: "${file}" is no file`);
  }
  if (inside.some((directory) => real.startsWith(directory + sep))) {
    const why = 'lies in the checkout, where a commit could change it (keep it outside)';
    throw new FlagkeelError('USAGE', `cannot use ${variable}: "${file}" ${why}`);
  }
  return real;
}

async function importKeys(keyring: string, home: string): Promise<void> {
  // The operator vouches for every key of the file, so that gpg need not.
  await writeFile(join(home, 'gpg.conf'), 'trust-model always\n');
  const options = ['--homedir', home, '--batch', '--quiet', '--no-autostart'];
  try {
    await promisify(execFile)('gpg', [...options, '--import', keyring], {
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    });
  } catch (cause) {
    const why = messageOf(cause).trim().split('\n').at(-1) ?? '';
    const message = `cannot use FLAGKEEL_SIGNER_KEYRING: ${why} (gpg --export writes such a file)`;
    throw new FlagkeelError('USAGE', message, { cause });
  }
}

/** null if git accepts the signature; otherwise why not, as a clause. */
async function complaintAbout(
  git: Git,
  about: { readonly commit: string; readonly object: Buffer; readonly allowed: string | null },
): Promise<string | null> {
  if (!/^gpgsig(-sha256)? /m.test(headerOf(about.object))) return 'it bears no signature';
  const settings = [
    `gpg.ssh.allowedSignersFile=${about.allowed ?? devNull}`,
    // Certificates would be judged by what this machine trusts, and no signer was named there.
    'gpg.x509.program=false',
  ];
  try {
    await runGit(git, {
      args: [...settings.flatMap((each) => ['-c', each]), 'verify-commit', about.commit],
      purpose: `check the signature of ${about.commit}`,
      // Nothing is reached: git's library refuses every setting that names a program, our own too.
      network: 'local',
    });
    return null;
  } catch (error) {
    if (exitCodeOf(error) !== 1 || !(error instanceof FlagkeelError)) throw error;
    return messageOf(error.cause);
  }
}

async function contentOf({ objects }: Repository, commit: string): Promise<Buffer> {
  const object = await objects.read(commit);
  if (object === null)
    throw new FlagkeelError('GIT', `cannot read commit ${commit}: no such commit here`);
  return object;
}
