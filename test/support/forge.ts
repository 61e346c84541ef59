import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './loopback.js';

/** A stand-in for the API of a forge, over real HTTP: it keeps what it is told, and refuses what the real one refuses. */
export interface TestForge {
  /** Of the API. */
  readonly url: string;
  readonly token: string;
  readonly comments: TestComment[];
  /** In the order in which they came. */
  readonly statuses: TestStatus[];
  /** Annotations of all check runs. */
  readonly annotations: TestAnnotation[];
  /** What accounts may do: on GitHub `read`, `write`, `admin`; on GitLab a level. Others are no members. */
  readonly members: Map<string, string | number>;
  /** On GitLab, who merges into the protected branch `main`; absent: it is not protected. */
  mergers?: readonly { readonly access_level: number; readonly user_id?: number }[] | undefined;
  /** When the pull request was pushed to and merged, ISO 8601; null: the forge does not say, and it is not merged. `base`: where it parted. */
  readonly pull: { pushedAt: string | null; mergedAt: string | null; base?: string };
  /** Pull requests that were opened, with the files of their branch: text, or null where it is removed. */
  readonly proposals: TestProposal[];
  /** `METHOD path status`, without query. */
  readonly requests: string[];
  /** So many further requests are answered that there were too many. */
  limitNext(count: number): void;
  /** From now on the token may read alone, as that of a fork. */
  forbidWrites(): void;
  /** From now on it may write again. */
  allowWrites(): void;
  /** From now on comments are refused. */
  refuseComments(): void;
  close(): Promise<void>;
}

export interface TestComment {
  readonly id: number;
  body: string;
  readonly author: string;
  /** ISO 8601, as the forge dates it; absent: after the last push. */
  readonly createdAt?: string;
  /** Absent: nobody edited it. */
  updatedAt?: string;
}

interface TestProposal {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly files: Readonly<Record<string, string | null>>;
}

interface TestStatus {
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
  readonly link: unknown;
}

