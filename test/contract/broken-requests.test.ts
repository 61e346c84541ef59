import { createServer, type RequestListener } from 'node:http';
import type { ServerOptions, ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refuseBrokenRequest } from '../../src/service/http/broken-request.js';
import { answerTo } from '../support/http.js';
import { listen } from '../support/loopback.js';
import { aService } from '../support/service.js';

/** Status, headers and body of the last answer in what came back. */
function lastAnswer(text: string): { status: number; headers: string; body: unknown } {
  const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
  const [headers = '', body = ''] = last.split('\r\n\r\n');
  expect(headers.toLowerCase()).toContain(`content-length: ${body.length}`);
  return { status: Number(last.split(' ')[1]), headers, body: JSON.parse(body) as unknown };
}

const HEAD = 'HTTP/1.1\r\nhost: localhost\r\n';
const CLOSE = 'connection: close\r\n';

describe('the service', () => {
  const service = aService();

  const post = (headers: string, body: string): string =>
    `POST /internal/api/v2/splits/ws/Default/trafficTypes/user ${HEAD}authorization: Bearer ${service.key}\r\n` +
    `content-type: application/json\r\n${headers}\r\n${body}`;

  const LONG = 'x'.repeat(20_000);
  const CHUNKED = 'transfer-encoding: chunked\r\n';

  it.each<[string, number, () => string]>([
    ['longer headers than the parser takes', 431, () => `GET /health ${HEAD}x: ${LONG}\r\n\r\n`],
    ['a longer path than the parser takes', 431, () => `GET /${LONG} ${HEAD}\r\n`],
    ['no request line', 400, () => 'what is this\r\n\r\n'],
    ['another protocol', 400, () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an unknown method', 400, () => `BREW /health ${HEAD}\r\n`],
    ['a header without a name', 400, () => `GET /health ${HEAD}: x\r\n\r\n`],
    ['a header with a control character', 400, () => `GET /health ${HEAD}x: \u0001\r\n\r\n`],
    ['no header Host', 400, () => `GET /health HTTP/1.1\r\n${CLOSE}\r\n`],
    ['two lengths', 400, () => post('content-length: 2\r\ncontent-length: 3\r\n', '{}')],
    ['a length and chunks', 400, () => post(`content-length: 2\r\n${CHUNKED}`, '{}')],
    ['a chunk without a length', 400, () => post(CHUNKED, 'zz\r\n{}\r\n')],
    ['long extensions of a chunk', 413, () => post(CHUNKED, `2;${LONG}\r\n{}\r\n`)],
    ['a body longer than its limit', 413, () => post(`${CLOSE}content-length: 99999999\r\n`, '{}')],
    ['a body of no JSON', 400, () => post(`${CLOSE}content-length: 2\r\n`, '{{')],
    ['a broken one after a whole one', 400, () => `GET /openapi.json ${HEAD}\r\n: broken\r\n\r\n`],
  ])('refuses %s with %i in the shape of the contract', async (_, status, request) => {
    const answer = lastAnswer(await answerTo(service.origin, request()));

    expect(answer.status).toBe(status);
    expect(answer.headers.toLowerCase()).toContain('content-type: application/json; charset=utf-8');
    expect(answer.body).toEqual({
      code: status,
      message: expect.any(String) as unknown,
      details: expect.any(String) as unknown,
      transactionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    });
    expect((await fetch(`${service.origin}/health`)).status).toBe(200);
  });
});

/** A server that ends with the test. @returns its address. */
async function serve(
  listener: RequestListener,
  limits: ServerOptions = {},
  underWay: () => ServerResponse | undefined = () => undefined,
): Promise<string> {
  const server = createServer(limits, listener);
  server.on('clientError', (error, socket) => {
    refuseBrokenRequest(error, socket, { answer: underWay() });
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return url;
}

it('a broken request behind an answer that is under way ends the connection without a second answer', async () => {
  let last: ServerResponse | undefined;
  const halfAnswer: RequestListener = (_, response) => {
    last = response;
    response.writeHead(200, { 'content-length': 10 }).write('half ');
  };
  const url = await serve(halfAnswer, {}, () => last);

  expect(await answerTo(url, `GET / ${HEAD}\r\nbroken\r\n\r\n`)).not.toContain('400');
});

it.each([
  ['in its headers', `GET /health ${HEAD}x: `],
  ['in its body', `POST /health ${HEAD}content-length: 5\r\n\r\n{`],
])(
  'a request that does not arrive %s is refused with 408 in the shape of the contract',
  async (_, request) => {
    const limits = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };
    const url = await serve((incoming) => incoming.resume(), limits);

    expect(lastAnswer(await answerTo(url, request))).toMatchObject({
      status: 408,
      body: { code: 408, message: 'The request did not arrive in time' },
    });
  },
);
