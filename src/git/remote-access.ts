import { resolve } from 'node:path';
import { FlagkeelError } from '../errors.js';
import type { RemoteAccess } from './environment.js';

export interface RemoteOptions {
  /** https, ssh, `user@host:path`, file or a path; http on loopback only. Without credentials. */
  readonly url: string;
  /** For https: the name that goes with the token; most servers take any. */
  readonly user?: string | undefined;
  /** For https; asked for every command. Undefined: the server is asked without. */
  readonly token?: (() => string | undefined) | undefined;
  /** For ssh. */
  readonly sshKeyFile?: string | undefined;
  /** For ssh: the only keys of servers that are accepted. */
  readonly knownHostsFile?: string | undefined;
}

/** `git@host:path`, with no slash before the colon. */
export const SCP_LIKE = /^(?:[\w.-]+@)?[\w.-]+:(?!:)/;

const DEFAULT_USER = 'x-access-token';

/** A server that sends less than a byte a second for so long is given up. */
const SILENCE_S = 30;

/**
 * Decides how a git server is spoken to.
 *
 * @throws FlagkeelError `USAGE` the URL holds credentials, or is of a kind that is not spoken.
 */
export function remoteAccess(options: RemoteOptions): RemoteAccess {
  const url = checkedUrl(options.url);
  const origin = /^https?:\/\/[^/]+/.exec(url)?.[0];
  return {
    url,
    settings: () => ({
      // With a header of ours a redirect could carry it elsewhere.
      'http.followRedirects': 'false',
      'http.lowSpeedLimit': '1',
      'http.lowSpeedTime': String(SILENCE_S),
      ...(origin !== undefined && authorization(origin, options)),
    }),
    variables: () => ({
      GIT_ALLOW_PROTOCOL: url.startsWith('http:') ? 'http' : 'https:ssh:file',
      ...(origin === undefined && sshVariables(options)),
    }),
  };
}

function authorization(origin: string, { user, token }: RemoteOptions): Record<string, string> {
  const secret = token?.();
  if (secret === undefined) return {};
  const pair = Buffer.from(`${user ?? DEFAULT_USER}:${secret}`).toString('base64');
  return { [`http.${origin}/.extraHeader`]: `Authorization: Basic ${pair}` };
}

function sshVariables({ sshKeyFile, knownHostsFile }: RemoteOptions): Record<string, string> {
  if (sshKeyFile === undefined && knownHostsFile === undefined) return {};
  const options = [
    'BatchMode=yes',
    `ConnectTimeout=${SILENCE_S}`,
    'ServerAliveInterval=10',
    'ServerAliveCountMax=3',
    ...(sshKeyFile === undefined ? [] : ['IdentitiesOnly=yes', 'IdentityAgent=none']),
    ...(knownHostsFile === undefined
      ? []
      : ['StrictHostKeyChecking=yes', `UserKnownHostsFile=${sshPath(knownHostsFile)}`]),
  ];
  const key = sshKeyFile === undefined ? [] : ['-i', resolve(sshKeyFile)];
  const words = ['ssh', '-F', 'none', ...key, ...options.flatMap((each) => ['-o', each])];
  // Git gives this to a shell.
  return { GIT_SSH_COMMAND: words.map(shellWord).join(' ') };
}

/** The option takes several files, parted by spaces. */
function sshPath(path: string): string {
  return `"${resolve(path)}"`;
}

function shellWord(word: string): string {
  return /^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

function checkedUrl(text: string): string {
  if (text === '' || text.startsWith('-')) throw unusable('it is no URL');
  if (SCP_LIKE.test(text) && !text.includes('://')) return text;
  if (!/^[\w+.-]+:/.test(text)) return resolve(text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'ssh:' || url?.protocol === 'file:') {
    if (url.password !== '') throw holdsCredentials();
    return text;
  }
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw unusable('it is neither https, ssh nor a path');
  }
  if (url.username !== '' || url.password !== '') throw holdsCredentials();
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw unusable('http is for loopback alone (use https or ssh)');
  }
  return text;
}

function holdsCredentials(): FlagkeelError {
  return unusable(
    'it holds credentials, which would end up in logs (put the token into a file and name that in FLAGKEEL_GIT_TOKEN_FILE)',
  );
}

/** The URL itself is left out: it may hold what must not be seen. */
function unusable(why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot use the URL of the repository: ${why}`);
}
