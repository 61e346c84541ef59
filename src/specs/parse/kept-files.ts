import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join } from 'node:path';
import { byCodeUnits } from '../../model/json.js';
import { apartFrom, isRight, parsedAgain, type FileKind, type ParsedFile } from './parse-file.js';
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

/** What is held in memory while a reading asks for it. */
interface Loaded {
  readonly bytes: Buffer;
  readonly places: ReadonlyMap<string, Place>;
  /** Room for the offsets of all files: one of its own for each would weigh as much again. */
  readonly room: ArrayBuffer;
  /** How much of it is taken, in bytes. */
  taken: number;
}

/**
 * Parsed specs in one file of the git directory, so that another process parses only what changed. Each goes by git's name
 * of its content; the file goes by the code that parsed, so that another version never reads it. It may be deleted at any
 * time. What cannot be read, or was changed, counts as not there, and what cannot be written is not kept.
 */
export class KeptFiles {
  readonly #folder: string;
  readonly #name: string;
  /** Of those in the file; null: it was not looked at yet. */
  #ids: ReadonlySet<string> | null = null;
  #loaded: Loaded | null = null;

  constructor(gitDir: string, prefix: string) {
    this.#folder = join(gitDir, 'flaghoist', 'parsed');
    const about = `${parserHash()} ${endianness()} ${prefix}`;
    this.#name = createHash('sha256').update(about).digest('hex');
  }

  /** @param id see `SpecCache.parsed`. */
  parsed(id: string): ParsedFile | undefined {
    if (this.#ids?.has(id) === false) return undefined;
    const loaded = this.#load();
    const place = loaded.places.get(id);
    return place && parsedFileIn(loaded, place);
  }

  /**
   * Lets go of what was read, and writes all that was parsed where too much of it is not in the file.
   *
   * @param parsed by id. What is wrong among it is parsed each time.
   */
  async keep(parsed: ReadonlyMap<string, ParsedFile>): Promise<void> {
    const known = this.#ids ?? new Set(this.#load().places.keys());
    this.#loaded = null;
    this.#ids = known;
    const right = [...parsed].filter(([, file]) => isRight(file));
    const fresh = right.filter(([id]) => !known.has(id)).length;
    if (fresh * ONE_IN <= known.size) return;
    if (right.reduce((sum, [, { source }]) => sum + source.text.length, 0) > MOST_TEXT) return;
    if (await this.#write(right)) this.#ids = new Set(right.map(([id]) => id));
  }

  #load(): Loaded {
    if (this.#loaded === null) {
      const bytes = soundBytes(join(this.#folder, this.#name));
      const all = placesIn(bytes);
      const places = new Map(all.map((place) => [place[0], place]));
      const room = new ArrayBuffer(all.reduce((sum, [, , , , spansBytes]) => sum + spansBytes, 0));
      this.#loaded = { bytes, places, room, taken: 0 };
      this.#ids = new Set(places.keys());
    }
    return this.#loaded;
  }

  /** Under another name first: a reader sees all of it or nothing. */
  async #write(files: readonly (readonly [string, ParsedFile])[]): Promise<boolean> {
    const unfinished = join(this.#folder, `${this.#name}.${randomUUID()}`);
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(unfinished, chunksOf(files));
      await rename(unfinished, join(this.#folder, this.#name));
      await removeOld(this.#folder);
      return true;
    } catch {
      // A directory that cannot be written to, or a full disk: the next process parses once more.
      await rm(unfinished, { force: true }).catch(() => undefined);
      return false;
    }
  }
}

/** Makes the readings of a memory (`SpecCache`) look for parsed files in a repository, and keep them there. */
export function keepParsed(
  memory: { kept?: KeptFiles | undefined },
  repository: { readonly gitDir: string; readonly prefix: string } | null,
): void {
  if (repository !== null) memory.kept ??= new KeptFiles(repository.gitDir, repository.prefix);
}

/** All of a file but the hash at its end; empty where there is none, or it is not as it was written. */
function soundBytes(path: string): Buffer {
  try {
    const whole = readFileSync(path);
    const bytes = whole.subarray(0, -HASH_BYTES);
    const hash = createHash('sha256').update(bytes).digest();
    return hash.equals(whole.subarray(-HASH_BYTES)) ? bytes : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}

/** The table behind the bodies, with its length at its end. */
function placesIn(bytes: Buffer): readonly Place[] {
  if (bytes.length === 0) return [];
  const end = bytes.length - LENGTH_BYTES;
  const table = bytes.toString('utf8', end - bytes.readUInt32LE(end), end);
  return JSON.parse(table) as readonly Place[];
}

/** Nothing of it points into the bytes, which are let go of. */
function parsedFileIn(loaded: Loaded, place: Place): ParsedFile {
  const { bytes } = loaded;
  const [id, at, textBytes, jsonBytes] = place;
  const jsonAt = at + textBytes;
  const json = bytes.toString('utf8', jsonAt, jsonAt + jsonBytes);
  const spans = spansIn(loaded, jsonAt + jsonBytes, place);
  return parsedAgain(kindIn(id), bytes.toString('utf8', at, jsonAt), { json, spans });
}

/** A copy. Each takes a multiple of eight bytes, so that all of them lie where their numbers may. */
function spansIn(loaded: Loaded, from: number, [, , , , spansBytes, offsetBytes]: Place): Spans {
  const { bytes, room, taken } = loaded;
  // Asked for twice, as by two paths of one content.
  const into = taken + spansBytes > room.byteLength ? new ArrayBuffer(spansBytes) : room;
  const at = into === room ? taken : 0;
  new Uint8Array(into, at, spansBytes).set(bytes.subarray(from, from + spansBytes));
  loaded.taken += into === room ? spansBytes : 0;
  const count = spansBytes / offsetBytes;
  return offsetBytes === 2 ? new Uint16Array(into, at, count) : new Uint32Array(into, at, count);
}

/** Of an id, which begins with it. */
function kindIn(id: string): FileKind {
  return id.slice(0, id.indexOf(':')) as FileKind;
}

/** A file bit by bit: bodies, their table, its length, and the hash of all that. */
function* chunksOf(files: readonly (readonly [string, ParsedFile])[]): Generator<Buffer> {
  const hash = createHash('sha256');
  const places: Place[] = [];
  let at = 0;
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const bodies = files.slice(from, from + AT_ONCE).flatMap(([id, file]) => {
      const { body, lengths } = bodyOf(file);
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

function bodyOf(file: ParsedFile): {
  readonly body: readonly Uint8Array[];
  readonly lengths: readonly [number, number, number, number];
} {
  const { json, spans } = apartFrom(file);
  const body = [
    Buffer.from(file.source.text),
    Buffer.from(json),
    new Uint8Array(spans.buffer, spans.byteOffset, spans.byteLength),
  ] as const;
  const [text, value, offsets] = body;
  const lengths = [text.length, value.length, offsets.length, spans.BYTES_PER_ELEMENT] as const;
  return { body, lengths };
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

/** Folders of all code that what is parsed depends on, besides the libraries. */
export const PARSER_FOLDERS = ['.', '../../model', '../../generated'] as const;

/** Of that code, and of the package, which names the versions of its libraries. */
function parserHash(): string {
  const hash = createHash('sha256').update(
    readFileSync(new URL('../../../package.json', import.meta.url)),
  );
  for (const folder of PARSER_FOLDERS) {
    const at = join(import.meta.dirname, folder);
    for (const name of readdirSync(at).sort(byCodeUnits)) {
      if (/\.[jt]s$/.test(name)) hash.update(name).update(readFileSync(join(at, name)));
    }
  }
  return hash.digest('hex');
}
