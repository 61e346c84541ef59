import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CutLine } from '../support/cut-line.js';
import { makeDirectory } from '../support/git.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { callsOf, type ServiceCalls } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';
import {
  DIRECTORY_FAULTS,
  END_OTHERS,
  faultCalled,
  POSTGRES_FAULTS,
} from '../support/store-faults.js';

/** Within this time each request has its answer, whatever the store does. */
const ANSWERED_WITHIN_MS = 10_000;

/** How long a test waits for a change to reach the service on a loaded machine. */
const PATIENTLY = { timeout: 30_000 };

const FLAGS = '/splits/ws/Default/trafficTypes/user';

let count = 0;
const newFlag = (): object => ({ name: `f${(count += 1)}` });

async function timed<T>(work: Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work;
  expect(performance.now() - start).toBeLessThan(ANSWERED_WITHIN_MS);
  return result;
}

async function health(origin: string): Promise<{ status: number; body: unknown }> {
  const response = await timed(fetch(`${origin}/health`));
  return { status: response.status, body: await response.json() };
}

/** A service with a flag `kept`, and who asks it. */
interface World {
  readonly client: ServiceCalls;
  readonly origin: string;
}

async function worldOf({ origin, key }: Pick<TestService, 'origin' | 'key'>): Promise<World> {
  const client = callsOf({ origin, key });
  await client.ok('POST', FLAGS, { name: 'kept', description: 'x'.repeat(500) });
  return { client, origin };
}

const REQUESTS = {
  write: async ({ client }: World) => client.call('POST', FLAGS, newFlag()),
  read: async ({ client }: World) => client.call('GET', '/splits/ws/Default?name=kept'),
};

type Code = string | RegExp;
const matching = (code: Code): unknown =>
  typeof code === 'string' ? code : expect.stringMatching(code);

/** In time, in the contract's shape of an error, and so that the health says the same. */
async function expectRefused(
  world: World,
  { status, message }: { readonly status: number; readonly message: string },
  { asks = 'write', code }: { readonly asks?: keyof typeof REQUESTS; readonly code: Code },
): Promise<void> {
  const answer = await timed(REQUESTS[asks](world));
  const transactionId = expect.any(String) as unknown;
  expect(answer.body).toEqual({ code: status, message, details: matching(code), transactionId });
  expect(answer.status).toBe(status);
  expect(await health(world.origin)).toMatchObject({ status, body: { code: status, message } });
}

async function expectWell(world: World): Promise<void> {
  expect((await health(world.origin)).status).toBe(200);
  await world.client.ok('POST', FLAGS, newFlag());
  expect((await REQUESTS.read(world)).body).toMatchObject({ objects: [{ name: 'kept' }] });
}

let logged: string[];
const log = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields: Readonly<Record<string, unknown>>) => logged.push(String(fields['error'])),
};

beforeEach(() => {
  logged = [];
});

describe('a service over a directory', () => {
  it.each([
    ['locked by another process', 'write', 'SQLITE_BUSY', 'database is locked'],
    ['damaged', 'read', /^SQLITE_CORRUPT/, 'malformed'],
  ] as const)('that is %s says so where it %ss, and is well once it is not', async (...row) => {
    const [name, asks, code, says] = row;
    const path = makeDirectory();
    const service = await startTestService({ store: { kind: 'directory', path }, log });
    onTestFinished(async () => service.stop());
    const world = await worldOf(service);
    const fault = faultCalled(DIRECTORY_FAULTS, name);
    const mend = await fault.strike({ path, pid: process.pid });
    await expectRefused(world, fault, { asks, code });
    expect(await world.client.status('GET', '/workspaces')).toBe(200);
    expect(logged.join()).toContain(says);

    await mend();
    await expectWell(world);
  });
});

describe.skipIf(lacks('postgresql'))('a service over PostgreSQL', () => {
  let postgres: TestPostgres;
  let line: CutLine;
  let service: TestService;
  let world: World;
  /** A connection of the operator's, beside the line. */
  let operator: pg.Client;

  beforeEach(async () => {
    postgres = await startPostgres();
    line = await CutLine.open(postgres.port);
    const url = new URL(postgres.url);
    url.port = String(line.port);
    service = await startTestService({ store: { kind: 'postgres', url: url.href }, log });
    world = await worldOf(service);
    operator = new pg.Client({ connectionString: postgres.url });
    operator.on('error', () => undefined);
    await operator.connect();
  });

  afterEach(async () => {
    await operator.end();
    await service.stop();
    await line.close();
    await postgres.stop();
  });

  const AWAY = { status: 503, message: 'The store does not answer' };
  const ANY = /^/;

  it.each([
    ['refused', 'write', ANY, ''],
    ['new connections are silent', 'write', ANY, ''],
    ['statement slow', 'write', ANY, ''],
    ['table locked', 'read', '55P03', 'lock timeout'],
    ['writers locked out', 'write', '55P03', 'lock timeout'],
    ['disk full', 'write', '53100', 'could not extend file'],
    ['not let in', 'write', '28000', ''],
    ['server frozen (SIGSTOP)', 'write', 'ETIMEDOUT', ''],
    ['damaged', 'read', /^XX00[12]$/, 'invalid page'],
  ] as const)('that fails (%s) says so to a %s, and is well once it is not', async (...row) => {
    const [name, asks, code, says] = row;
    const fault = faultCalled(POSTGRES_FAULTS, name);
    const mend = await fault.strike({ postgres, url: postgres.url, line });
    if (name === 'not let in') {
      const details = async () => (await health(service.origin)).body;
      await expect.poll(details, PATIENTLY).toMatchObject({ details: code });
    }

    await expectRefused(world, fault, { asks, code });
    expect(logged.join()).toContain(says);
    if (name === 'writers locked out') expect((await REQUESTS.read(world)).status).toBe(200);

    await mend();
    await expectWell(world);
  });

  it('that falls silent under 32 clients answers 503 to all, and is well once it speaks', async () => {
    const requests = Array.from({ length: 32 }, async (_, index) =>
      timed(REQUESTS[index % 2 === 0 ? 'write' : 'read'](world)),
    );
    await Promise.race(requests);
    line.silence();

    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses).toContain(503);
    await expectRefused(world, AWAY, { code: ANY });
    expect(logged.join()).toContain('PostgreSQL was silent for 5000 ms');

    line.mend();
    await expectWell(world);
  });

  it('that takes no writes on new connections, as after a failover, says so, and is well once it does', async () => {
    const setting = 'alter database postgres set default_transaction_read_only';
    await operator.query(`${setting} = on`);
    await operator.query(END_OTHERS);
    const healthNow = async () => health(service.origin);
    const fault = faultCalled(POSTGRES_FAULTS, 'read-only');
    // The first failure may be the end of a connection.
    await expect.poll(healthNow, PATIENTLY).toMatchObject({ body: { message: fault.message } });

    await expectRefused(world, fault, { code: '25006' });
    expect((await REQUESTS.read(world)).status).toBe(200);
    expect(logged.join()).toContain('read-only transaction');

    await operator.query(`${setting} = off`);
    await expect.poll(healthNow, PATIENTLY).toMatchObject({ status: 200 });
    await expectWell(world);
  });
});
