import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join } from 'node:path';
import { programHash } from '../program-hash.js';
import {
  parsedAgain,
  RightSpec,
  type FileKind,
  type MadeBefore,
  type ParsedApart,
  type ParsedFile,
} from './parse-file.js';
import type { Spans } from './typed-value.js';

/** Specs of more text than this, in UTF-16 code units, are not kept: they take some three times as much on the disk. */
const MOST_TEXT = 64 * 1024 * 1024;
/** Of directories in one repository, and of versions of the program; each has a file of its own. */
const MOST_KEPT = 8;
/** What a process that was stopped left half-written is nobody's after so long. */
const ABANDONED_MS = 60 * 60 * 1_000;
/** The file is written anew once more than one in so many of what was parsed is not in it. */
const ONE_IN = 100;
/** Files that are written in one go. */
const AT_ONCE = 256;
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;

/** Where one parsed file stands: its text, its value as JSON and its offsets, one behind the other. */
type Place = readonly [
  id: string,
  at: number,
  textBytes: number,
  jsonBytes: number,
  spansBytes: number,
  offsetBytes: number,
];

/** What is held while a reading asks for it: the file is read bit by bit, and never as a whole. */
interface Opened {
  /** Null: there is none. */
  readonly file: number | null;
  readonly places: ReadonlyMap<string, Place>;
}

/**
 * Parsed specs in one file of the git directory, so that another process parses only what changed. Each goes by git's name
 * of its content; the file goes by the code of the program, so that another version never reads it. It may be deleted at any
 * time. What cannot be read, or was changed, counts as not there, and what cannot be written is not kept.
 */
export class KeptFiles implements MadeBefore {
  readonly #folder: string;
  readonly #name: string;
  /** Of those in the file; null: it was not looked at yet. */
  #ids: ReadonlySet<string> | null = null;
  #opened: Opened | null = null;
  /** Room for the offsets of many files: one of its own for each would weigh as much again. */
  readonly #room = new Room();

  constructor(gitDir: string, prefix: string) {
    this.#folder = parsedFolder(gitDir);
    const about = `${programHash()} ${endianness()} ${prefix}`;
    this.#name = createHash('sha256').update(about).digest('hex');
  }

