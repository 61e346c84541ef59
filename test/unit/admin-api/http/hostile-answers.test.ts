import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../../support/git.js';
import { flagText, STAGING_CONFIG } from '../../../support/spec-texts.js';
import { cliRun } from '../../../support/terminal.js';

const MiB = 1024 * 1024;
/** What the two ends of a connection hold of what was sent and not yet read. */
const ON_THE_WAY = 32 * MiB;
/** No measure: a run that has no bound would go on for ever. */
const BOUND_MS = 30_000;

const home = mkdtempSync(join(tmpdir(), 'flagkeel-hostile-answers-'));
let repository: ConfigRepository;

beforeAll(() => {
  repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml': STAGING_CONFIG,
    'flags/pay.yaml': flagText('pay', 25, { staging: '' }),
  });
  repository.commit('Write a flag');
});

afterAll(() => {
  repository[Symbol.dispose]();
  rmSync(home, { recursive: true });
});

/** Answers one request, and tells of every byte. */
type Attack = (response: ServerResponse, onSent: (bytes: number) => void) => void;

/** Sends one piece after the other, as fast as they are taken, until the other side has gone. */
function pour(into: Writable, piece: string | Buffer, onSent: (bytes: number) => void): void {
  while (!into.destroyed) {
    onSent(piece.length);
    if (!into.write(piece)) break;
  }
  if (!into.destroyed) {
    into.once('drain', () => {
      pour(into, piece, onSent);
    });
  }
}

function drip(into: Writable): void {
  const timer = setInterval(() => into.write(' '), 50);
  into.on('close', () => {
    clearInterval(timer);
  });
}

const withoutEnd =
  (headers: Record<string, string>, start: string, piece: string | Buffer): Attack =>
  (response, onSent) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write(start);
    pour(response, piece, onSent);
  };

/** Past the library, which would refuse to send it. */
const raw =
  (start: string, send: (into: Writable, onSent: (bytes: number) => void) => void): Attack =>
  ({ socket }, onSent) => {
    if (socket === null) throw new Error('bug: the connection is gone before its answer');
    socket.write(`HTTP/1.1 200 OK\r\n${start}`);
    send(socket, onSent);
  };

async function startHostile(attack: Attack) {
  let most = 0;
  const server = createServer((request, response) => {
    let sent = 0;
    request.resume();
    response.on('error', () => undefined);
    response.socket?.on('error', () => undefined);
    attack(response, (bytes) => {
      sent += bytes;
      most = Math.max(most, sent);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mostSent: () => most,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function plan(attack: Attack, timeout: string) {
  await using server = await startHostile(attack);
  const startedAt = performance.now();
  const { exitCode, stderr } = await cliRun(
    ['plan', '--timeout', timeout, '--url', server.url, repository.directory],
    { FLAGKEEL_API_KEY: 'fka_test', HOME: home },
  );
  expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
  expect(stderr).toContain(`cannot read workspaces from ${server.url}: `);
  return { exitCode, stderr, mostSent: server.mostSent() };
}

describe('a plan is over at once, with 6 and a bound on what is read, where the answer', () => {
  it.each<[string, Attack, string, number]>([
    [
      'has no end',
      withoutEnd({}, '[{"id":"', 'x'.repeat(64 * 1024)),
      'the answer is too large (more than 65,536 KiB)',
      64 * MiB,
    ],
    [
      'announces a hundred million bytes',
      withoutEnd({ 'content-length': '100000000' }, '[{"id":"', 'x'.repeat(64 * 1024)),
      'the answer is too large (more than 65,536 KiB)',
      0,
    ],
    [
      'has headers without end',
      raw('', (socket, onSent) => {
        pour(socket, `x-more: ${'x'.repeat(1_000)}\r\n`, onSent);
      }),
      'the headers of the answer are too large',
      0,
    ],
  ])('%s', async (_, attack, words, most) => {
    const { exitCode, stderr, mostSent } = await plan(attack, '1m');

    expect([exitCode, stderr]).toEqual([6, expect.stringContaining(words)]);
    expect(mostSent).toBeLessThan(most + ON_THE_WAY);
  });
});

describe.concurrent('a plan gives up after its time-out, with 6, where the answer', () => {
  it.each<[string, Attack, string]>([
    [
      'is a thousand times as large when it is decompressed',
      withoutEnd({ 'content-encoding': 'gzip' }, '', gzipSync(Buffer.alloc(MiB))),
      '(the answer is compressed, which was not asked for)',
    ],
    ['comes a byte now and then', raw('content-length: 1000000\r\n\r\n', drip), 'no answer within'],
    ['has headers that come a byte now and then', raw('x-more: ', drip), 'no answer within'],
  ])('%s', async (_, attack, words) => {
    const { exitCode, stderr, mostSent } = await plan(attack, '1s');

    expect([exitCode, stderr]).toEqual([6, expect.stringContaining(words)]);
    expect(mostSent).toBeLessThan(ON_THE_WAY);
  });
});
