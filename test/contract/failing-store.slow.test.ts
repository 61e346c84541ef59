import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CutLine } from '../support/cut-line.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { type Answer, callsOf, type ServiceCalls } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';
import { END_OTHERS, strikeDatabase, strikeDirectory } from '../support/store-faults.js';

/** Within this time each request has its answer, whatever the store does. */
const ANSWERED_WITHIN_MS = 10_000;

/** How long a test waits for a change to reach the service on a loaded machine. */
const PATIENTLY = { timeout: 30_000 };

const FLAGS = '/splits/ws/Default/trafficTypes/user';

let count = 0;
const newFlag = (description = ''): object => ({ name: `f${(count += 1)}`, description });

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

/** The contract's shape of an error. */
function refusal(status: number, message: string, code: unknown): object {
  return { code: status, message, details: code, transactionId: expect.any(String) as unknown };
}

async function expectRefused(
  client: ServiceCalls,
  origin: string,
  [status, message, code]: readonly [number, string, unknown],
  request: () => Promise<Answer> = async () => client.call('POST', FLAGS, newFlag()),
): Promise<void> {
  const answer = await timed(request());
  expect(answer.body).toEqual(refusal(status, message, code));
  expect(answer.status).toBe(status);
  expect(await health(origin)).toMatchObject({ status, body: { code: status, message } });
}

async function expectWell(client: ServiceCalls, origin: string): Promise<void> {
  expect((await health(origin)).status).toBe(200);
  await client.ok('POST', FLAGS, newFlag());
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
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'flagkeel-failing-'));
    return () => {
      rmSync(directory, { recursive: true, force: true });
    };
  });

  async function start(): Promise<TestService> {
    return startTestService({ store: { kind: 'directory', path: directory }, log });
  }

  it('that another process locks for long answers 503, and writes once it is free', async () => {
    const service = await start();
    const client = callsOf(service);
    const store = { path: directory, pid: process.pid };
    const mend = await strikeDirectory('locked by another process', store);
    try {
      await expectRefused(client, service.origin, [
        503,
        'Another process holds the lock of the store',
        'SQLITE_BUSY',
      ]);
      expect(await client.status('GET', '/workspaces')).toBe(200);
      expect(logged.join()).toContain('database is locked');

      await mend();
      await expectWell(client, service.origin);
    } finally {
      await service.stop();
    }
  });

  it('that is damaged answers 503 where it reads, until the file is mended', async () => {
    const service = await start();
    const client = callsOf(service);
    await client.ok('POST', FLAGS, { name: 'kept', description: 'x'.repeat(500) });
    const read = async (): Promise<Answer> => client.call('GET', '/splits/ws/Default/kept');
    const mend = await strikeDirectory('damaged', { path: directory, pid: process.pid });
    try {
      await expectRefused(
        client,
        service.origin,
        [503, 'The store is damaged', expect.stringMatching(/^SQLITE_CORRUPT/)],
        read,
      );
      expect(logged.join()).toContain('malformed');

      await mend();
      await expectWell(client, service.origin);
      expect((await read()).body).toMatchObject({ name: 'kept' });
    } finally {
      await service.stop();
    }
  });
});