  /** @param id see `SpecCache.parsed`. */
  parsed(id: string): ParsedFile | undefined {
    const found = this.#body(id);
    if (found === undefined) return undefined;
    const { body, place } = found;
    const text = body.toString('utf8', 0, place[2]);
    return parsedAgain(kindIn(id), text, this.#apartIn(body, place));
  }

  apart(id: string): ParsedApart | undefined {
    const found = this.#body(id);
    return found && this.#apartIn(found.body, found.place);
  }

  /**
   * Writes all that was parsed where too much of it is not in the file.
   *
   * @param parsed by id. What is wrong among it is parsed each time.
   */
  async keep(parsed: ReadonlyMap<string, ParsedFile>): Promise<void> {
    const known = this.#ids ?? new Set(this.#open().places.keys());
    this.#ids = known;
    const right = [...parsed].flatMap(([id, file]): RightFile[] =>
      file instanceof RightSpec ? [[id, file]] : [],
    );
    const isWritten =
      isWorthWriting(right, known) &&
      (await writeKept(
        this.#folder,
        this.#name,
        chunksOf(right, (id) => this.#body(id)),
      ));
    if (isWritten) this.#ids = new Set(right.map(([id]) => id));
    this.close();
  }

  /** Closes the file, which the next reading opens again. */
  close(): void {
    const file = this.#opened?.file ?? null;
    this.#opened = null;
    if (file !== null) closeSync(file);
  }

  #open(): Opened {
    if (this.#opened === null) {
      this.#opened = openedAt(join(this.#folder, this.#name));
      this.#ids = new Set(this.#opened.places.keys());
    }
    return this.#opened;
  }

  /** Bytes that the next reading overwrites. */
  #body(id: string): { readonly body: Buffer; readonly place: Place } | undefined {
    if (this.#ids?.has(id) === false) return undefined;
    const { file, places } = this.#open();
    const place = places.get(id);
    if (file === null || place === undefined) return undefined;
    const [, at, ...lengths] = place;
    const body = bytesAt(file, at, lengths[0] + lengths[1] + lengths[2]);
    return body && { body, place };
  }

  #apartIn(body: Buffer, [, , textBytes, jsonBytes, spansBytes, offsetBytes]: Place): ParsedApart {
    const end = textBytes + jsonBytes;
    const json = body.toString('utf8', textBytes, end);
    return { json, spans: this.#room.copyOf(body.subarray(end, end + spansBytes), offsetBytes) };
  }
}

/** Whether a run before this one kept what it parsed, of whatever directory and by whatever code. */
export function hasKept({ gitDir }: { readonly gitDir: string }): boolean {
  return existsSync(parsedFolder(gitDir));
}

function parsedFolder(gitDir: string): string {
  return join(gitDir, 'flagkeel', 'parsed');
}

/** Makes the readings of a memory (`SpecCache`) look for parsed files in a repository, and keep them there. */
export function keepParsed(
  memory: { kept?: KeptFiles | undefined },
  repository: { readonly gitDir: string; readonly prefix: string } | null,
): void {
  if (repository !== null) memory.kept ??= new KeptFiles(repository.gitDir, repository.prefix);
}

type RightFile = readonly [id: string, file: RightSpec];

/** @param known ids of those that stand in the file. */
function isWorthWriting(files: readonly RightFile[], known: ReadonlySet<string>): boolean {
  const fresh = files.filter(([id]) => !known.has(id)).length;
  if (fresh * ONE_IN <= known.size) return false;
  return files.reduce((sum, [, { source }]) => sum + source.text.length, 0) <= MOST_TEXT;
}

/** What is read of the file at once: memory of this size is given back to the system, that of larger pieces is not always. */
const PIECE_BYTES = 256 * 1024;
let piece = Buffer.alloc(0);

/** Bytes that the next call overwrites; undefined where the file is shorter. */
function bytesAt(file: number, at: number, length: number): Buffer | undefined {
  if (piece.length < length) piece = Buffer.allocUnsafe(Math.max(length, PIECE_BYTES));
  return readSync(file, piece, 0, length, at) === length ? piece.subarray(0, length) : undefined;
}

/** Opens the file where there is one, and it is as it was written. */
function openedAt(path: string): Opened {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    const end = soundEnd(file);
    if (end !== null) return { file, places: placesIn(file, end) };
  } catch {
    // It counts as not there.
  }
  if (file !== null) closeSync(file);
  return { file: null, places: new Map() };
}

/** Where the hash at the end of the file begins; null where the file is not what it says. */
function soundEnd(file: number): number | null {
  const end = fstatSync(file).size - HASH_BYTES;
  const hash = createHash('sha256');
  for (let at = 0; at < end; at += PIECE_BYTES) {
    hash.update(bytesAt(file, at, Math.min(PIECE_BYTES, end - at)) ?? '');
  }
  return bytesAt(file, end, HASH_BYTES)?.equals(hash.digest()) === true ? end : null;
}

/** The table behind the bodies, with its length at its end. */
function placesIn(file: number, hashAt: number): ReadonlyMap<string, Place> {
  const end = hashAt - LENGTH_BYTES;
  const length = bytesAt(file, end, LENGTH_BYTES)?.readUInt32LE() ?? 0;
  const table = bytesAt(file, end - length, length)?.toString('utf8') ?? '[]';
  return new Map((JSON.parse(table) as readonly Place[]).map((place) => [place[0], place]));
}

/** Memory for many small lists of offsets, some hundred at a time. */
class Room {
  #bytes = new ArrayBuffer(0);
  #taken = 0;