interface TestAnnotation {
  readonly path: string;
  readonly start_line: number;
  readonly annotation_level: string;
  readonly message: string;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Route = (asked: Asked, match: RegExpExecArray) => Answer;

interface Kept {
  readonly comments: TestComment[];
  readonly statuses: TestStatus[];
  readonly annotations: TestAnnotation[];
  readonly proposals: TestProposal[];
  /** Of branches that were made, without a pull request yet. */
  readonly branches: Map<string, TestProposal['files']>;
  readonly members: Map<string, string | number>;
  mergers?: TestForge['mergers'];
  readonly pull: TestForge['pull'];
  commentsRefused: boolean;
}

/** The newest commit of the pull request. */
const HEAD = 'a'.repeat(40);
const TOKEN = 'forge-token-of-a-test';
/** What GitHub shows of who writes with the token of a workflow. */
export const OUR_ACCOUNT = 'github-actions[bot]';

export async function startTestForge(kind: 'github' | 'gitlab'): Promise<TestForge> {
  const members = new Map<string, string | number>();
  const kept: Kept = {
    comments: [],
    statuses: [],
    annotations: [],
    proposals: [],
    branches: new Map(),
    members,
    pull: { pushedAt: '2026-10-01T09:00:00Z', mergedAt: null },
    commentsRefused: false,
  };
  const requests: string[] = [];
  const routes = [...(kind === 'github' ? githubRoutes(kept) : gitlabRoutes(kept))];
  const policy = { limited: 0, readOnly: false };
  const server = createServer((request, response) => {
    void askedOf(request).then((asked) => {
      const answer = policed(asked, policy) ?? routed(routes, asked);
      requests.push(`${asked.method} ${asked.path} ${String(answer.status)}`);
      reply(response, answer);
    });
  });
  const { url: origin, close } = await listen(server);
  return {
    ...{ url: kind === 'github' ? origin : `${origin}/api/v4`, token: TOKEN, requests },
    ...kept,
    set mergers(levels: TestForge['mergers']) {
      kept.mergers = levels;
    },
    limitNext: (count) => {
      policy.limited = count;
    },
    forbidWrites: () => {
      policy.readOnly = true;
    },
    allowWrites: () => {
      policy.readOnly = false;
    },
    refuseComments: () => {
      kept.commentsRefused = true;
    },
    close,
  };
}

function policed(asked: Asked, policy: { limited: number; readOnly: boolean }): Answer | null {
  const given = asked.headers.authorization ?? asked.headers['private-token'] ?? '';
  if (!String(given).endsWith(TOKEN)) return refusal(401, 'Bad credentials');
  if (policy.limited > 0) {
    policy.limited -= 1;
    return {
      ...refusal(429, 'You have exceeded a secondary rate limit'),
      headers: { 'retry-after': '0' },
    };
  }
  if (policy.readOnly && asked.method !== 'GET' && asked.path !== '/graphql') {
    return refusal(403, 'Resource not accessible by integration');
  }
  return null;
}

const MOST_COMMENT = { github: 65_536, gitlab: 1_000_000 };
const MOST_DESCRIPTION = { github: 140, gitlab: 255 };
const MOST_ANNOTATIONS = 50;

function githubRoutes(kept: Kept): [string, RegExp, Route][] {
  const repo = '/repos/acme/flags';
  let files: Record<string, string | null> = {};
  const sha = { main: 'b'.repeat(40), tree: 'c'.repeat(40), made: 'd'.repeat(40) };
  return [
    ['GET', new RegExp(`^${repo}$`), () => ({ status: 200, body: { default_branch: 'main' } })],
    [
      'GET',
      new RegExp(`^${repo}/git/ref/heads(?:%2F|/)(.+)$`),
      (_, [, name = '']) => {
        const isThere = name === 'main' || kept.branches.has(decodeURIComponent(name));
        return isThere
          ? { status: 200, body: { object: { sha: sha.main } } }
          : refusal(404, 'Not Found');
      },
    ],
    [
      'GET',
      new RegExp(`^${repo}/git/commits/${sha.main}$`),
      () => ({ status: 200, body: { tree: { sha: sha.tree } } }),
    ],
    [
      'POST',
      new RegExp(`^${repo}/git/trees$`),
      ({ body }) => {
        if (body['base_tree'] !== sha.tree) return refusal(422, 'tree.sha is not a tree');
        const entries = body['tree'] as { path: string; sha?: null; content?: string }[];
        files = Object.fromEntries(entries.map(({ path, content = null }) => [path, content]));
        return { status: 201, body: { sha: sha.made } };
      },
    ],
    ['POST', new RegExp(`^${repo}/git/commits$`), () => ({ status: 201, body: { sha: sha.made } })],
    [
      'POST',
      new RegExp(`^${repo}/git/refs$`),
      ({ body }) => {
        kept.branches.set(String(body['ref']).replace('refs/heads/', ''), files);
        return { status: 201, body: {} };
      },
    ],
    [
      'POST',
      new RegExp(`^${repo}/pulls$`),
      ({ body }) => opened(kept, { ...body, branch: body['head'] }, 'html_url'),
    ],
    // The token of a workflow may not ask who it is, but learns it as the viewer of a query.
    ['GET', /^\/user$/, () => refusal(403, 'Resource not accessible by integration')],
    [
      'POST',
      /^\/graphql$/,
      () => ({ status: 200, body: { data: { viewer: { login: OUR_ACCOUNT } } } }),
    ],
    [
      'GET',
      new RegExp(`^${repo}/issues/7/comments$`),
      (asked) => page(asked, kept.comments.map(githubComment)),
    ],
    ['POST', new RegExp(`^${repo}/issues/7/comments$`), ({ body }) => post(kept, body, 'github')],
    [
      'PATCH',
      new RegExp(`^${repo}/issues/comments/(\\d+)$`),
      ({ body }, [, id]) => edit(kept, Number(id), body, 'github'),
    ],
    [
      'POST',
      new RegExp(`^${repo}/statuses/([0-9a-f]{40})$`),
      ({ body }, [, sha = '']) =>
        status(kept, sha, { ...body, states: 'error failure pending success' }),
    ],
    ['POST', new RegExp(`^${repo}/check-runs$`), ({ body }) => checkRun(kept, body, 201)],
    ['PATCH', new RegExp(`^${repo}/check-runs/1$`), ({ body }) => checkRun(kept, body, 200)],
    [
      'GET',
      new RegExp(`^${repo}/pulls/7$`),
      () => {
        const head = { sha: HEAD, ref: 'ramp', repo: { name: 'flags', owner: { login: 'acme' } } };
        return { status: 200, body: { number: 7, head, merged_at: kept.pull.mergedAt } };
      },
    ],
    [
      'GET',
      new RegExp(`^${repo}/activity$`),
      ({ query }) => {
        const { pushedAt } = kept.pull;
        if (pushedAt === null) return refusal(404, 'Not Found');
        const push = { activity_type: 'push', ref: query.get('ref'), timestamp: pushedAt };
        return { status: 200, body: [{ ...push, id: 1, before: '1'.repeat(40), after: HEAD }] };
      },
    ],
    [
      'GET',
      new RegExp(`^${repo}/collaborators/([^/]+)/permission$`),
      (_, [, name = '']) => {
        const permission = kept.members.get(name);
        return permission === undefined
          ? refusal(404, `${name} is not a user`)
          : { status: 200, body: { permission } };
      },
    ],
  ];
}

function gitlabRoutes(kept: Kept): [string, RegExp, Route][] {
  const notes = '/api/v4/projects/42/merge_requests/7/notes';
  const project = '/api/v4/projects/acme%2Fflags';
  return [
    ['GET', new RegExp(`^${project}$`), () => ({ status: 200, body: { default_branch: 'main' } })],
    [
      'GET',
      new RegExp(`^${project}/repository/branches/(.+)$`),
      (_, [, name = '']) =>
        kept.branches.has(decodeURIComponent(name))
          ? { status: 200, body: { name } }
          : refusal(404, '404 Branch Not Found'),
    ],
    [
      'POST',
      new RegExp(`^${project}/repository/commits$`),
      ({ body }) => {
        const actions = body['actions'] as {
          action: string;
          file_path: string;
          content?: string;
        }[];
        const files = actions.map((each) => [each.file_path, each.content ?? null] as const);
        kept.branches.set(String(body['branch']), Object.fromEntries(files));
        return { status: 201, body: { id: HEAD } };
      },
    ],
    [
      'POST',
      new RegExp(`^${project}/merge_requests$`),
      ({ body }) =>
        opened(
          kept,
          {
            ...{ branch: body['source_branch'], base: body['target_branch'] },
            ...{ title: body['title'], body: body['description'] },
          },
          'web_url',
        ),
    ],
    ['GET', /^\/api\/v4\/user$/, () => ({ status: 200, body: { id: 1, username: OUR_ACCOUNT } })],
    ['GET', new RegExp(`^${notes}$`), (asked) => page(asked, kept.comments.map(gitlabNote))],
    ['POST', new RegExp(`^${notes}$`), ({ body }) => post(kept, body, 'gitlab')],
    [
      'PUT',
      new RegExp(`^${notes}/(\\d+)$`),
      ({ body }, [, id]) => edit(kept, Number(id), body, 'gitlab'),
    ],
    [
      'GET',
      /^\/api\/v4\/projects\/42\/merge_requests\/7$/,
      () => {
        const merged = { state: 'merged', diff_refs: { base_sha: kept.pull.base } };
        return { status: 200, body: { iid: 7, target_branch: 'main', ...merged } };
      },
    ],
    [
      'GET',
      /^\/api\/v4\/projects\/42\/merge_requests\/7\/versions$/,
      () => {
        const { pushedAt } = kept.pull;
        const first = { id: 1, head_commit_sha: HEAD, created_at: '2026-09-01T09:00:00Z' };
        const last = { ...first, id: 2, created_at: pushedAt };
        return { status: 200, body: pushedAt === null ? [] : [last, first] };
      },
    ],
    [
      'GET',
      /^\/api\/v4\/projects\/42\/protected_branches\/main$/,
      () =>
        kept.mergers
          ? { status: 200, body: { name: 'main', merge_access_levels: kept.mergers } }
          : refusal(404, '404 Not found'),
    ],
    [
      'GET',
      /^\/api\/v4\/projects\/42\/members\/all\/(\d+)$/,
      (_, [, id]) => {
        const [, level] = [...kept.members].find(([name]) => gitlabId(name) === Number(id)) ?? [];
        return level === undefined
          ? refusal(404, '404 Not found')
          : { status: 200, body: { id: Number(id), access_level: level } };
      },
    ],
    [
      'POST',
      /^\/api\/v4\/projects\/(?:42|acme%2Fflags)\/statuses\/([0-9a-f]{40})$/,
      ({ body }, [, sha = '']) => {
        const { name, state } = body;
        const last = kept.statuses.findLast((each) => each.sha === sha && each.context === name);
        if (last?.state === state && state === 'running') {
          return refusal(400, 'Cannot transition status via :run from :running');
        }
        return status(kept, sha, {
          ...body,
          context: name,
          states: 'running success failed',
          limit: 'gitlab',
        });
      },
    ],
  ];
}

function opened(
  kept: Kept,
  { branch, base, title, body }: Readonly<Record<string, unknown>>,
  link: string,
): Answer {
  const files = kept.branches.get(String(branch));
  if (files === undefined) return refusal(422, 'head is no branch');
  kept.proposals.push({
    ...{ branch: String(branch), base: String(base), title: String(title), body: String(body) },
    files,
  });
  const url = `https://forge.example.com/pulls/${String(kept.proposals.length)}`;
  return { status: 201, body: { [link]: url } };
}

function githubComment({ author, ...comment }: TestComment): object {
  const type = author.endsWith('[bot]') ? 'Bot' : 'User';
  return { ...written(comment), user: { login: author, type } };
}

function gitlabNote({ author, ...comment }: TestComment): object {
  return {
    ...{ ...written(comment), system: false },
    author: { id: gitlabId(author), username: author },
  };
}

function written({ id, body, createdAt, updatedAt }: Omit<TestComment, 'author'>): object {
  const created = createdAt ?? '2026-10-01T10:00:00Z';
  return { id, body, created_at: created, updated_at: updatedAt ?? created };
}

/** Of an account on GitLab. */
export function gitlabId(name: string): number {
  return name === OUR_ACCOUNT ? 1 : 100 + name.length;
}

function post(kept: Kept, { body }: Asked['body'], kind: 'github' | 'gitlab'): Answer {
  const wrong = commentProblem(kept, body, kind);
  if (wrong) return wrong;
  const comment = { id: 1_000 + kept.comments.length, body: String(body), author: OUR_ACCOUNT };
  kept.comments.push(comment);
  return { status: 201, body: kind === 'github' ? githubComment(comment) : gitlabNote(comment) };
}

function edit(kept: Kept, id: number, { body }: Asked['body'], kind: 'github' | 'gitlab'): Answer {
  const comment = kept.comments.find((each) => each.id === id);
  if (!comment) return refusal(404, 'Not Found');
  const wrong = commentProblem(kept, body, kind);
  if (wrong) return wrong;
  comment.body = String(body);
  comment.updatedAt = '2026-10-01T11:00:00Z';
  return { status: 200, body: kind === 'github' ? githubComment(comment) : gitlabNote(comment) };
}

function commentProblem(kept: Kept, body: unknown, kind: 'github' | 'gitlab'): Answer | null {
  const most = MOST_COMMENT[kind];
  if (typeof body !== 'string' || body === '') return refusal(422, 'Body cannot be blank');
  if (body.length > most)
    return refusal(422, `Body is too long (maximum is ${String(most)} characters)`);
  return kept.commentsRefused ? refusal(422, 'Validation Failed') : null;
}

function status(kept: Kept, sha: string, body: Asked['body']): Answer {
  const { context, state, description, states, limit } = body;
  const most = MOST_DESCRIPTION[limit === 'gitlab' ? 'gitlab' : 'github'];
  if (typeof context !== 'string' || typeof state !== 'string')
    return refusal(422, 'Validation Failed');
  if (!String(states).split(' ').includes(state))
    return refusal(422, 'State is not included in the list');
  if (typeof description !== 'string' || description.length > most) {
    return refusal(422, `Description is too long (maximum is ${String(most)} characters)`);
  }
  const link = body['target_url'];
  kept.statuses.push({ sha, context, state, description, link });
  return { status: 201, body: {} };
}

function checkRun(kept: Kept, body: Asked['body'], code: number): Answer {
  const { annotations = [] } = body['output'] as { annotations?: TestAnnotation[] };
  if (annotations.length > MOST_ANNOTATIONS) return refusal(422, 'No more than 50 annotations');
  if (annotations.some(({ path, start_line: line }) => path === '' || line < 1)) {
    return refusal(422, 'Invalid annotation');
  }
  kept.annotations.push(...annotations);
  return { status: code, body: { id: 1 } };
}

/** Both forges give at most 100 at once, and say where the next ones are. */
function page({ query, path, headers }: Asked, all: readonly object[]): Answer {
  const size = Math.min(100, Number(query.get('per_page') ?? '30'));
  const number = Number(query.get('page') ?? '1');
  const pages = Math.max(1, Math.ceil(all.length / size));
  const next = new URLSearchParams(query);
  next.set('page', String(number + 1));
  const link = `<http://${headers.host ?? ''}${path}?${String(next)}>; rel="next"`;
  const links: Record<string, string> = {
    'x-page': String(number),
    'x-per-page': String(size),
    'x-total': String(all.length),
    'x-total-pages': String(pages),
    'x-next-page': number < pages ? String(number + 1) : '',
    ...(number < pages && { link }),
  };
  return { status: 200, body: all.slice((number - 1) * size, number * size), headers: links };
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } };
}

function routed(routes: readonly [string, RegExp, Route][], asked: Asked): Answer {
  for (const [method, pattern, route] of routes) {
    const match = pattern.exec(asked.path);
    if (match && method === asked.method) return route(asked, match);
  }
  return refusal(404, 'Not Found');
}

async function askedOf(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? '/', 'http://forge');
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: text === '' ? {} : (JSON.parse(text) as Asked['body']),
  };
}

function reply(response: ServerResponse, { status: code, body, headers }: Answer): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
