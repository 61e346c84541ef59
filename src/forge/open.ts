import { FlagkeelError } from '../errors.js';
import type { Progress } from '../model/run.js';
import { paused, realTime } from '../platform/clock.js';
import { isLoopbackHost } from '../platform/proxy.js';
import type { Forge, ForgeOptions, RepositoryTarget } from './forge.js';

const TIMEOUT_MS = 30_000;

export const DEFAULT_API = {
  github: 'https://api.github.com',
  gitlab: 'https://gitlab.com/api/v4',
} as const;

interface KnownOptions extends Pick<ForgeOptions, 'token' | 'signal'> {
  /** Hears of each request; the caller ends the phase. */
  readonly progress?: Progress | undefined;
}

/**
 * Opens a repository on its forge, whose client is loaded on use. @param own in place of a command's waits and timeout.
 * @throws FlagkeelError `USAGE` if the address is not safe for a token.
 */
export async function openForge(
  place: RepositoryTarget,
  { token, progress, signal = new AbortController().signal }: KnownOptions,
  own: Partial<ForgeOptions> = {},
): Promise<Forge> {
  refuseUnsafeApi(place.apiUrl);
  const name = place.kind === 'github' ? 'GitHub' : 'GitLab';
  const wait = async (waitMs: number): Promise<void> => {
    progress?.waiting({ waitMs, why: `${name} did not take a request`, what: 'send it again' });
    if (await paused(waitMs, realTime, signal)) return;
    throw new FlagkeelError('INTERRUPTED', `cannot ask ${name}: interrupted`);
  };
  const asking = (): void => progress?.phase('forge', `${name} (${new URL(place.apiUrl).host})`);
  const { connect } = await (place.kind === 'github'
    ? import('./github.js')
    : import('./gitlab.js'));
  const usual = { timeoutMs: TIMEOUT_MS, wait, asking, now: Date.now };
  return connect({ place, token, signal, ...usual, ...own });
}

/** @throws FlagkeelError `USAGE` if the address is not safe for a token. */
export function refuseUnsafeApi(apiUrl: string): void {
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : null;
  const isLocal = url?.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url?.protocol === 'https:' || isLocal) return;
  throw new FlagkeelError(
    'USAGE',
    'cannot use the address of the forge: its token is sent over https only (set --forge-url)',
  );
}

interface StatusChoice {
  readonly kind: RepositoryTarget['kind'];
  /** Default: the repository that the source is cloned from. */
  readonly repository: string | undefined;
}

const REPOSITORY = {
  github: /^[\w.-]+\/[\w.-]+$/,
  gitlab: /^(?:\d+|[\w.-]+(?:\/[\w.-]+)+)$/,
};

const HOST = { github: 'github.com', gitlab: 'gitlab.com' };

/** Reads `github:owner/name`, `gitlab:group/project`, or the forge alone. @throws FlagkeelError `USAGE` */
export function parseForge(text: string): StatusChoice {
  const [, kind, repository] = /^(github|gitlab)(?::(.*))?$/s.exec(text) ?? [];
  if (kind !== 'github' && kind !== 'gitlab') {
    throw unusable('github or gitlab is expected, with :owner/name or without');
  }
  if (repository !== undefined && !isRepository(kind, repository)) {
    throw unusable(`${JSON.stringify(repository)} names no repository of ${kind}`);
  }
  return { kind, repository };
}

/**
 * Only the operator's settings count, nothing inside a repository. `repo` is what the source is cloned from. @throws
 * FlagkeelError `USAGE`
 */
export function statusTarget(
  { kind, repository }: StatusChoice,
  { repo, apiUrl }: { readonly repo?: string | undefined; readonly apiUrl?: string | undefined },
): RepositoryTarget {
  if (repository !== undefined) return { kind, repository, apiUrl: apiUrl ?? DEFAULT_API[kind] };
  const remote = repo === undefined ? undefined : repositoryAt(repo);
  if (remote === undefined || !isRepository(kind, remote.path)) {
    throw unusable(`it is not known which repository (name it: --statuses ${EXAMPLE[kind]})`);
  }
  // Never guess an API host from the clone URL: the token must go only where the operator said.
  if (apiUrl === undefined && remote.host !== HOST[kind]) {
    throw unusable(`${remote.host} is not ${HOST[kind]} (set --forge-url to the URL of its API)`);
  }
  return { kind, repository: remote.path, apiUrl: apiUrl ?? DEFAULT_API[kind] };
}

const EXAMPLE = { github: 'github:owner/name', gitlab: 'gitlab:group/project' };

function isRepository(kind: RepositoryTarget['kind'], text: string): boolean {
  return REPOSITORY[kind].test(text) && !text.split('/').some((part) => /^\.+$/.test(part));
}

interface RepositoryPlace {
  /** Of https alone. */
  readonly origin: string | null;
  /** Without a port, in lower case. */
  readonly host: string;
  /** Without slashes around it, and without `.git`. */
  readonly path: string;
  /** Of the config directory; empty for the top of the repository. */
  readonly folder: string;
}

/**
 * Reads `https://host/path.git`, `ssh://git@host:22/path` or `git@host:path`, with the config directory behind it in
 * brackets; undefined for a directory. Takes linear time, because a webhook may bring a text as long as its body.
 */
export function repositoryAt(location: string): RepositoryPlace | undefined {
  const [, text = '', folder = ''] = /^(\S+)(?: \((.*)\))?$/.exec(location) ?? [];
  const url = /^[a-z+]+:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
  const [, address, scpPath = ''] = /^[^/:[]+@([^/:[@]+|\[[^\]/]*\]):(.+)$/.exec(text) ?? [];
  const host = url?.hostname ?? address ?? '';
  const path = (url?.pathname ?? scpPath).replace(/^\/+|(?<!\/)\/+$/g, '').replace(/\.git$/, '');
  if (host === '' || path === '') return undefined;
  const origin = url?.protocol === 'https:' ? url.origin : null;
  return { origin, host: host.toLowerCase(), path, folder };
}

export function unusable(why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot use the forge: ${why}`);
}
