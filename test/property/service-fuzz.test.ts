import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_PREFIX, type WireDefinition } from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn, type ServiceCalls } from '../support/service-calls.js';
import { descriptionOf } from '../support/service-description.js';
import { startTestService, type TestService } from '../support/service.js';
import { lawSettings } from './law-settings.js';

/**
 * Any request to any endpoint that the service describes: made of a small grammar of bodies that are right and of
 * bodies that are nearly right, in the order in which they come, so that the state grows and shrinks meanwhile.
 */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly text: string;
}

const REFUSALS = [400, 403, 404, 409];
const drawn = lawSettings('any request to any endpoint', 600);
/** What is shrunk would meet what the requests before left behind. */
const settings = { ...drawn, endOnFailure: true };

let service: TestService;
let client: ServiceCalls;
let sent: fc.Arbitrary<Sent>;
const failures: unknown[] = [];

beforeAll(async () => {
  service = await startTestService({
    log: { info: () => undefined, warn: () => undefined, error: (fields) => failures.push(fields) },
  });
  client = callsOf(service);
  await fill();
  sent = requestsTo((await descriptionOf(service.origin)).paths);
});

afterAll(async () => {
  await service.stop();
});

async function fill(): Promise<void> {
  for (const name of ['a', 'b']) {
    await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name });
    await client.ok('POST', `/splits/ws/Default/${name}/environments/staging`, aDefinition());
    await client.ok('POST', '/segments/ws/Default/trafficTypes/user', { name });
    await client.ok('POST', `/segments/staging/${name}`);
    await client.ok('PUT', `/segments/staging/${name}/upload`, ['k1', 'k2']);
  }
}

const name = fc.constantFrom('a', 'b', 'c');
const key = fc.constantFrom('k1', 'k2', 'k3', '');
const keys = fc.array(key, { maxLength: 4 });
const text = fc.constantFrom('', 'text', '𝒳', 'a\nb', '0');
const treatment = fc.constantFrom('on', 'off', 'third');
const buckets = fc.oneof(
  treatment.map((one) => [{ treatment: one, size: 100 }]),
  fc.constant([
    { treatment: 'on', size: 30 },
    { treatment: 'off', size: 70 },
  ]),
  fc.constant([{ treatment: 'on', size: 99 }]),
);
const matcher = fc.oneof(
  name.map((string) => ({ type: 'IN_SEGMENT', string })),
  name.map((splitName) => ({ type: 'IN_SPLIT', depends: { splitName, treatments: ['on'] } })),
  fc.constant({ type: 'EQUAL_NUMBER', attribute: 'age', number: 3 }),
  fc.constant({ type: 'OF_TOMORROW', anything: [1] }),
);
const rules = fc.array(
  matcher.map((each) => ruleOn(each)),
  { maxLength: 2 },
);
const definition = fc
  .record(
    { rules, defaultRule: buckets, defaultTreatment: treatment, killed: fc.boolean() },
    { requiredKeys: [] },
  )
  .map(aDefinition);
const pointer = fc.oneof(
  fc.constantFrom(
    ...['', '/', '/name', '/tags', '/production', '/id', '/description', '/flagSets', '/__proto__'],
    ...['/treatments', '/treatments/0', '/treatments/1', '/treatments/-', '/treatments/0/name'],
    ...['/defaultRule', '/defaultRule/0/size', '/defaultRule/-', '/rules', '/rules/0', '/rules/-'],
    ...['/rules/0/condition/matchers/0', '/trafficAllocation', '/baselineTreatment'],
  ),
  fc.string().map((text) => `/${text}`),
);
const operation = fc.oneof(
  fc.record({ op: fc.constant('replace'), path: fc.constant('/description'), value: text }),
  fc.record({ op: fc.constant('replace'), path: fc.constant('/defaultRule'), value: buckets }),
  fc.record({ op: fc.constant('replace'), path: fc.constant('/rules'), value: rules }),
  fc.record({ op: fc.constant('replace'), path: fc.constant('/killed'), value: fc.boolean() }),
  fc.record({ op: fc.constant('add'), path: fc.constant('/treatments/0/keys'), value: keys }),
  fc.record({ op: fc.constant('add'), path: fc.constant('/treatments/0/keys/-'), value: key }),
  fc.record(
    {
      op: fc.constantFrom('add', 'replace', 'remove', 'move', 'copy', 'test'),
      path: pointer,
      from: pointer,
      value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), buckets, treatment, fc.integer()),
    },
    { requiredKeys: ['op', 'path'] },
  ),
);
const identity = fc.record({ key, values: fc.dictionary(name, fc.oneof(text, fc.integer())) });
const members = fc.record(
  {
    name: fc.oneof(name, text),
    description: text,
    comment: text,
    title: text,
    keys,
    values: fc.dictionary(name, text),
    production: fc.boolean(),
  },
  { requiredKeys: [] },
);
const anyRight = fc.oneof(definition, fc.array(operation), fc.array(identity), keys, members);

