import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { FlagkeelError } from '../errors.js';
import type { RemoteAccess } from './environment.js';

/** How a git server knows us, and we it; from the operator's environment. */
export interface GitCredentials {
  /** For https: the name that goes with the token; most servers take any. */
  readonly user?: string | undefined;
  /** For https; asked for every command. Undefined: the server is asked without. */
  readonly token?: (() => string | undefined) | undefined;
  /** For ssh. */
  readonly sshKeyFile?: string | undefined;
  /** For ssh: the only keys of servers that are accepted. */
  readonly knownHostsFile?: string | undefined;
  /** Scheme, host and port of servers that the token may go to though only a checkout names them. */
  readonly servers?: readonly string[];
}

export interface RemoteOptions extends Omit<GitCredentials, 'servers'> {
  /** https, ssh, `user@host:path`, file or a path; http on loopback only. Without credentials. */
  readonly url: string;
}

/** `git@host:path`, with no slash before the colon. */
const SCP_LIKE = /^(?:[\w.-]+@)?[\w.-]+:(?!:)/;

const DEFAULT_USER = 'x-access-token';

/** A server that sends less than a byte a second for so long is given up. */
const SILENCE_S = 30;

/**
 * Decides how a git server is spoken to.
 *
 * @throws FlagkeelError `USAGE` the URL holds credentials, or is of a kind that is not spoken.
 */
export function remoteAccess(options: RemoteOptions): RemoteAccess {
  return accessTo(checkedUrl(options.url), options);
}

/**
 * Decides how `origin` of a checkout is spoken to. Its URL comes from the checkout's config, so that the token goes there only
 * where the operator or CI names the server.
 *
 * @param root top of the working tree, from which a path is meant.
 * @throws FlagkeelError `GIT` it is no place that is fetched from and pushed to.
 */
export async function originAccess(
  text: string,
  root: string,
  { servers = [], ...given }: GitCredentials = {},
): Promise<RemoteAccess> {
  const url = await originUrl(text, root);
  const server = serverOf(url);
  if (server === undefined) return accessTo(url, {});
  const isNamed = servers.includes(server);
  if (isNamed && given.token?.() !== undefined) return accessTo(url, given);
  const named = isNamed ? '' : `, and ${server} in FLAGKEEL_GIT_ORIGINS`;
  const remedy = `set FLAGKEEL_GIT_TOKEN${named}, or give your own git a credential helper`;
  return { ...accessTo(url, {}), remedy };
}

function accessTo(url: string, options: Omit<RemoteOptions, 'url'>): RemoteAccess {
  const server = serverOf(url);
  return {
    url,
    settings: () => ({
      'http.lowSpeedLimit': '1',
      'http.lowSpeedTime': String(SILENCE_S),
      ...(server !== undefined && authorization(server, options)),
    }),
    variables: () => ({
      // The operator's own settings may lead from http to another protocol, and from nothing else to http.
      GIT_ALLOW_PROTOCOL: url.startsWith('http:') ? 'http:https:ssh:file' : 'https:ssh:file',
      ...(server === undefined && sshVariables(options)),
    }),
  };
}

/** Scheme, host and port; undefined where the URL is not of http. */
function serverOf(url: string): string | undefined {
  return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined;
}

function authorization(
  server: string,
  { user, token }: Pick<RemoteOptions, 'user' | 'token'>,
): Record<string, string> {
  const secret = token?.();
  if (secret === undefined) return {};
  const pair = Buffer.from(`${user ?? DEFAULT_USER}:${secret}`).toString('base64');
  return {
    [`http.${server}/.extraHeader`]: `Authorization: Basic ${pair}`,
    // A redirect could carry the header elsewhere.
    'http.followRedirects': 'false',
  };
}

function sshVariables({
  sshKeyFile,
  knownHostsFile,
}: Pick<RemoteOptions, 'sshKeyFile' | 'knownHostsFile'>): Record<string, string> {
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

/** CI writes credentials of its own into the URL of the checkouts that it makes; they are sent, and shown to nobody. */
async function originUrl(text: string, root: string): Promise<string> {
  if (/^(?:https|ssh|file):\/\//.test(text)) {
    if (text.startsWith('file:')) await refuseInside(root, text);
    return text;
  }
  if (text.startsWith('http://') && URL.canParse(text) && LOOPBACK.test(new URL(text).hostname)) {
    return text;
  }
  if (/^[\w+.-]+:(?::|\/\/)/.test(text) || text.startsWith('-')) {
    throw unusableOrigin('is neither https, ssh nor a path');
  }
  if (SCP_LIKE.test(text)) return text;
  const path = resolve(root, text);
  await refuseInside(root, path);
  return path;
}

/** Git runs the hooks of a repository that it pushes to on this machine: those of the checkout are no more to be trusted than its config. */
async function refuseInside(root: string, place: string): Promise<void> {
  // A name of a host has no meaning in a URL of a file, and git does not look at it.
  const path = place.replace(/^file:\/\/[^/]*/, '');
  const real = await realpath(path).catch(() => path);
  const inside = relative(root, real);
  if (inside === '' || !(inside.startsWith('..') || isAbsolute(inside))) {
    throw unusableOrigin('leads into the checkout itself');
  }
}

function unusableOrigin(why: string): FlagkeelError {
  return new FlagkeelError('GIT', `cannot share the state: the URL of origin ${why}`);
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
