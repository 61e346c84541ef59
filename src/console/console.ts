import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiRequest } from '../service/http/endpoint.js';
import { scopeOf } from '../service/http/key-check.js';
import { badRequest, Problem, storeProblem } from '../service/http/problem.js';
import { decide } from '../service/routes/change-requests.js';
import { kill, restore } from '../service/routes/definition-changes.js';
import { DECISIONS, showRequest, showRequests } from './change-requests.js';
import { showFlag, showFlags, showSwitch } from './flags.js';
import { CONSOLE_POLICY, linkTo, refusalPage, signInPage, type Place } from './layout.js';
import { showLog } from './log.js';
import { showKeys, showSegments } from './segments.js';
import { SignIn, type Session, type SignInParts } from './sign-in.js';
import { visitOf, type Given, type Visit } from './visit.js';

/** The service answers 413 to larger forms. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * Pages for people: the content of the service, as far as the key of the session may see it; kills, restores and
 * decisions on change requests, under the rules of the interface. They need no script.
 */
export function addConsole(app: FastifyInstance, parts: SignInParts): void {
  const signIn = new SignIn(parts);
  addPages(app, parts, signIn);
  addSignIn(app, signIn);
  addDecision(app, parts, signIn);
  for (const [path, change] of [
    ['/console/kill', kill],
    ['/console/restore', restore],
  ] as const) {
    addForm(app, path, async (request, reply, given) => {
      const session = await signIn.require(request, given.get('token'));
      const asked = withReason(apiRequestOf(request, session, given, parts.clock()));
      await parts.store.write(async (db) => change(db, asked, parts.store));
      const query = new URLSearchParams({ ws: given.get('ws') ?? '', q: given.get('flag') ?? '' });
      return reply.redirect(`/?${query.toString()}`, 303);
    });
  }
}

/** Decides on a change request by the rules of its endpoint, and shows it again. */
function addDecision(app: FastifyInstance, parts: SignInParts, signIn: SignIn): void {
  addForm(app, '/console/decide', async (request, reply, given) => {
    const session = await signIn.require(request, given.get('token'));
    const [id, status] = [given.get('id') ?? '', given.get('status') ?? ''];
    if (!(status in DECISIONS)) throw badRequest('A decision is needed');
    const asked = withReason(apiRequestOf(request, session, given, parts.clock()));
    const decision = { ...asked, params: { changeRequest: id }, body: { status } };
    await parts.store.write(async (db) => decide(db, decision, parts.store));
    return reply.redirect(linkTo('/console/request', { ws: given.get('ws') ?? '', id }), 303);
  });
}

function withReason(asked: ApiRequest): ApiRequest {
  if (asked.caller.note.comment === null) throw badRequest('A reason is needed');
  return asked;
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

/** By path; each page belongs to one of the parts in the navigation. */
const PAGES: Readonly<
  Record<string, readonly [part: Place['page'], show: (visit: Visit) => Promise<string>]>
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
  for (const [path, [part, show]] of Object.entries(PAGES)) {
    app.get(path, { config: { isPublic: true } }, async (request, reply) =>
      refusing(reply, async () => {
        const session = await signIn.find(request);
        if (session === undefined) return send(reply, signInPage());
        const given = givenIn(request.url.split('?')[1]);
        const asked = { request: apiRequestOf(request, session, given, clock()), page: part };
        const page = store.read(async (db) => show(await visitOf(db, session, given, asked)));
        return send(reply, await page);
      }),
    );
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
    refusing(reply, async () => {
      return take(request, reply, givenIn(request.body));
    }),
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

/**
 * The request as an endpoint would see it, so that its rules and lookups apply here too: the parameters of the address
 * or form take the place of path parameters.
 */
function apiRequestOf(
  { id }: FastifyRequest,
  { key }: Session,
  given: Given,
  now: number,
): ApiRequest {
  const comment = given.get('reason')?.trim() ?? '';
  const params = { ws: 'ws', env: 'environment', flag: 'flag', segment: 'segment' };
  const named = Object.entries(params).map(([name, field]) => [name, given.get(field) ?? '']);
  return {
    params: Object.fromEntries(named) as Record<string, string>,
    query: {},
    body: undefined,
    caller: {
      keyId: key.id,
      keyName: key.name,
      scope: scopeOf(key),
      note: { title: TITLE, comment: comment === '' ? null : comment },
      transactionId: id,
      now,
    },
  };
}