describe('a service in a process', () => {
  it.each([
    ['is full', 'disk full'],
    ['takes no writes', 'disk read-only'],
  ])('whose disk %s answers 507, loses nothing, and writes once it can', async (_, fault) => {
    const directory = mkdtempSync(join(tmpdir(), 'flagkeel-full-'));
    const script = ['--import', 'tsx', 'test/support/service-process.ts', directory];
    const child = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const [origin = '', key = ''] = line.split(' ');
      const client = callsOf({ origin, key });
      const many = async (): Promise<Answer[]> =>
        Promise.all(
          Array.from({ length: 200 }, async () =>
            client.call('POST', FLAGS, newFlag('x'.repeat(900))),
          ),
        );
      const taken = await many();
      const mend = await strikeDirectory(fault, { path: directory, pid: child.pid ?? 0 });
      let answers = await many();
      while (answers.every(({ status }) => status === 200)) {
        taken.push(...answers);
        answers = await many();
      }
      taken.push(...answers.filter(({ status }) => status === 200));
      expect(
        answers
          .map(({ status }) => status)
          .sort()
          .at(-1),
      ).toBe(507);
      await expectRefused(client, origin, [
        507,
        'The disk of the store takes no writes: full, over a quota, or read-only',
        'SQLITE_IOERR_WRITE',
      ]);
      expect(await client.status('GET', '/workspaces')).toBe(200);

      await mend();
      await expectWell(client, origin);
      for (const { body } of taken) {
        const { name } = body as { name: string };
        await client.ok('GET', `/splits/ws/Default/${name}`);
      }
    } finally {
      await end(child);
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

describe.skipIf(lacks('postgresql'))('a service over PostgreSQL', () => {
  let postgres: TestPostgres;
  let line: CutLine;
  let service: TestService;
  let client: ServiceCalls;
  /** Breaks the store. @returns mends it. */
  let strike: (fault: string) => Promise<() => void | Promise<void>>;
  /** A connection of the operator's, beside the line. */
  let operator: pg.Client;

  beforeEach(async () => {
    postgres = await startPostgres();
    line = await CutLine.open(postgres.port);
    const url = new URL(postgres.url);
    url.port = String(line.port);
    service = await startTestService({ store: { kind: 'postgres', url: url.href }, log });
    client = callsOf(service);
    await client.ok('POST', FLAGS, { name: 'kept', description: 'x' });
    strike = async (fault) => strikeDatabase(fault, { postgres, url: postgres.url, line });
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

  const away = (code: unknown) => [503, 'The store does not answer', code] as const;

  it.each(['refused', 'new connections are silent', 'statement slow'])(
    'that fails (%s) answers 503, and is well once it is not',
    async (fault) => {
      const mend = await strike(fault);
      await expectRefused(client, service.origin, away(expect.any(String)));

      await mend();
      await expectWell(client, service.origin);
    },
  );

  it('that falls silent under 32 clients answers 503 to all, and is well once it speaks', async () => {
    const requests = Array.from({ length: 32 }, async (_, index) =>
      timed(
        index % 2 === 0
          ? client.call('POST', FLAGS, newFlag())
          : client.call('GET', '/splits/ws/Default?name=kept'),
      ),
    );
    await Promise.race(requests);
    line.silence();

    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses).toContain(503);
    await expectRefused(client, service.origin, away(expect.any(String)));
    expect(logged.join()).toContain('PostgreSQL was silent for 5000 ms');

    line.mend();
    await expectWell(client, service.origin);
  });

  it('whose processes freeze answers 503, and goes on with others', async () => {
    const { rows } = await operator.query<{ pid: number }>(
      "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
    try {
      const answer = await timed(client.call('POST', FLAGS, newFlag()));
      expect(answer.body).toEqual(refusal(503, 'The store does not answer', 'ETIMEDOUT'));
      await expectWell(client, service.origin);
    } finally {
      for (const { pid } of rows) process.kill(pid, 'SIGCONT');
    }
  });

  it('that is slow at one statement answers 503', async () => {
    const mend = await strike('table locked');

    const read = async (): Promise<Answer> => client.call('GET', '/splits/ws/Default?name=kept');
    await expectRefused(
      client,
      service.origin,
      [503, 'Another process holds the lock of the store', '55P03'],
      read,
    );

    await mend();
    await expectWell(client, service.origin);
  });

  it('whose writers wait for another process for long answers 503', async () => {
    const mend = await strike('writers locked out');

    await expectRefused(client, service.origin, [
      503,
      'Another process holds the lock of the store',
      '55P03',
    ]);
    expect(await client.status('GET', '/splits/ws/Default/kept')).toBe(200);
    expect(logged.join()).toContain('lock timeout');

    await mend();
    await expectWell(client, service.origin);
  });

  it.each([
    ['by itself', 'alter system set default_transaction_read_only', 'select pg_reload_conf()'],
    [
      'for new connections',
      'alter database postgres set default_transaction_read_only',
      END_OTHERS,
    ],
  ])('that becomes read-only %s answers 503 to writes', async (_, setting, effect) => {
    await operator.query(`${setting} = on`);
    await operator.query(effect);
    await expect.poll(async () => (await health(service.origin)).status, PATIENTLY).toBe(503);

    await expectRefused(client, service.origin, [503, 'The store is read-only', '25006']);
    expect(await client.status('GET', '/splits/ws/Default/kept')).toBe(200);
    expect(logged.join()).toContain('read-only transaction');

    await operator.query('set transaction_read_only = off');
    await operator.query('set default_transaction_read_only = off');
    await operator.query(`${setting} = off`);
    await operator.query('select pg_reload_conf()');
    await expect.poll(async () => (await health(service.origin)).status, PATIENTLY).toBe(200);
    await expectWell(client, service.origin);
  });

  it('whose disk is full answers 507', async () => {
    const mend = await strike('disk full');
    await expectRefused(client, service.origin, [507, 'The disk of the store is full', '53100']);
    expect(logged.join()).toContain('could not extend file');

    await mend();
    await expectWell(client, service.origin);
  });

  it('that does not let it in answers 503', async () => {
    const mend = await strike('not let in');
    await expect
      .poll(async () => (await health(service.origin)).body, PATIENTLY)
      .toMatchObject({ details: '28000' });
    await expectRefused(client, service.origin, [
      503,
      'The store does not let the service in',
      '28000',
    ]);

    await mend();
    await expectWell(client, service.origin);
  });

  it('that is damaged answers 503 where it reads', async () => {
    const mend = await strike('damaged');
    const read = async (): Promise<Answer> => client.call('GET', '/splits/ws/Default?name=kept');

    await expectRefused(
      client,
      service.origin,
      [503, 'The store is damaged', expect.stringMatching(/^XX00[12]$/)],
      read,
    );
    expect(logged.join()).toContain('invalid page');

    await mend();
    await expectWell(client, service.origin);
    expect((await read()).status).toBe(200);
  });
});
