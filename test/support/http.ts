import { connect, type Socket } from 'node:net';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './loopback.js';

/** How a scripted server treats one request. */
export type Reply =
  | {
      readonly status: number;
      /** JSON unless it is text. */
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Closes the connection without an answer. */
  | 'reset'
  /** Never answers. */
  | 'hang'
  /** Announces more than it sends. */
  | 'truncate'
  /** Sends a byte now and then, for ever. */
  | 'drip';

export interface SeenRequest {
  readonly method: string;
  /** Path as it came, query included. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Text of the body. */
  readonly body: string;
}

export type Script = (request: SeenRequest, nth: number) => Reply;

export interface ScriptedServer {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** `METHOD path` of every request, without query. */
  lines(): string[];
  readonly close: () => Promise<void>;
}

/** A real HTTP server on loopback that answers by script; `nth` counts the requests of one method and path from 0. */
export async function startScripted(script: Script): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const each = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(each);
      const line = lineOf(each);
      const nth = counts.get(line) ?? 0;
      counts.set(line, nth + 1);
      reply(response, script(each, nth));
    });
    request.on('error', () => undefined);
  });
  const { url, close } = await listen(server);
  return { url, seen, lines: () => seen.map(lineOf), close };
}

export function lineOf({ method, url }: SeenRequest): string {
  return `${method} ${(url.split('?')[0] ?? '').replace('/internal/api/v2', '')}`;
}

/** The next reply for each request, the last one repeated. */
export function inOrder(...replies: Reply[]): Script {
  let next = 0;
  return () => {
    const chosen = replies[Math.min(next, replies.length - 1)];
    next += 1;
    if (chosen === undefined) throw new Error('bug: no reply was scripted');
    return chosen;
  };
}

export function errorReply(status: number, message = 'no', headers = {}): Reply {
  const body = { code: status, message, details: '', transactionId: 'tx-1' };
  return { status, body, headers };
}

function reply(response: ServerResponse, chosen: Reply): void {
  if (chosen === 'hang') return;
  if (chosen === 'reset') {
    response.destroy();
    return;
  }
  if (chosen === 'truncate') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('[{"id":');
    setTimeout(() => response.destroy(), 20);
    return;
  }
  if (chosen === 'drip') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => {
      clearInterval(timer);
    });
    return;
  }
  const { status, body, headers } = chosen;
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

/** Answers by `METHOD path` without prefix; a list of replies is used up in order, the last one stays. */
export function byLine(replies: Readonly<Record<string, readonly Reply[]>>): Script {
  return (request, nth) => {
    const chosen = replies[lineOf(request)];
    return chosen?.[Math.min(nth, chosen.length - 1)] ?? errorReply(404);
  };
}

/**
 * Sends bytes, and then what `send` adds until the other side closes the connection.
 *
 * @returns all that came back until then.
 */
export async function answerTo(
  url: string,
  bytes: string,
  send: (socket: Socket) => void = () => undefined,
): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')));
  // The other side may close while this one still sends.
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  send(socket);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
