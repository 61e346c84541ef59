import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddRoutes, AppOptions } from '../service/http/app.js';
import { isSameKey, keyFromHeaders } from '../service/http/key-check.js';
import { badRequest, forbidden, notFound, Problem, unauthorised } from '../service/http/problem.js';
import { environmentsCalled } from '../service/store/workspaces.js';
import {
  storedEnvironment,
  type Application,
  type FindApplication,
  type ServedEnvironment,
} from './environment.js';
import { addOfrepRoutes } from './ofrep.js';

type ApplicationParts = Pick<AppOptions, 'store' | 'keys' | 'cache'>;

/** Reports of one SDK, which are dropped; larger ones are refused (413). */
const MAX_REPORT_BYTES = 8 * 1024 * 1024;
/** Specs of flags that this service writes. A newer SDK asks again with an older one. */
const SPECS = new Set(['1.0', '1.1', '1.2', '1.3']);
/** The oldest spec that has rule-based segments, and so a member for either kind of change. */
const WITH_RULE_BASED = '1.3';

export function addApplications(app: FastifyInstance, parts: ApplicationParts): void {
  const environments = new Map<string, ServedEnvironment>();
  const find: FindApplication = async (request) => {
    const key = await parts.keys.byText(keyFromHeaders(request.headers), 'application');
    const [environmentId = ''] = JSON.parse(key.environments_json ?? '[]') as string[];
    const known = environments.get(environmentId);
    const environment = known ?? (await environmentCalled(parts, environmentId));
    environments.set(environmentId, environment);
    return { environment, type: key.key_type };
  };
  addRoutes(app, find);
}

/** Serves one environment to whoever has a key. @param key a text of any form. */
export function previewOf(environment: ServedEnvironment, key: string): AddRoutes {
  const hash = createHash('sha256').update(key).digest('hex');
  return (app) => {
    addRoutes(app, async (request) => {
      const given = keyFromHeaders(request.headers);
      if (given === undefined || !isSameKey(given, hash)) throw unauthorised();
      return Promise.resolve({ environment, type: 'server_side' });
    });
  };
}

function addRoutes(app: FastifyInstance, find: FindApplication): void {
  for (const [below, add] of [
    ['/sdk', addSdkRoutes],
    ['/ofrep', addOfrepRoutes],
  ] as const) {
    void app.register((scope, _options, done) => {
      openToPages(scope, below);
      add(scope, find);
      done();
    });
  }
}

/** Lets pages of any site ask: the key is in a header, which a page has to know, and in no cookie. */
function openToPages(scope: FastifyInstance, below: string): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    void reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'etag',
    });
    done();
  });
  scope.options(`${below}/*`, { config: { isPublic: true } }, async (request, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers':
          request.headers['access-control-request-headers'] ?? 'authorization, content-type',
        'access-control-max-age': '600',
      })
      .send(),
  );
}

/** @throws Problem (404) the environment was deleted at this moment. */
async function environmentCalled(
  parts: ApplicationParts,
  environmentId: string,
): Promise<ServedEnvironment> {
  const [found] = await parts.store.read(async (db) => environmentsCalled(db, environmentId));
  if (found?.id !== environmentId) throw notFound('environment', environmentId);
  return storedEnvironment(parts, { workspaceId: found.workspace_id, environmentId });
}

type Answer = (application: Application, request: FastifyRequest) => Promise<object | string>;

/** Some SDKs add `/api` to the address that they are given. */
function addSdkRoutes(scope: FastifyInstance, find: FindApplication): void {
  dropBodies(scope);
  for (const prefix of ['/sdk', '/sdk/api']) {
    for (const [path, answer] of Object.entries(QUESTIONS)) {
      scope.get(`${prefix}${path}`, { config: { isPublic: true } }, async (request, reply) =>
        send(reply, await answer(await find(request), request)),
      );
    }
    for (const path of REPORTS) {
      const options = { config: { isPublic: true }, bodyLimit: MAX_REPORT_BYTES };
      scope.post(`${prefix}${path}`, options, async (request, reply) => {
        await find(request);
        return send(reply, {});
      });
    }
  }
}

function send(reply: FastifyReply, answer: object | string): FastifyReply {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Reads what is sent to its end and forgets it, whatever its type. */
function dropBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => {
    let size = 0;
    payload.on('data', (part: Buffer) => {
      size += part.length;
      if (size > MAX_REPORT_BYTES) payload.destroy(new Problem(413, 'The report is too large'));
    });
    payload.on('error', done);
    payload.on('end', () => {
      done(null);
    });
  });
}

const REPORTS = [
  '/events/bulk',
  '/testImpressions/bulk',
  '/testImpressions/count',
  '/v1/metrics/:kind',
  '/v1/keys/:kind',
];

const QUESTIONS: Readonly<Record<string, Answer>> = {
  '/splitChanges': async ({ environment }, { query }) => {
    const { s: spec = '1.0', since: known, rbSince } = query as Readonly<Record<string, unknown>>;
    if (typeof spec !== 'string' || !SPECS.has(spec)) {
      throw badRequest(`The spec ${String(spec)} of flags is not known`);
    }
    const since = numberIn(known);
    const list = await environment.flags();
    const { till } = list;
    const changed = list.changedSince(since);
    if (spec !== WITH_RULE_BASED) return `{"splits":${changed},"since":${since},"till":${till}}`;
    const rules = numberIn(rbSince);
    return `{"ff":{"d":${changed},"s":${since},"t":${till}},"rbs":{"d":[],"s":${rules},"t":${rules}}}`;
  },
  // The keys that changed since a number; none if the segment is not active. A key of `client_side` is refused:
  // everybody can read it, and lists of keys are not for everybody.
  '/segmentChanges/:segment': async ({ environment, type }, { query, params }) => {
    if (type === 'client_side') throw forbidden('A key of the type client_side reads no segments');
    const { segment: name = '' } = params as { segment?: string };
    const since = numberIn((query as { since?: unknown }).since);
    return { name, since, ...(await environment.keysSince(name, since)) };
  },
  // The segments that hold a key; large segments do not exist here.
  '/memberships/:key': async ({ environment }, { params }) => {
    const { key = '' } = params as { key?: string };
    const [names, { till }] = await Promise.all([environment.segmentsOf(key), environment.flags()]);
    return { ms: { cn: till, k: names.map((n) => ({ n })) }, ls: { cn: till, k: [] } };
  },
  '/v2/auth': async () => Promise.resolve({ pushEnabled: false, token: '' }),
};

/** A number of the query; -1, which SDKs send at first, for anything else. */
function numberIn(value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : -1;
  return Number.isSafeInteger(number) ? number : -1;
}
