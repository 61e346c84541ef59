import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import Fastify, { type FastifyRequest } from 'fastify';

/**
 * A stand-in for the API of a forge, over real HTTP: it keeps what it is told, and refuses what the real one refuses.
 * A test may set and change all of it while it runs.
 */
export interface TestForge extends Behaviour {
  readonly kind: 'github' | 'gitlab';
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
  /** Accounts that were blocked. */
  readonly blocked: Set<string>;
  /** On GitLab, who merges into protected branches, by their name or pattern. */
  readonly mergers: Map<string, readonly TestMergeLevel[]>;
  /**
   * When the pull request was pushed to and merged, ISO 8601; null: the forge does not say, and it is not merged. `base`:
   * where it parted. `head`: its newest commit; absent: the last one that got a status.
   */
  readonly pull: {
    pushedAt: string | null;
    /** What GitHub answers where it does not date the push. */
    undated: number;
    mergedAt: string | null;
    base?: string;
    head?: string;
  };
  /** Branches that were made, without a pull request yet, with their files: text, or null where it is removed. */
  readonly branches: Map<string, TestProposal['files']>;
  /** Pull requests that were opened. */
  readonly proposals: TestProposal[];
  /** `METHOD path status`, without query. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** How it answers. */
interface Behaviour {
  /** So many further requests are answered that there were too many. */
  limited: number;
  /** How that is answered. */
  limit: Limit;
  /** So many further statuses are refused because another one is being set. */
  busy: number;
  /** So many further answers break off in the middle. */
  cut: number;
  /** So many further requests are done, but a gateway answers that it got no answer. */
  hidden: number;
  /** No request is answered. */
  isSilent: boolean;
  /** Where all requests are sent on to; empty: it answers them itself. */
  sentOn: string;
  /** The token may read alone, as that of a fork. */
  isReadOnly: boolean;
  /** So many further readings of the comments are answered only when the last of them has come. */
  together: number;
  /** Requests for these are refused. */
  refused: 'comments' | 'statuses' | 'proposals' | null;
}

interface Limit {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface TestMergeLevel {
  readonly access_level: number;
  readonly user_id?: number;
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
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** With the query. */
  readonly url: string;
  readonly host: string;
}

type Received = Omit<Asked, 'body' | 'url'> & Partial<Pick<Asked, 'body'>>;

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `METHOD /path` → what it is answered. */
type Routes = Readonly<Record<string, (asked: Asked) => Answer>>;

/** The newest commit of the pull request. */
const HEAD = 'a'.repeat(40);
const TOKEN = 'forge-token-of-a-test';
const AT_ONCE: Limit = { status: 429, headers: { 'retry-after': '0' } };
/** What GitHub shows of who writes with the token of a workflow. */
export const OUR_ACCOUNT = 'github-actions[bot]';

export async function startTestForge(kind: TestForge['kind']): Promise<TestForge> {
  const app = Fastify({ routerOptions: { maxParamLength: 200 } });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, text, done) => {
    done(null, text === '' ? undefined : JSON.parse(String(text)));
  });
  const forge: TestForge = {
    ...{ kind, url: '', token: TOKEN, requests: [] },
    ...{ comments: [], statuses: [], annotations: [], proposals: [] },
    ...{ branches: new Map(), members: new Map(), mergers: new Map(), blocked: new Set() },
    pull: { pushedAt: '2026-10-01T09:00:00Z', undated: 404, mergedAt: null },
    ...{ limited: 0, limit: AT_ONCE, busy: 0, cut: 0, hidden: 0, isSilent: false, sentOn: '' },
    ...{ isReadOnly: false, together: 0, refused: null },
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
  app.addHook('onRequest', async (request, reply) => {
    if (forge.isSilent) await new Promise(() => undefined);
    const answer = policed(request, forge);
    if (answer !== null)
      return reply
        .code(answer.status)
        .headers(answer.headers ?? {})
        .send(answer.body);
  });
  const held: (() => void)[] = [];
  app.addHook('onSend', ({ method, url }, reply, payload, done) => {
    forge.requests.push(`${method} ${url.split('?')[0] ?? ''} ${String(reply.statusCode)}`);
    forge.hidden -= 1;
    if (forge.hidden >= 0) void reply.code(502);
    forge.cut -= 1;
    const answer = (): void => {
      done(null, forge.cut < 0 ? payload : Readable.from(halfOf(String(payload))));
    };
    if (forge.together === 0 || method !== 'GET' || !/\/(?:comments|notes)\b/.test(url)) {
      answer();
      return;
    }
    held.push(answer);
    forge.together -= 1;
    if (forge.together === 0) for (const each of held.splice(0)) each();
  });
  app.setNotFoundHandler(async (_, reply) => reply.code(404).send(NOT_FOUND.body));
  const routes = kind === 'github' ? githubRoutes(forge) : gitlabRoutes(forge);
  for (const [line, route] of Object.entries(routes)) {
    const [method = '', url = ''] = line.split(' ');
    app.route({
      ...{ method, url },
      handler: async (request, reply) => {
        const { params, query, body = {}, host } = request as unknown as Received;
        const { status, ...answer } = route({ params, query, body, host, url: request.url });
        return reply
          .code(status)
          .headers(answer.headers ?? {})
          .send(answer.body);
      },
    });
  }
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return Object.assign(forge, { url: kind === 'github' ? origin : `${origin}/api/v4` });
}

async function* halfOf(text: string): AsyncGenerator<string> {
  yield text.slice(0, text.length / 2);
  // The head and the half are on their way before the connection ends.
  await setImmediate();
  throw new Error('cut');
}

function policed({ method, url, headers }: FastifyRequest, forge: Behaviour): Answer | null {
  if (forge.sentOn !== '') {
    return { status: 307, body: {}, headers: { location: forge.sentOn + url } };
  }
  const given = headers.authorization ?? headers['private-token'] ?? '';
  if (!String(given).endsWith(TOKEN)) return refusal(401, 'Bad credentials');
  if (forge.limited > 0) {
    forge.limited -= 1;
    const { status, headers: told } = forge.limit;
    return { ...refusal(status, 'You have exceeded a secondary rate limit'), headers: told };
  }
  if (forge.isReadOnly && method !== 'GET' && url !== '/graphql') {
    return refusal(403, 'Resource not accessible by integration');
  }
  return null;
}

const MOST_COMMENT = { github: 65_536, gitlab: 1_000_000 };
const MOST_DESCRIPTION = { github: 140, gitlab: 255 };
const STATES = {
  github: ['error', 'failure', 'pending', 'success'],
  gitlab: ['running', 'success', 'failed'],
};
const MOST_ANNOTATIONS = 50;

const ok = (body: unknown, status = 200): Answer => ({ status, body });

function githubRoutes(forge: TestForge): Routes {
  const repo = '/repos/acme/flags';
  let files: Record<string, string | null> = {};
  const sha = { main: 'b'.repeat(40), tree: 'c'.repeat(40), made: 'd'.repeat(40) };
  return {
    [`GET ${repo}`]: () => ok({ default_branch: 'main' }),
    [`GET ${repo}/git/ref/*`]: ({ params }) => {
      const name = params['*']?.replace('heads/', '') ?? '';
      const isThere = name === 'main' || forge.branches.has(name);
      return isThere ? ok({ object: { sha: sha.main } }) : NOT_FOUND;
    },
    [`GET ${repo}/git/commits/${sha.main}`]: () => ok({ tree: { sha: sha.tree } }),
    [`POST ${repo}/git/trees`]: ({ body }) => {
      if (body['base_tree'] !== sha.tree) return refusal(422, 'tree.sha is not a tree');
      const entries = body['tree'] as { path: string; sha?: null; content?: string }[];
      files = Object.fromEntries(entries.map(({ path, content = null }) => [path, content]));
      return ok({ sha: sha.made }, 201);
    },
    [`POST ${repo}/git/commits`]: () => ok({ sha: sha.made }, 201),
    [`POST ${repo}/git/refs`]: ({ body }) => {
      forge.branches.set(String(body['ref']).replace('refs/heads/', ''), files);
      return ok({}, 201);
    },
    [`GET ${repo}/pulls`]: ({ query }) =>
      ok(proposedFrom(forge, query['state'] === 'all' ? query['head']?.replace('acme:', '') : '')),
    [`POST ${repo}/pulls`]: ({ body }) =>
      opened(forge, { ...body, branch: body['head'] }, 'html_url'),
    // The token of a workflow may not ask who it is, but learns it as the viewer of a query.
    'GET /user': () => refusal(403, 'Resource not accessible by integration'),
    'POST /graphql': () => ok({ data: { viewer: { login: OUR_ACCOUNT } } }),
    [`GET ${repo}/issues/7/comments`]: (asked) => page(asked, forge.comments.map(githubComment)),
    [`POST ${repo}/issues/7/comments`]: (asked) => post(forge, asked),
    [`PATCH ${repo}/issues/comments/:id`]: (asked) => edit(forge, asked),
    [`DELETE ${repo}/issues/comments/:id`]: (asked) => remove(forge, asked),
    [`POST ${repo}/statuses/:sha`]: ({ body, params }) => status(forge, params['sha'], body),
    [`POST ${repo}/check-runs`]: ({ body }) => checkRun(forge, body, 201),
    [`PATCH ${repo}/check-runs/1`]: ({ body }) => checkRun(forge, body, 200),
    [`GET ${repo}/pulls/7`]: () => {
      const head = {
        sha: headOf(forge),
        ref: 'ramp',
        repo: { name: 'flags', owner: { login: 'acme' } },
      };
      return ok({ number: 7, head, merged_at: forge.pull.mergedAt });
    },
    [`GET ${repo}/activity`]: ({ query }) => {
      const { pushedAt: timestamp } = forge.pull;
      if (timestamp === null) return refusal(forge.pull.undated, 'No activity');
      const push = { activity_type: 'push', ref: query['ref'] ?? null, timestamp };
      return ok([{ ...push, id: 1, before: '1'.repeat(40), after: headOf(forge) }]);
    },
    [`GET ${repo}/collaborators/:name/permission`]: ({ params }) => {
      const permission = forge.members.get(params['name'] ?? '');
      return permission === undefined ? NOT_FOUND : ok({ permission });
    },
  };
}

function gitlabRoutes(forge: TestForge): Routes {
  const [numbered, named] = ['/api/v4/projects/42', '/api/v4/projects/:project'];
  const request = `${numbered}/merge_requests/7`;
  return {
    [`GET ${named}`]: () => ok({ default_branch: 'main' }),
    [`GET ${named}/repository/branches/*`]: ({ params }) => {
      const name = params['*'] ?? '';
      return forge.branches.has(name) ? ok({ name }) : NOT_FOUND;
    },
    [`POST ${named}/repository/commits`]: ({ body }) => {
      const actions = body['actions'] as { file_path: string; content?: string }[];
      const files = actions.map((each) => [each.file_path, each.content ?? null] as const);
      forge.branches.set(String(body['branch']), Object.fromEntries(files));
      return ok({ id: HEAD }, 201);
    },
    [`GET ${named}/merge_requests`]: ({ query }) => ok(proposedFrom(forge, query['source_branch'])),
    [`POST ${named}/merge_requests`]: ({ body }) => {
      const { source_branch: branch, target_branch: base, title, description } = body;
      return opened(forge, { branch, base, title, body: description }, 'web_url');
    },
    'GET /api/v4/user': () => ok({ id: 1, username: OUR_ACCOUNT }),
    'GET /api/v4/users/:id': ({ params }) => {
      const named = (name: string): boolean => gitlabId(name) === Number(params['id']);
      const isBlocked = [...forge.blocked].some(named);
      return ok({ bot: named(OUR_ACCOUNT), state: isBlocked ? 'blocked' : 'active' });
    },
    [`GET ${request}/notes`]: (asked) => page(asked, forge.comments.map(gitlabNote)),
    [`POST ${request}/notes`]: (asked) => post(forge, asked),
    [`PUT ${request}/notes/:id`]: (asked) => edit(forge, asked),
    [`DELETE ${request}/notes/:id`]: (asked) => remove(forge, asked),
    [`GET ${request}`]: () => {
      const merged = { state: 'merged', diff_refs: { base_sha: forge.pull.base } };
      return ok({ iid: 7, target_branch: 'main', sha: headOf(forge), ...merged });
    },
    [`GET ${request}/versions`]: () => {
      const { pushedAt } = forge.pull;
      const first = { id: 1, head_commit_sha: HEAD, created_at: '2026-09-01T09:00:00Z' };
      return ok(pushedAt === null ? [] : [{ ...first, id: 2, created_at: pushedAt }, first]);
    },
    [`GET ${numbered}/protected_branches`]: (asked) =>
      page(
        asked,
        [...forge.mergers].map(([name, levels]) => ({ name, merge_access_levels: levels })),
      ),
    [`GET ${numbered}/members/all/:id`]: ({ params }) => {
      const id = Number(params['id']);
      const [, level] = [...forge.members].find(([name]) => gitlabId(name) === id) ?? [];
      return level === undefined ? NOT_FOUND : ok({ id, access_level: level });
    },
    [`POST ${named}/statuses/:sha`]: ({ body, params }) => {
      const { name: context, state } = body;
      const last = forge.statuses.findLast(
        (each) => each.sha === params['sha'] && each.context === context,
      );
      if (last?.state === state && state === 'running') {
        return refusal(400, 'Cannot transition status via :run from :running');
      }
      return status(forge, params['sha'], { ...body, context });
    },
  };
}

function headOf({ pull, statuses }: TestForge): string {
  return pull.head ?? statuses.at(-1)?.sha ?? HEAD;
}

function proposedFrom({ proposals }: TestForge, branch = ''): object[] {
  return proposals.filter((each) => each.branch === branch).map(({ title }) => ({ title }));
}

function opened(
  forge: TestForge,
  { branch, base, title, body }: Readonly<Record<string, unknown>>,
  link: string,
): Answer {
  const files = forge.branches.get(String(branch));
  if (files === undefined) return refusal(422, 'head is no branch');
  if (forge.refused === 'proposals') return refusal(403, 'Not permitted to create pull requests');
  forge.proposals.push({
    ...{ branch: String(branch), base: String(base), title: String(title), body: String(body) },
    files,
  });
  const url = `https://forge.example.com/pulls/${String(forge.proposals.length)}`;
  return ok({ [link]: url }, 201);
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

function post(forge: TestForge, { body }: Asked): Answer {
  const wrong = commentProblem(forge, body);
  if (wrong) return wrong;
  const id = 1 + Math.max(1_000, ...forge.comments.map((each) => each.id));
  const comment = { id, body: String(body['body']), author: OUR_ACCOUNT };
  forge.comments.push(comment);
  return ok(shown(forge, comment), 201);
}

function edit(forge: TestForge, { body, params }: Asked): Answer {
  const comment = forge.comments.find(({ id }) => id === Number(params['id']));
  if (!comment) return NOT_FOUND;
  const wrong = commentProblem(forge, body);
  if (wrong) return wrong;
  comment.body = String(body['body']);
  comment.updatedAt = '2026-10-01T11:00:00Z';
  return ok(shown(forge, comment));
}

function shown({ kind }: TestForge, comment: TestComment): object {
  return kind === 'github' ? githubComment(comment) : gitlabNote(comment);
}

function remove({ comments }: TestForge, { params }: Asked): Answer {
  const at = comments.findIndex(({ id }) => id === Number(params['id']));
  if (at < 0) return NOT_FOUND;
  comments.splice(at, 1);
  return ok(undefined, 204);
}

function commentProblem({ kind, refused }: TestForge, { body }: Asked['body']): Answer | null {
  const most = MOST_COMMENT[kind];
  if (typeof body !== 'string' || body === '') return refusal(422, 'Body cannot be blank');
  if (body.length > most)
    return refusal(422, `Body is too long (maximum is ${String(most)} characters)`);
  return refused === 'comments' ? refusal(422, 'Validation Failed') : null;
}

function status(forge: TestForge, sha = '', body: Asked['body'] = {}): Answer {
  const { context, state, description, target_url: link } = body;
  if (forge.refused === 'statuses') return refusal(403, 'Resource not accessible');
  forge.busy -= 1;
  if (forge.busy >= 0) return refusal(409, 'Another update to this commit status is in progress');
  const most = MOST_DESCRIPTION[forge.kind];
  if (typeof context !== 'string' || typeof state !== 'string')
    return refusal(422, 'Validation Failed');
  if (!STATES[forge.kind].includes(state)) return refusal(422, 'State is not included in the list');
  if (typeof description !== 'string' || description.length > most) {
    return refusal(422, `Description is too long (maximum is ${String(most)} characters)`);
  }
  forge.statuses.push({ sha, context, state, description, link });
  return ok({}, 201);
}

function checkRun(forge: TestForge, body: Asked['body'], code: number): Answer {
  const { annotations = [] } = body['output'] as { annotations?: TestAnnotation[] };
  if (annotations.length > MOST_ANNOTATIONS) return refusal(422, 'No more than 50 annotations');
  if (annotations.some(({ path, start_line: line }) => path === '' || line < 1)) {
    return refusal(422, 'Invalid annotation');
  }
  forge.annotations.push(...annotations);
  return ok({ id: 1 }, code);
}

/** Both forges give at most 100 at once, and say where the next ones are. */
function page({ query, url, host }: Asked, all: readonly object[]): Answer {
  const size = Math.min(100, Number(query['per_page'] ?? '30'));
  const number = Number(query['page'] ?? '1');
  const pages = Math.max(1, Math.ceil(all.length / size));
  const next = new URL(url, `http://${host}`);
  next.searchParams.set('page', String(number + 1));
  const headers: Record<string, string> = {
    'x-page': String(number),
    'x-per-page': String(size),
    'x-total': String(all.length),
    'x-total-pages': String(pages),
    'x-next-page': number < pages ? String(number + 1) : '',
    ...(number < pages && { link: `<${next.href}>; rel="next"` }),
  };
  return { ...ok(all.slice((number - 1) * size, number * size)), headers };
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } };
}

const NOT_FOUND = refusal(404, 'Not Found');

/** The variables of a job on GitHub. @param folder where the file of the event is written. */
export function githubJob({ url, token }: TestForge, folder: string, event: object) {
  const file = join(folder, 'event.json');
  writeFileSync(file, JSON.stringify(event));
  return {
    ...{ GITHUB_ACTIONS: 'true', GITHUB_API_URL: url, GITHUB_REPOSITORY: 'acme/flags' },
    ...{ GITHUB_EVENT_PATH: file, GITHUB_BASE_REF: 'main', GITHUB_TOKEN: token },
  };
}
