import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from './git.js';

/** A person with a key, as `git config` is told to sign for them, and the file by which an operator names them. */
export interface Signer {
  /** Arguments of git, before its command. */
  readonly signing: readonly string[];
  readonly file: string;
}

/** Makes a key of ssh and a list of allowed signers with it alone. Both go with the test. */
export function sshSigner(name: string): Signer {
  const directory = makeDirectory();
  const [key, file] = [join(directory, 'key'), join(directory, 'allowed_signers')];
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key]);
  writeFileSync(file, `${name}@example.com ${readFileSync(`${key}.pub`, 'utf8')}`);
  return { signing: ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`], file };
}

/** Makes a key of gpg, with a home of its own, and its export. Both go with the test. */
export function gpgSigner(name: string): Signer {
  const directory = makeDirectory();
  const [program, file] = [join(directory, 'gpg'), join(directory, 'keyring.asc')];
  writeFileSync(program, `#!/bin/sh\nexec gpg --homedir '${directory}' --batch "$@"\n`);
  chmodSync(program, 0o755);
  const mail = `${name}@example.com`;
  const gpg = (...args: string[]): string =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  gpg('--passphrase', '', '--quick-generate-key', mail, 'ed25519', 'sign', 'never');
  writeFileSync(file, gpg('--armor', '--export', mail));
  return { signing: ['-c', `gpg.program=${program}`, '-c', `user.signingkey=${mail}`], file };
}
