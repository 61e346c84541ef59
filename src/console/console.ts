import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from '../platform/html.js';
import type { ApiRequest } from '../service/http/endpoint.js';
import { scopeOf } from '../service/http/key-check.js';
import {
  activationAt,
  checkMayChangeWorkspace,
  definitionAt,
  environmentAt,
  isVisible,
  workspaceAt,
} from '../service/http/path-lookup.js';
import { badRequest, notFound, Problem, storeProblem } from '../service/http/problem.js';
import { kill, restore } from '../service/routes/definition-changes.js';
import { listAudit } from '../service/store/audit.js';
import { findChangeRequest, listChangeRequests } from '../service/store/change-requests.js';
import { findDefinition } from '../service/store/definitions.js';
import { listFlags } from '../service/store/flags.js';
import { findActivation, listSegments, searchKeys } from '../service/store/segments.js';
import type { Db, EnvironmentRow } from '../service/store/tables.js';
import { listEnvironments, listWorkspaces } from '../service/store/workspaces.js';
import { requestPage, requestsPage } from './change-requests.js';
import { CONSOLE_POLICY, refusalPage, signInPage, type Place } from './layout.js';
import { flagArticle, flagsPage, keysPage, logPage, segmentsPage, switchPage } from './pages.js';
import { SignIn, type Session, type SignInParts } from './sign-in.js';

/** Parameters of the address or of a form. If a name occurs twice, the first value counts. */
type Given = URLSearchParams;

const FLAGS_AT_ONCE = 25;
const SEGMENTS_AT_ONCE = 50;
const KEYS_AT_ONCE = 200;
const ENTRIES_AT_ONCE = 50;
const REQUESTS_AT_ONCE = 50;
/** The service answers 413 to larger forms. */
const MAX_FORM_BYTES = 16 * 1024;

interface Visit {
  readonly db: Db;
  readonly session: Session;
  readonly given: Given;
  /** The request in the form that the rules of the service check. */
  readonly request: ApiRequest;
}

/**
 * Pages for people: the content of the service, as far as the key of the session may see it, and two urgent writes,
 * under the rules of the interface. They need no script.
 */
