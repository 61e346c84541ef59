import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiRequest, Step } from '../service/http/endpoint.js';
import { callerWith } from '../service/http/key-check.js';
import { badRequest, Problem, storeProblem } from '../service/http/problem.js';
import { decide } from '../service/routes/decisions.js';
import { kill, restore } from '../service/routes/definitions.js';
import { DECISIONS, showRequest, showRequests } from './change-requests.js';
import { showFlag, showFlags, showKeys, showSegments, showSwitch } from './contents.js';
import {
  CONSOLE_POLICY,
  linkTo,
  refusalPage,
  signInPage,
  visitOf,
  type Given,
  type Visit,
} from './layout.js';
import { showLog } from './log.js';
import { SignIn, type Session, type SignInParts } from './sign-in.js';

/** Enough for a reason of 2,000 characters, each of nine bytes as a form writes it. Larger forms are 413. */
const MAX_FORM_BYTES = 32 * 1024;

/**
 * Pages for people: the content of the service, as far as the key of the session may see it; kills, restores and
 * decisions on change requests, under the rules of the interface. They need no script.
 */
export function addConsole(app: FastifyInstance, parts: SignInParts): void {
  const signIn = new SignIn(parts);
  addPages(app, parts, signIn);
  addSignIn(app, signIn);
  addChanges(app, parts, signIn);
}

/** By path; each page belongs to one of the parts in the navigation. */
const PAGES: Readonly<
  Record<string, readonly [part: Visit['page'], show: (visit: Visit) => Promise<string>]>
> = {
  '/': ['flags', showFlags],
  '/console/flag': ['flags', showFlag],
  '/console/segments': ['segments', showSegments],
  '/console/keys': ['segments', showKeys],
  '/console/requests': ['requests', showRequests],
  '/console/request': ['requests', showRequest],
  '/console/log': ['log', showLog],
  '/console/switch': ['flags', showSwitch],
};

/** Without a session, every page is the sign-in form, so that it reveals nothing about what exists. */
function addPages(app: FastifyInstance, { store, clock }: SignInParts, signIn: SignIn): void {
  for (const [path, [page, show]] of Object.entries(PAGES)) {
    app.get(path, { config: { isPublic: true } }, async (http, reply) =>
      refusing(reply, async () => {
        const session = await signIn.find(http);
        if (session === undefined) return send(reply, signInPage());
        const given = givenIn(http.url.split('?')[1]);
        const request = apiRequestOf(http, session, given, clock());
        const text = store.read(async (db) =>
          show(await visitOf({ db, session, given, request, page })),
        );
        return send(reply, await text);
      }),
    );
  }
}

/** The form itself shows why a key was refused, with the status of the refusal. */
function addSignIn(app: FastifyInstance, signIn: SignIn): void {
  addForm(app, '/console/sign-in', async (request, reply, given) => {
    try {
      await signIn.begin(request, reply, given.get('key') ?? '');
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      return send(reply.code(error.status), signInPage(error.message));
    }
    return reply.redirect('/', 303);
  });
  addForm(app, '/console/sign-out', async (request, reply, given) => {
    await signIn.require(request, given.get('token'));
    await signIn.end(request, reply);
    return reply.redirect('/', 303);
  });
}

interface Change {
  /** The step of the endpoint that makes the change. */
  readonly step: Step;
  readonly body?: (given: Given) => unknown;
  /** The page that the browser loads then. */
  readonly next: (given: Given) => string;
}

const flagPage: Change['next'] = (given) =>
  linkTo('/', { ws: given.get('ws') ?? '', q: given.get('flag') ?? '' });

const CHANGES: Readonly<Record<string, Change>> = {
  '/console/kill': { step: kill, next: flagPage },
  '/console/restore': { step: restore, next: flagPage },
  '/console/decide': {
    step: decide,
    body: (given) => {
      const status = given.get('status') ?? '';
      if (!Object.hasOwn(DECISIONS, status)) throw badRequest('A decision is needed');
      return { status };
    },
    next: (given) =>
      linkTo('/console/request', { ws: given.get('ws') ?? '', id: given.get('id') ?? '' }),
  },
};

function addChanges(app: FastifyInstance, { store, clock }: SignInParts, signIn: SignIn): void {
  for (const [path, { step, body, next }] of Object.entries(CHANGES)) {
    addForm(app, path, async (http, reply, given) => {
      const session = await signIn.require(http, given.get('token'));
      const request = { ...apiRequestOf(http, session, given, clock()), body: body?.(given) };
      if (request.caller.note.comment === null) throw badRequest('A reason is needed');
      await store.write(async (db) => step(db, request));
      return reply.redirect(next(given), 303);
    });
  }
}

function givenIn(text: unknown): Given {
  const given = new URLSearchParams(typeof text === 'string' ? text : '');
  if (given.toString().includes('%00')) throw badRequest('Nothing may hold a null character');
  return given;
}

/** A form as browsers send it. Forms use POST, so that following an address never changes anything. */
function addForm(
  app: FastifyInstance,
  path: string,
  take: (request: FastifyRequest, reply: FastifyReply, given: Given) => Promise<FastifyReply>,
): void {
  const config = { isPublic: true, takesText: true };
  app.post(path, { config, bodyLimit: MAX_FORM_BYTES }, async (request, reply) =>
    refusing(reply, async () => take(request, reply, givenIn(request.body))),
  );
}

/** Shows a refusal as a page. Faults of the service itself are rethrown for the log. */
async function refusing(
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work();
  } catch (error) {
    const problem = storeProblem(error) ?? error;
    if (!(problem instanceof Problem)) throw error;
    return send(reply.code(problem.status), refusalPage(problem.message));
  }
}

/** Pages depend on the moment and the key, so neither browsers nor proxies may cache them. */
function send(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .headers({
      'content-security-policy': CONSOLE_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(page);
}

/** Title of the console's changes in the audit log; the reason that the user gives becomes the comment. */
const TITLE = 'By hand in the console';

/** Parameter of a path → that of the console. */
const PARAMETERS = {
  ws: 'ws',
  env: 'environment',
  flag: 'flag',
  segment: 'segment',
  changeRequest: 'id',
};

/** The request as an endpoint would see it, so that its rules and lookups apply here too. */
function apiRequestOf(
  { id }: FastifyRequest,
  { key }: Session,
  given: Given,
  now: number,
): ApiRequest {
  const params = Object.entries(PARAMETERS).map(([name, own]) => [name, given.get(own) ?? '']);
  const comment = given.get('reason')?.trim() ?? '';
  const note = { title: TITLE, comment: comment === '' ? null : comment };
  return {
    params: Object.fromEntries(params) as Record<string, string>,
    query: {},
    body: undefined,
    caller: callerWith(key, { note, transactionId: id, now }),
  };
}