  /** A list takes a multiple of eight bytes, so that all of them lie where their numbers may. */
  copyOf(bytes: Uint8Array, offsetBytes: number): Spans {
    if (this.#taken + bytes.length > this.#bytes.byteLength) {
      this.#bytes = new ArrayBuffer(Math.max(bytes.length, PIECE_BYTES));
      this.#taken = 0;
    }
    const [into, at] = [this.#bytes, this.#taken];
    new Uint8Array(into, at, bytes.length).set(bytes);
    this.#taken += bytes.length;
    const count = bytes.length / offsetBytes;
    return offsetBytes === 2 ? new Uint16Array(into, at, count) : new Uint32Array(into, at, count);
  }
}

/** Of an id, which begins with it. */
function kindIn(id: string): FileKind {
  return id.slice(0, id.indexOf(':')) as FileKind;
}

/**
 * A file bit by bit: bodies, their table, its length, and the hash of all that.
 *
 * @param known the body of a file that stands in the last one; it is copied.
 */
function* chunksOf(
  files: readonly RightFile[],
  known: (id: string) => { readonly body: Buffer; readonly place: Place } | undefined,
): Generator<Buffer> {
  const hash = createHash('sha256');
  const places: Place[] = [];
  let at = 0;
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const bodies = files.slice(from, from + AT_ONCE).flatMap(([id, file]) => {
      const found = known(id);
      const { body, lengths } = found ? copyOf(found) : bodyOf(file);
      places.push([id, at, ...lengths]);
      at += lengths[0] + lengths[1] + lengths[2];
      return body;
    });
    const chunk = Buffer.concat(bodies);
    hash.update(chunk);
    yield chunk;
  }
  const table = Buffer.from(JSON.stringify(places));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(table.length);
  yield Buffer.concat([table, length, hash.update(table).update(length).digest()]);
}

interface Body {
  readonly body: readonly Uint8Array[];
  readonly lengths: readonly [number, number, number, number];
}

function copyOf({ body, place }: { readonly body: Buffer; readonly place: Place }): Body {
  const [, , ...lengths] = place;
  return { body: [Buffer.from(body)], lengths };
}

function bodyOf(file: RightSpec): Body {
  const { json, spans } = file.apart();
  const body = [
    Buffer.from(file.source.text),
    Buffer.from(json),
    new Uint8Array(spans.buffer, spans.byteOffset, spans.byteLength),
  ] as const;
  const [text, value, offsets] = body;
  const lengths = [text.length, value.length, offsets.length, spans.BYTES_PER_ELEMENT] as const;
  return { body, lengths };
}

/**
 * Writes one file of a folder in the git directory, under another name first: a reader sees all of it or nothing. Of such files the newest
 * few are kept.
 *
 * @returns false where it cannot be written: a directory of somebody else, or a full disk.
 */
export async function writeKept(
  folder: string,
  name: string,
  content: string | Iterable<Buffer>,
): Promise<boolean> {
  const unfinished = join(folder, `${name}.${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(unfinished, content);
    await rename(unfinished, join(folder, name));
    await removeOld(folder);
    return true;
  } catch {
    await rm(unfinished, { force: true }).catch(() => undefined);
    return false;
  }
}

/** So that neither versions of the program nor processes that were stopped fill the disk. */
async function removeOld(folder: string): Promise<void> {
  const found = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const { mtimeMs } = await stat(join(folder, name));
      return { name, mtimeMs, isUnfinished: name.includes('.') };
    }),
  );
  const finished = found.filter(({ isUnfinished }) => !isUnfinished);
  const newest = finished.toSorted((a, b) => b.mtimeMs - a.mtimeMs).slice(0, MOST_KEPT);
  const abandoned = Date.now() - ABANDONED_MS;
  const old = found.filter(
    (each) => !newest.includes(each) && !(each.isUnfinished && each.mtimeMs > abandoned),
  );
  await Promise.all(old.map(async ({ name }) => rm(join(folder, name), { force: true })));
}