export function addConsole(app: FastifyInstance, parts: SignInParts): void {
  const signIn = new SignIn(parts);
  addPages(app, parts, signIn);
  addSignIn(app, signIn);
  for (const [path, change] of [
    ['/console/kill', kill],
    ['/console/restore', restore],
  ] as const) {
    addForm(app, path, async (request, reply, given) => {
      const session = await signIn.require(request, given.get('token'));
      const asked = apiRequestOf(request, session, given, parts.clock());
      if (asked.caller.note.comment === null) throw badRequest('A reason is needed');
      await parts.store.write(async (db) => change(db, asked, parts.store));
      const query = new URLSearchParams({ ws: given.get('ws') ?? '', q: given.get('flag') ?? '' });
      return reply.redirect(`/?${query.toString()}`, 303);
    });
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

/** Path → page; each page reads one consistent state of the store. */
const PAGES: Readonly<Record<string, (visit: Visit) => Promise<string>>> = {
  '/': showFlags,
  '/console/segments': showSegments,
  '/console/keys': showKeys,
  '/console/requests': showRequests,
  '/console/request': showRequest,
  '/console/log': showLog,
  '/console/switch': showSwitch,
};

/** Without a session, every page is the sign-in form, so that it reveals nothing about what exists. */
function addPages(app: FastifyInstance, { store, clock }: SignInParts, signIn: SignIn): void {
  for (const [path, show] of Object.entries(PAGES)) {
    app.get(path, { config: { isPublic: true } }, async (request, reply) =>
      refusing(reply, async () => {
        const session = await signIn.find(request);
        if (session === undefined) return send(reply, signInPage());
        const given = givenIn(request.url.split('?')[1]);
        const asked = apiRequestOf(request, session, given, clock());
        const page = await store.read(async (db) => show({ db, session, given, request: asked }));
        return send(reply, page);
      }),
    );
  }
}

/** @throws Problem (400) the text holds the null character, which PostgreSQL cannot hold. */
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

/** The workspace of the address, or the first that the key sees. @throws Problem (404) the key sees none. */
async function placeOf(
  { db, session, given, request }: Visit,
  page: Place['page'],
): Promise<Place> {
  const workspaces = await listWorkspaces(db, { ids: request.caller.scope.workspaces });
  const [first] = workspaces;
  if (first === undefined) throw notFound('workspace', 'of this key');
  const workspace = given.get('ws') ? await workspaceAt(db, request) : first;
  return { session, workspaces, workspace, page };
}

/** The environments that the key sees, in the order of the interface. */
async function environmentsOf(
  { db, request }: Visit,
  { workspace }: Place,
): Promise<EnvironmentRow[]> {
  const { environments } = request.caller.scope;
  return (await listEnvironments(db, workspace.id)).filter(({ id }) => isVisible(environments, id));
}

/** A whole number from 0 on; anything else counts as 0. */
function wholeNumber(text: string | null): number {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) : 0;
}

/** Shows twenty-five flags, each with the definitions that the key sees. */
async function showFlags(visit: Visit): Promise<string> {
  const { db, given } = visit;
  const place = await placeOf(visit, 'flags');
  const environments = await environmentsOf(visit, place);
  const q = given.get('q') ?? '';
  const page = { offset: wholeNumber(given.get('offset')), limit: FLAGS_AT_ONCE };
  const filter = { nameContains: q, tags: [] };
  const { flags, totalCount } = await listFlags(db, place.workspace.id, filter, page);
  const articles: Html[] = [];
  // One after the other: a transaction has one connection.
  for (const flag of flags) {
    const cells = [];
    for (const environment of environments) {
      const definition = (await findDefinition(db, environment.id, flag.name)) ?? null;
      cells.push({ environment, definition });
    }
    articles.push(flagArticle({ flag, cells }, place.workspace.id));
    // A definition may be a megabyte, so other requests get their turn between two flags.
    await letOthersRun();
  }
  return flagsPage(place, articles, { ...page, q, totalCount });
}

async function showSwitch(visit: Visit): Promise<string> {
  const { db, request } = visit;
  const place = await placeOf(visit, 'flags');
  const environment = await environmentAt(db, request, place.workspace);
  return switchPage(place, await definitionAt(db, request, environment));
}

async function showSegments(visit: Visit): Promise<string> {
  const { db, given } = visit;
  const place = await placeOf(visit, 'segments');
  const environments = await environmentsOf(visit, place);
  const page = { offset: wholeNumber(given.get('offset')), limit: SEGMENTS_AT_ONCE };
  const { segments, totalCount } = await listSegments(db, place.workspace.id, page);
  const rows = [];
  for (const segment of segments) {
    const active = [];
    for (const { id } of environments) {
      const activation = await findActivation(db, id, segment.name);
      if (activation !== undefined) active.push(activation);
    }
    rows.push({ segment, active });
  }
  return segmentsPage(place, rows, { ...page, q: '', totalCount });
}

/**
 * Shows the keys after the last one of the page before, so that the last page of a large segment is as fast as the
 * first.
 */
async function showKeys(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'segments');
  const environment = await environmentAt(db, request, place.workspace);
  const activation = await activationAt(db, request, environment);
  const q = given.get('q') ?? '';
  const wanted = { contains: q, after: given.get('after') ?? '', limit: KEYS_AT_ONCE + 1 };
  const found = await searchKeys(db, activation.activation_id, wanted);
  const keys = found.slice(0, KEYS_AT_ONCE);
  const next = found.length > KEYS_AT_ONCE ? (keys.at(-1) ?? null) : null;
  return keysPage(place, activation, { q, keys, next });
}

async function showRequests(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'requests');
  const before = wholeNumber(given.get('before'));
  const { environments } = request.caller.scope;
  const filter = { workspaces: [place.workspace.id], environments, ...(before > 0 && { before }) };
  const found = await listChangeRequests(db, filter, REQUESTS_AT_ONCE + 1);
  const requests = found.slice(0, REQUESTS_AT_ONCE);
  const older = found.length > REQUESTS_AT_ONCE ? (requests.at(-1)?.position ?? null) : null;
  return requestsPage(place, requests, older);
}

async function showRequest(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'requests');
  const id = given.get('id') ?? '';
  const found = await findChangeRequest(db, id);
  const isHere =
    found?.workspace_id === place.workspace.id &&
    isVisible(request.caller.scope.environments, found.environment_id);
  if (found === undefined || !isHere) throw notFound('change request', id);
  return requestPage(place, found, await findDefinition(db, found.environment_id, found.name));
}

async function showLog(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'log');
  // As in the interface: the log contains changes in all environments.
  checkMayChangeWorkspace(request);
  const object = given.get('object') ?? '';
  const [kind = '', ...name] = object.split('/');
  const before = wholeNumber(given.get('before'));
  const filter = {
    workspaceId: place.workspace.id,
    ...(kind !== '' && name.length > 0 && { kind }),
    ...(object !== '' && { name: name.length > 0 ? name.join('/') : kind }),
    ...(before > 0 && { before }),
  };
  const page = { offset: 0, limit: ENTRIES_AT_ONCE };
  const { entries, totalCount } = await listAudit(db, filter, page);
  const older = totalCount > entries.length ? (entries.at(-1)?.id ?? null) : null;
  return logPage(place, entries, { object, older });
}
