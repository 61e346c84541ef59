import { randomUUID } from 'node:crypto';
import { lstat, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { FlagkeelError, messageOf } from '../errors.js';
import { quoted } from './sanitize.js';

/**
 * Replaces a file in one move, so that a failed run keeps the old one. A reader that closes the pipe early is no error.
 * @throws FlagkeelError `OUTPUT` if it cannot be written.
 */
export async function writeResult(
  text: string,
  { file, stdout }: { readonly file?: string | undefined; readonly stdout: Writable },
): Promise<void> {
  await (file === undefined ? writeStream(stdout, text) : replaceFile(file, text));
}

/** Writes a file of specs anew, with the byte order mark that it had. @throws FlagkeelError `OUTPUT` */
export async function rewriteFile(file: string, text: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => '');
  const isMarked = before.startsWith('\uFEFF') && !text.startsWith('\uFEFF');
  await replaceFile(file, isMarked ? `\uFEFF${text}` : text);
}

async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await writeWhole(file, text);
  } catch (cause) {
    const message = `cannot write ${quoted(file)}: ${messageOf(cause)}`;
    throw new FlagkeelError('OUTPUT', message, { cause });
  }
}

interface Screen {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTTY: boolean;
}

/** `--no-color` and a non-empty `NO_COLOR` come first, then `FORCE_COLOR`, then the terminal. */
export function resolveColor(screen: Screen & { readonly noColorFlag: boolean }): boolean {
  const { noColorFlag, env, isTTY } = screen;
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (noColorFlag || (NO_COLOR !== undefined && NO_COLOR !== '')) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') {
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  }
  return isTTY && TERM !== 'dumb';
}

const DEFAULT_WIDTH = 100;

/** In columns. Text that does not go to a terminal is not broken into rows, so that programs find each fact on one line. */
export function resolveWidth(screen: Screen & { readonly columns: number | undefined }): number {
  const { env, isTTY, columns = 0 } = screen;
  const { COLUMNS = '' } = env;
  if (/^[1-9]\d{0,4}$/.test(COLUMNS)) return Number(COLUMNS);
  if (!isTTY) return Infinity;
  return columns > 0 ? columns : DEFAULT_WIDTH;
}

/** Streams with our listener, without which the event of an `EPIPE` would end the process. */
const guarded = new WeakSet<Writable>();

async function writeStream(stream: Writable, text: string): Promise<void> {
  if (!guarded.has(stream)) {
    guarded.add(stream);
    // The callback of each write gets its failure too.
    stream.on('error', () => undefined);
  }
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
    stream.write(text, resolve);
  });
  if (error && !CLOSED_PIPE.has(error.code)) {
    const message = `cannot write the result: ${error.message}`;
    throw new FlagkeelError('OUTPUT', message, { cause: error });
  }
}

/** Codes of errors after a reader closed the pipe, as `| head` does, at this write or at an earlier one. */
const CLOSED_PIPE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

async function writeWhole(file: string, text: string): Promise<void> {
  const found = await stat(file).catch(ifAbsent);
  // Devices and pipes must not be replaced by a file. Links to files that do not exist yet, and links such as
  // `/dev/stdout` whose target has no path, are written to, too.
  const isReplaced = found ? found.isFile() : (await lstat(file).catch(ifAbsent)) === undefined;
  if (!isReplaced) {
    await writeFile(file, text);
    return;
  }
  // The file behind a link is replaced, and the link stays.
  const target = found ? await realpath(file) : file;
  const temporary = join(dirname(target), `.flagkeel-${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx');
    try {
      if (found) await handle.chmod(found.mode & 0o777);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