/** What the endpoint is for; the first pattern that fits. */
function rightFor(method: string, path: string): fc.Arbitrary<object> {
  const operations = fc.array(operation, { minLength: 1, maxLength: 3 });
  if (path.endsWith('/identities')) return fc.array(identity, { maxLength: 3 });
  if (path.includes('/identities/')) return members;
  if (method === 'PATCH') return operations;
  if (/\/(kill|restore|uploadKeys|removeKeys)$/.test(path)) return members;
  if (/\/(upload|deleteKeys|Split)$/.test(path)) return keys;
  return path.endsWith('/environments/{env}') ? definition : members;
}

function bodyFor(method: string, path: string): fc.Arbitrary<string> {
  const right = rightFor(method, path);
  return fc.oneof(
    { weight: 6, arbitrary: right.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: right.chain(mutated).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: anyRight.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.oneof(fc.json(), fc.string({ unit: 'binary' }), brokenText) },
  );
}

const brokenText = fc.constantFrom(
  ...['', '[', '{"keys":', '\0', '"\\ud800"', '['.repeat(100_000), '[["\\u0000"]]'],
);

/** One member of it taken away, or anything else in its place. */
function mutated(value: object): fc.Arbitrary<unknown> {
  const names = Object.keys(value);
  if (names.length === 0) return fc.jsonValue({ maxDepth: 1 });
  return fc
    .tuple(fc.constantFrom(...names), fc.option(fc.jsonValue({ maxDepth: 2 })))
    .map(([member, other]) => {
      const rest: Record<string, unknown> = { ...value };
      if (other === null) Reflect.deleteProperty(rest, member);
      else rest[member] = other;
      return Array.isArray(value) ? Object.values(rest) : rest;
    });
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  ws: ['Default'],
  env: ['staging', 'staging', 'staging', 'production'],
  flag: ['a', 'b', 'a', 'b', 'c'],
  segment: ['a', 'b', 'c'],
  trafficType: ['user'],
  key: ['k1'],
};
const query = fc.constantFrom(
  ...['', '', '', '?title=t&comment=c', '?replace=true', '?replace=maybe', '?limit=1&offset=1'],
  ...['?limit=-1', '?limit=x', '?offset=99999999999999999999', '?name=a', '?wsId=Default'],
  ...['?tag=a&tag=b', '?object=flag/a', '?title=%00', '?title=%ff', '?__proto__=1'],
);

function requestsTo(paths: Readonly<Record<string, object>>): fc.Arbitrary<Sent> {
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.keys(byMethod).map((method) => ({ method: method.toUpperCase(), path })),
  );
  // What definitions must obey is the most there is to break.
  const definitions = operations.filter(
    ({ method, path }) => path.endsWith('{flag}/environments/{env}') && method.startsWith('P'),
  );
  const drawn = fc.oneof(fc.constantFrom(...operations), fc.constantFrom(...definitions));
  return drawn.chain(({ method, path }) =>
    fc.record({
      method: fc.constant(method),
      path: fc.tuple(pathLike(path.replace(API_PREFIX, '')), query).map((parts) => parts.join('')),
      text: method === 'GET' ? fc.constant('') : bodyFor(method, path),
    }),
  );
}

