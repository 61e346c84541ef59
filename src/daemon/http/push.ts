import type { SourceView } from '../view.js';

export type WebhookHeaders = Readonly<Record<string, string | undefined>>;

/** Untrusted text. */
export interface Push {
  /** Short names. */
  readonly branches: readonly string[];
  /** URLs; empty if the sender gives none. */
  readonly repositories: readonly string[];
}

/** Undefined if this is no push to a branch of GitHub, Gitea, Forgejo, GitLab, Bitbucket or Azure DevOps. */
export function pushOf(headers: WebhookHeaders, payload: unknown): Push | undefined {
  const event = EVENT_HEADERS.map((name) => headers[name]).find((value) => value !== undefined);
  if (event !== undefined && !PUSH_EVENTS.has(event)) return undefined;
  const body = recordOf(payload);
  const resource = recordOf(body['resource']);
  const moved = [
    { name: body['ref'], isGone: body['deleted'] === true, id: body['after'] },
    ...listOf(resource['refUpdates']).map(({ name, newObjectId: id }) => ({ name, id })),
    ...listOf(recordOf(body['push'])['changes']).map(({ new: ref }) => bitbucketCloudRef(ref)),
    ...listOf(body['changes']).map(({ ref, toHash: id }) => ({ name: recordOf(ref)['id'], id })),
  ];
  const branches = moved.flatMap(branchOf);
  if (branches.length === 0) return undefined;
  const places = [body['repository'], body['project'], resource['repository']];
  return { branches, repositories: places.flatMap(urlsOf) };
}

const EVENT_HEADERS = ['x-github-event', 'x-gitlab-event', 'x-event-key'] as const;

/** GitLab's system hook reports pushes and everything else; its payload then decides. */
const PUSH_EVENTS: ReadonlySet<string> = new Set([
  'push',
  'Push Hook',
  'System Hook',
  'repo:push',
  'repo:refs_changed',
]);

interface MovedRef {
  /** Such as `refs/heads/main`. */
  readonly name: unknown;
  /** The commit after the push; zeros if the ref was deleted. */
  readonly id?: unknown;
  readonly isGone?: boolean;
}

function branchOf({ name, id, isGone = false }: MovedRef): readonly string[] {
  const branch = typeof name === 'string' ? /^refs\/heads\/(.+)$/.exec(name)?.[1] : undefined;
  const isDeleted = isGone || (typeof id === 'string' && /^0+$/.test(id));
  return branch === undefined || isDeleted ? [] : [branch];
}

/** @param ref null if the push deleted the branch. */
function bitbucketCloudRef(ref: unknown): MovedRef {
  const { type, name } = recordOf(ref);
  return { name: type === 'branch' && typeof name === 'string' ? `refs/heads/${name}` : undefined };
}

const URL_MEMBERS = [
  'clone_url',
  'ssh_url',
  'git_http_url',
  'git_ssh_url',
  'http_url',
  'remoteUrl',
  'sshUrl',
] as const;

function urlsOf(repository: unknown): string[] {
  const members = recordOf(repository);
  const { html, clone } = recordOf(members['links']) as { html?: unknown; clone?: unknown };
  const urls = [
    ...URL_MEMBERS.map((name) => members[name]),
    ...[recordOf(html), ...listOf(clone)].map(({ href }) => href),
    dataCenterUrl(members),
  ];
  return urls.filter((url) => typeof url === 'string');
}

/** Bitbucket Data Center names a repository by project and slug, and its host nowhere; the host does not count. */
function dataCenterUrl({ slug, project }: Members): string | undefined {
  const { key } = recordOf(project);
  return typeof slug === 'string' && typeof key === 'string'
    ? `https://bitbucket/${key}/${slug}`
    : undefined;
}

type Members = Readonly<Record<string, unknown>>;

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function recordOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

/**
 * Whether a push is about this source: same branch, and same repository if both sides name one. Hosts are not compared,
 * because a repository is often cloned under another host name than its pages have.
 */
export function concerns(push: Push, { branch, location }: SourceView): boolean {
  if (branch !== null && !push.branches.includes(branch)) return false;
  const ours = repositoryPath(location);
  const theirs = push.repositories.map(repositoryPath).filter((path) => path !== undefined);
  return ours === undefined || theirs.length === 0 || theirs.includes(ours);
}

/**
 * `shop/flags` of `https://host/shop/flags.git` and `git@host:shop/flags`; undefined for a directory. Takes linear
 * time, because an attacker can send a text as long as a body.
 */
function repositoryPath(location: string): string | undefined {
  const path = /^[a-z][a-z+]*:\/\/[^/]+\/(.+)$/i.exec(location)?.[1] ?? sshPath(location);
  if (path === undefined) return undefined;
  const name = withoutEndSlashes(path)
    .replace(/\.git$/, '')
    .toLowerCase();
  // Bitbucket and Azure DevOps add a part to the path of a clone, and each protocol its own.
  return name.replace(/^(?:scm|v3)\//, '').replace('/_git/', '/');
}

/** The part after the first colon of `user@host:path`, skipping the colons of an address in brackets. */
function sshPath(location: string): string | undefined {
  const [, host, path] = /^([^/\s:[]+)(?:\[[^\]/\s]*\])?:(.+)$/.exec(location) ?? [];
  return host !== undefined && host.indexOf('@') > 0 ? path : undefined;
}

/** Scans once from the end: a regular expression would begin anew at each slash in the text. */
function withoutEndSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
