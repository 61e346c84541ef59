import { open } from 'node:fs/promises';

const MiB = 1024 * 1024;

/** @throws Error if it has more than `most` bytes, because a device or a pipe may have no end, or cannot be read. */
export async function readBounded(path: string, most: number): Promise<string> {
  const file = await open(path);
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      length += (chunk as Buffer).length;
      if (length > most)
        throw new Error(`it has more than ${(most / MiB).toLocaleString('en-US')} MiB`);
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    await file.close();
  }
}