function pathLike(template: string): fc.Arbitrary<string> {
  const parts = template.split('/').map((part) => {
    const [, parameter] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (parameter === undefined) return fc.constant(part);
    return fc.oneof(
      { weight: 15, arbitrary: fc.constantFrom(...(NAMES[parameter] ?? ['absent'])) },
      { weight: 1, arbitrary: fc.oneof(fc.constantFrom('absent', '__proto__'), anyName) },
    );
  });
  return fc.tuple(...parts).map((chosen) => chosen.join('/'));
}

const anyName = fc
  .string({ unit: 'binary', minLength: 1 })
  .filter((text) => text !== '.' && text !== '..')
  .map(encodeURIComponent);

/** Everything that can be read, the audit log with it. */
async function observed(): Promise<unknown> {
  const workspaces = await get<{ objects: readonly { id: string }[] }>('/workspaces');
  const inside = workspaces.objects.map(async ({ id }) => observedIn(id));
  return [workspaces, await Promise.all([get('/apiKeys'), ...inside])];
}

async function observedIn(ws: string): Promise<unknown> {
  const environments = await get<readonly { id: string }[]>(`/environments/ws/${ws}`);
  const lists = ['splits', 'segments', 'trafficTypes', 'auditLog'].map(async (list) =>
    get(`/${list}/ws/${ws}`),
  );
  const inside = environments.flatMap(({ id }) => [
    get(`/splits/ws/${ws}/environments/${id}`),
    observedSegments(ws, id),
  ]);
  return [environments, await Promise.all([...lists, ...inside])];
}

async function observedSegments(ws: string, environment: string): Promise<unknown> {
  const path = `/segments/ws/${ws}/environments/${environment}`;
  const active = await get<{ objects: readonly { name: string }[] }>(path);
  const inside = active.objects.map(async ({ name }) =>
    get(`/segments/${environment}/${name}/keys`),
  );
  return [active, await Promise.all(inside)];
}

/** Without a look at the description, which each answer of the fuzz itself gets. */
async function get<T = unknown>(path: string): Promise<T> {
  const response = await fetch(`${service.origin}${API_PREFIX}${path}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

function expectWhole({ treatments, rules, ...definition }: WireDefinition): void {
  const names = new Set(treatments.map(({ name }) => name));
  expect(names.size).toBe(treatments.length);
  expect(names).toContain(definition.defaultTreatment);
  expect(names).toContain(definition.baselineTreatment);
  for (const buckets of [definition.defaultRule, ...rules.map((rule) => rule.buckets)]) {
    expect(buckets.reduce((sum, { size }) => sum + size, 0)).toBe(100);
    for (const each of buckets) expect(names).toContain(each.treatment);
  }
  for (const { keys } of treatments) expect(new Set(keys).size).toBe(keys?.length ?? 0);
}

describe('any request to any endpoint', () => {
  it('is taken or refused in the shape of errors, a refused one changes nothing, and definitions stay whole', async () => {
    const statuses = new Map<number, number>();
    let before = await observed();

    await fc.assert(
      fc.asyncProperty(sent, async (request) => {
        const { method, path, text } = request;
        const answer = await client.send(method, path, text);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);

        if (answer.status !== 200) {
          expect(REFUSALS).toContain(answer.status);
          expect(answer.body).toEqual({
            code: answer.status,
            message: expect.stringMatching(/./) as string,
            details: '',
            transactionId: expect.any(String) as string,
          });
        }
        const { body } = answer;
        if (typeof body === 'object' && body !== null && 'defaultRule' in body) {
          expectWhole(body as WireDefinition);
        }
        // Looking costs a dozen requests: none for a read, which is what looking is made of.
        if (method === 'GET') return;
        const after = await observed();
        if (answer.status !== 200) expect(after).toEqual(before);
        before = after;
      }),
      settings,
    );

    expect(failures).toEqual([]);
    // Neither a wall of refusals nor a service that takes everything would have been looked at.
    expect(statuses.get(200)).toBeGreaterThan(0);
    expect(statuses.get(400)).toBeGreaterThan(0);
  });
});
