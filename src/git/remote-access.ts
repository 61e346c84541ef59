import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { FlagkeelError } from '../errors.js';
import { isLoopback, isLoopbackHost } from '../platform/proxy.js';
import { shellWord } from '../platform/shell.js';
import type { RemoteAccess } from './environment.js';

export interface GitCredentials {
  /** For https: the name that goes with the token; most servers take any. */
  readonly user?: string | undefined;
  /** For https; called for every command, so that a rotated token takes effect. */
  readonly token?: (() => string | undefined) | undefined;
  readonly sshKeyFile?: string | undefined;
  /** For ssh: file with the only accepted keys of servers. */
  readonly knownHostsFile?: string | undefined;
  /** Origins (scheme, host, port) of servers that may get the token although only a checkout names them. */
  readonly servers?: readonly string[];
}

export interface RemoteOptions extends Omit<GitCredentials, 'servers'> {
  /** https, ssh, `user@host:path`, file or a path; http on loopback only. Without credentials. */
  readonly url: string;
}

/** `git@host:path`, with no slash before the colon. */
const SCP_LIKE = /^(?:[\w.-]+@)?[\w.-]+:(?!:)/;

const DEFAULT_USER = 'x-access-token';

/** A transfer below one byte a second for this time is given up. */
const SILENCE_S = 30;

/** @throws FlagkeelError `USAGE` the URL holds credentials, or its protocol is not supported. */
export function remoteAccess(options: RemoteOptions): RemoteAccess {
  return accessTo(checkedUrl(options.url), options);
}

/**
 * Access to `origin` of a checkout, whose config names the URL: the token goes there only if the operator or CI names
 * the server.
 *
 * @param root top of the working tree, which a relative path starts from.
 * @throws FlagkeelError `GIT` the URL cannot be fetched from and pushed to.
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

function accessTo(url: string, options: GitCredentials): RemoteAccess {
  const server = serverOf(url);
  return {
    url,
    settings: () => ({
      'http.lowSpeedLimit': '1',
      'http.lowSpeedTime': String(SILENCE_S),
      ...(server !== undefined && authorization(server, options)),
    }),
    variables: () => ({
      // The operator's own settings may rewrite http to another protocol, but no other protocol to http.
      GIT_ALLOW_PROTOCOL: url.startsWith('http:') ? 'http:https:ssh:file' : 'https:ssh:file',
      ...(server === undefined && sshVariables(options)),
    }),
  };
}

function serverOf(url: string): string | undefined {
  return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined;
}

function authorization(server: string, { user, token }: GitCredentials): Record<string, string> {
  const secret = token?.();
  if (secret === undefined) return {};
  const pair = Buffer.from(`${user ?? DEFAULT_USER}:${secret}`).toString('base64');
  return {
    [`http.${server}/.extraHeader`]: `Authorization: Basic ${pair}`,
    // A redirect could send the header to another server.
    'http.followRedirects': 'false',
  };
}

function sshVariables({ sshKeyFile, knownHostsFile }: GitCredentials): Record<string, string> {
  if (sshKeyFile === undefined && knownHostsFile === undefined) return {};
  const options = [
    'BatchMode=yes',
    `ConnectTimeout=${SILENCE_S}`,
    'ServerAliveInterval=10',
    'ServerAliveCountMax=3',
    // With a key file ssh tries no default key, and without an agent no other one.
    ...(sshKeyFile === undefined ? [] : ['IdentityAgent=none']),
    ...(knownHostsFile === undefined
      ? []
      : // The option takes several files with spaces between them.
        ['StrictHostKeyChecking=yes', `UserKnownHostsFile="${resolve(knownHostsFile)}"`]),
  ];
  const key = sshKeyFile === undefined ? [] : ['-i', resolve(sshKeyFile)];
  const words = ['ssh', '-F', 'none', ...key, ...options.flatMap((each) => ['-o', each])];
  // Git runs this through a shell.
  return { GIT_SSH_COMMAND: words.map(shellWord).join(' ') };
}

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
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw unusable('http is for loopback alone (use https or ssh)');
  }
  return text;
}

/** CI writes its own credentials into the URL of its checkouts: they are sent to the server, and never shown. */
async function originUrl(text: string, root: string): Promise<string> {
  if (/^(?:https|ssh|file):\/\//.test(text)) {
    if (text.startsWith('file:')) await refuseInside(root, text);
    return text;
  }
  if (text.startsWith('http://') && URL.canParse(text) && isLoopback(text)) return text;
  if (/^[\w+.-]+:(?::|\/\/)/.test(text) || text.startsWith('-')) {
    throw unusableOrigin('is neither https, ssh nor a path');
  }
  if (SCP_LIKE.test(text)) return text;
  const path = resolve(root, text);
  await refuseInside(root, path);
  return path;
}

/** Refuses an origin inside the checkout: a push to a local repository runs its hooks, which are untrusted as well. */
async function refuseInside(root: string, place: string): Promise<void> {
  // Git ignores the host in a file URL.
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
  const remedy = 'put the token into a file and name that in FLAGKEEL_GIT_TOKEN_FILE';
  return unusable(`it holds credentials, which would end up in logs (${remedy})`);
}

/** Leaves the URL out, because it may hold secrets. */
function unusable(why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot use the URL of the repository: ${why}`);
}
