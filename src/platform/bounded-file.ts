import { open } from 'node:fs/promises';
import { FlagkeelError, messageOf } from '../errors.js';

/** More than any plan or export; parsing takes a multiple of it in memory. */
const MOST_MIB = 64;

/** A device or a pipe may have no end. @param doing what with the file: `read the seed`. @throws FlagkeelError `USAGE` */
export async function readBounded(path: string, doing: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
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
