import { randomUUID } from 'node:crypto';
import { maxHeaderSize, STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WireError } from '../../admin-api/wire.js';
import type { ServiceLog } from './key-check.js';

type Refusal = readonly [status: number, message: string];

/** By the codes of Node's parser; every other code is a 400. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [431, `The headers are longer than ${maxHeaderSize} bytes`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
};

/**
 * Answers what the parser of HTTP refuses in the contract's error shape, and closes the connection. There is no
 * request yet, so neither a method nor a path nor a key.
 *
 * @param answer the last answer on this connection. If it is under way, a second one would be read as a part of it.
 */
export function refuseBrokenRequest(
  error: Error & { readonly code?: string },
  socket: Duplex,
  { answer, log }: { answer: ServerResponse | undefined; log?: ServiceLog | undefined },
): void {
  const isUnderWay = answer?.headersSent === true && !answer.writableFinished;
  if (error.code === 'ECONNRESET' || !socket.writable || isUnderWay) {
    socket.destroy();
    return;
  }
  const { code = '', message: why } = error;
  const [status, message] = REFUSALS[code] ?? [400, `The request is not valid HTTP: ${why}`];
  const transactionId = randomUUID();
  log?.info({ status, error: code, transactionId }, 'request is not HTTP');
  const refusal: WireError = { code: status, message, details: code, transactionId };
  const body = JSON.stringify(refusal);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}
