import { request } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { aSource, DaemonInMemory } from '../../../support/daemon-view.js';
import { answerTo } from '../../../support/http.js';
import { startTestOperations, type TestOperations } from '../../../support/operations.js';

const TOKEN = 'a-token-of-the-operator';
const MiB = 1024 * 1024;
/** No measure: what has no bound would go on for ever. */
const BOUND_MS = 30_000;

const AUTHORISED = `authorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\n`;
const SIGNED = 'x-hub-signature-256: sha256=00\r\n';

async function start(daemon: DaemonInMemory): Promise<TestOperations> {
  const given = { tokens: [TOKEN], secrets: ['a-secret-of-the-forge'], requestTimeoutMs: 300 };
  return startTestOperations(daemon, given);
}

/** Or nothing: who still sends when the connection is closed may not come to read what was answered. */
function answered(status: number): RegExp {
  return new RegExp(`^(HTTP/1.1 ${status} |$)`);
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write(' '), 20);
  socket.on('close', () => {
    clearInterval(timer);
  });
}

/** Pieces of a body without a length, as fast as they are taken. */
function pour(socket: Socket): void {
  const piece = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  while (!socket.destroyed && socket.write(piece));
  if (!socket.destroyed) {
    socket.once('drain', () => {
      pour(socket);
    });
  }
}

const head = (path: string, headers: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}`;
const LONG = 'content-length: 1000000\r\n\r\n';
const SHORT = 'content-length: 1000\r\n\r\n';
const ENDLESS = 'transfer-encoding: chunked\r\n\r\n';

describe('a request to the daemon', () => {
  it.each<[string, string, (socket: Socket) => void, number]>([
    ['a webhook that drips', head('/webhook', SIGNED + LONG), drip, 408],
    ['a webhook without a signature that drips', head('/webhook', LONG), drip, 401],
    ['a webhook without end', head('/webhook', SIGNED + ENDLESS), pour, 413],
    ['an approval that drips', head('/approve', AUTHORISED + SHORT), drip, 408],
    ['an approval without end', head('/approve', AUTHORISED + ENDLESS), pour, 413],
    ['a header that drips', 'GET /status HTTP/1.1\r\nx-more: ', drip, 408],
  ])('that is %s is cut off, and asks nothing', async (_, begin, send, status) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);
    const startedAt = performance.now();

    const answer = await answerTo(operations.url, begin, send);

    expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
    expect(answer).toMatch(answered(status));
    expect(daemon.asked).toEqual([]);
    expect((await fetch(`${operations.url}/healthz`)).status).toBe(200);
  });

  const HOST = 'HTTP/1.1\r\nhost: localhost\r\n';
  it.each([
    ['a URL of a million characters', `GET /${'x'.repeat(MiB)} ${HOST}\r\n`],
    ['a hundred thousand headers', `GET /status ${HOST}${'x-more: x\r\n'.repeat(100_000)}\r\n`],
  ])('with %s is refused and cut off', async (_, broken) => {
    await using operations = await start(new DaemonInMemory(aSource()));

    const answer = await answerTo(operations.url, broken);

    expect(answer).toMatch(answered(431));
    expect((await fetch(`${operations.url}/healthz`)).status).toBe(200);
  });
});

/** Asks under a name, as the page of a site does whose name stands for 127.0.0.1. @returns the status. */
async function askAs(host: string, { url }: TestOperations, path: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('a request to a daemon on loopback for the host', () => {
  it.each([
    ['evil.example', 421],
    ['127.0.0.1.evil.example:8080', 421],
    ['localhost.evil.example', 421],
    ['10.0.0.1', 421],
    [' ', 421],
    ['localhost', 200],
    ['LOCALHOST:9', 200],
    ['127.0.0.1:8080', 200],
    ['[::1]:8080', 200],
  ])('%j is answered with %i, by every endpoint', async (host, status) => {
    await using operations = await startTestOperations(new DaemonInMemory(aSource()));

    for (const path of ['/status', '/', '/metrics', '/healthz']) {
      expect(await askAs(host, operations, path)).toBe(status);
    }
    expect(await askAs(host, operations, '/none')).toBe(status === 200 ? 404 : status);
  });

  it('that the operator allows is answered, and no other', async () => {
    const allowedHosts = ['Flags.example.com'];
    await using operations = await startTestOperations(new DaemonInMemory(aSource()), {
      allowedHosts,
    });

    expect(await askAs('flags.example.com', operations, '/status')).toBe(200);
    expect(await askAs('flags.example.com:443', operations, '/status')).toBe(200);
    expect(await askAs('more.flags.example.com', operations, '/status')).toBe(421);
  });

  it('is any where the daemon listens beyond loopback', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await startTestOperations(daemon, { host: '0.0.0.0' });
    const here = { ...operations, url: operations.url.replace('0.0.0.0', '127.0.0.1') };

    expect(await askAs('flags.example.com', here, '/status')).toBe(200);
  });
});
