import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { FlagkeelError, messageOf } from '../errors.js';

/** More than any plan or export; parsing takes a multiple of it in memory. */
const MOST_MIB = 64;

/** A device or a pipe may have no end. @param doing what with the file: `read the seed`. @throws FlagkeelError `USAGE` */
export async function readBounded(
  path: string,
  doing: string,
  signal?: AbortSignal,
): Promise<Buffer> {
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of contentOf(path, signal)) {
      length += (chunk as Buffer).length;
      if (length > MOST_MIB * 1024 * 1024) throw new Error(`it has more than ${MOST_MIB} MiB`);
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks);
  } catch (cause) {
    const message = `cannot ${doing} "${path}": ${messageOf(cause)}`;
    throw new FlagkeelError('USAGE', message, { cause });
  }
}

/** Waits for the writer of a pipe without a thread: one that waits cannot be ended, and the process not without it. */
function contentOf(path: string, signal: AbortSignal | undefined): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const ended = signal && { signal };
  return fstatSync(fd).isFIFO()
    ? new Socket({ fd, readable: true, writable: false, ...ended })
    : createReadStream(path, { fd, ...ended });
}
