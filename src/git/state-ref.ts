import { FlaghoistError } from '../errors.js';
import { sameJson, sha256 } from '../kinds/json.js';
import type { State, StateEntry } from '../model/state.js';
import { GitMemory } from './git-memory.js';
import { exitCodeOf, type Git } from './git.js';
import { runWithInput } from './git-stream.js';
import { importData, makeCommit } from './made-commit.js';
import { ObjectReader } from './objects.js';
import {
  contentText,
  encodeName,
  parseEntryFile,
  parseRunFile,
  RUN_FILE,
  stateFiles,
  unreadable,
  type StateContent,
} from './state-file.js';

/** The ref may have been pushed by anyone who can push: more than this is no state of ours. */
const MAX_FILES = 100_000;
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES = 512 * 1024 * 1024;

/** What a state ref holds at one commit of it. */
export interface StateReading {
  readonly state: State;
  /** HEAD of the config repository that was applied last. */
  readonly head: string | null;
  /** Commit of the state ref; null before the first. */
  readonly commit: string | null;
}

/** Whose state a ref holds. */
export interface StatePlace {
  readonly workspaceId: string;
  readonly origin: string;
  readonly directory: string;
  /** Environment id → name. */
  readonly environments?: Readonly<Record<string, string>> | undefined;
}

export interface StateMeta {
  /** HEAD that was applied. */
  readonly head: string | null;
  /** A subject of one line; after an empty line what `git log` shows below it. */
  readonly message: string;
  /** Whatever the ref holds now, perhaps nothing that can be read, gives way to the state that is written. */
  readonly afresh?: boolean;
  /** The run writes nothing after this: who shares the state may let others in along with it. */
  readonly last?: boolean;
}

interface Tip {
  readonly commit: string | null;
  readonly files: ReadonlyMap<string, StateContent>;
}

const NOTHING: Tip = { commit: null, files: new Map() };

/**
 * @param directory the config directory seen from the top of its repository, forward slashes, empty for the top.
 */
export function stateRefName(workspaceId: string, origin: string, directory: string): string {
  const workspace = encodeName(workspaceId).replaceAll('.', '%2E');
  return `refs/flaghoist/${workspace}/${stateHash(origin, directory)}`;
}

export const STATE_REFS = 'refs/flaghoist/';
/** Where the state refs of `origin` stand here. */
export const ORIGIN_REFS = 'refs/flaghoist-origin/';

/** Full names of all state refs of a repository, sorted. */
export async function listStateRefs(git: Git, prefix = STATE_REFS): Promise<string[]> {
  const answer = await git.run(['for-each-ref', '--format=%(refname)', prefix], 'list the states');
  return answer.split('\n').filter((name) => name !== '');
}

export function stateHash(origin: string, directory: string): string {
  return sha256(`${origin}\n${directory}`).slice(0, 8);
}

/**
 * One state ref of one repository: a chain of commits, each the whole state after an apply.
 *
 * A write goes on from what was read last, and is refused when the ref has moved since.
 */
export class StateRef {
  readonly name: string;
  readonly #git: Git;
  readonly #place: StatePlace | null;
  readonly #memory: GitMemory;
  #tip: Tip | null = null;

  /** @param place of what is written; a ref that is only read needs none. */
  constructor(
    git: Git,
    name: string,
    place: StatePlace | null = null,
    memory: GitMemory = new GitMemory(),
  ) {
    this.#git = git;
    this.name = name;
    this.#place = place;
    this.#memory = memory;
  }

  /** Whose state the ref says it holds; null: it does not say. */
  async readPlace(): Promise<StatePlace | null> {
    try {
      const file = `${this.name}:${RUN_FILE}`;
      const size = await this.#git.run(['cat-file', '-s', file], `read ${this.name}`);
      if (Number(size) > MAX_FILE_BYTES) return null;
      const content = await this.#git.run(['cat-file', 'blob', file], `read ${this.name}`);
      const { workspace, origin, directory, environments } = parseRunFile(content);
      if (origin === undefined || directory === undefined) return null;
      return { workspaceId: workspace, origin, directory, environments };
    } catch {
      // Nothing that is pushed may stand in the way of the states that are in order.
      return null;
    }
  }

  /** The commit that the ref holds; null: there is no such ref. */
  async commit(): Promise<string | null> {
    try {
      const answer = await this.#git.run(
        ['rev-parse', '--verify', '--quiet', '--end-of-options', `${this.name}^{commit}`],
        `read ${this.name}`,
      );
      return answer.trim();
    } catch (error) {
      if (exitCodeOf(error) === null) throw error;
      return null;
    }
  }

  /**
   * @param at the commit that the ref was just seen to hold; absent: it is asked for.
   * @throws FlaghoistError `STATE_UNREADABLE`, `GIT`
   */
  async read(at?: string | null): Promise<StateReading> {
    const tip = await this.#readTip(at);
    const entries: [string, StateEntry][] = [];
    let head: string | null = null;
    for (const [path, content] of tip.files) {
      if (typeof content !== 'string') entries.push([`${content.kind}/${content.name}`, content]);
      else if (path === RUN_FILE) head = parseRunFile(content).head;
    }
    this.#tip = tip;
    return { state: new Map(entries), head, commit: tip.commit };
  }

  /**
   * Makes one commit of what differs, and none where nothing does.
   *
   * @param onto the reading of another ref that the commit follows, instead of what this one holds.
   * @returns the commit that the ref holds now; null: none, and there was nothing to write.
   * @throws FlaghoistError `IN_USE` the ref moved since it was read; `GIT`
   */
  async write(next: State, meta: StateMeta, onto: StateRef = this): Promise<string | null> {
    if (this.#place === null) throw new Error(`bug: ${this.name} was opened to be read`);
    const { afresh = false, head, message } = meta;
    const own = afresh ? null : (this.#tip ?? (await this.#readTip()));
    const from = own === null ? await this.commit() : own.commit;
    const parent = onto === this ? (own ?? { commit: from, files: null }) : (onto.#tip ?? NOTHING);
    const { workspaceId: workspace, ...place } = this.#place;
    const { files, lines } = difference(
      parent.files,
      stateFiles(next, { head, workspace, ...place }),
    );
    const commit =
      lines.length === 0
        ? parent.commit
        : await makeCommit(this.#git, { message, from: parent.commit, lines }, 'write the state');
    if (commit !== null && commit !== from) await this.#moveTo(commit, from);
    this.#tip = { commit, files };
    if (commit !== null) this.#keep(commit, files, parent.files);
    return commit;
  }

  #keep(commit: string, files: Tip['files'], before: Tip['files'] | null): void {
    this.#memory.keepState(commit, files);
    for (const [path, entry] of files) {
      if (typeof entry === 'string' || before?.get(path) === entry) continue;
      this.#memory.stateEntries.set(path, { blobId: null, entry });
    }
  }

  async #moveTo(commit: string, from: string | null): Promise<void> {
    const old = from ?? '0'.repeat(commit.length);
    try {
      const args = ['update-ref', '--no-deref', this.name, commit, old];
      await runWithInput(this.#git, args, '', `move ${this.name}`);
    } catch (error) {
      if ((await this.commit()) === from) throw error;
      this.#tip = null;
      throw new FlaghoistError(
        'IN_USE',
        `cannot write the state: another run moved ${this.name} meanwhile (run again)`,
        { cause: error },
      );
    }
  }

  async #readTip(at?: string | null): Promise<Tip> {
    const commit = at === undefined ? await this.commit() : at;
    if (commit === null) return NOTHING;
    const known = this.#memory.stateAt(commit);
    if (known) return { commit, files: known };
    const listing = await this.#git.run(
      ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit],
      `list the files of ${this.name}`,
    );
    const entries = listing.split('\0').flatMap(parseLine);
    checkSizes(entries, this.name);
    const objects = new ObjectReader(this.#git);
    try {
      const contents = await Promise.all(
        entries.map(async (line): Promise<[string, StateContent]> => {
          return [line.path, await this.#content(line, objects)];
        }),
      );
      const files = new Map(contents);
      this.#memory.keepState(commit, files);
      return { commit, files };
    } finally {
      await objects.close();
    }
  }

  async #content({ path, blobId }: Line, objects: ObjectReader): Promise<StateContent> {
    const { stateEntries } = this.#memory;
    const known = stateEntries.get(path);
    if (known?.blobId === blobId) return known.entry;
    const content = await objects.read(blobId);
    if (content === null) throw unreadable(path, 'is not in this repository');
    const text = content.toString('utf8');
    if (!path.startsWith('objects/')) return text;
    const parsed = parseEntryFile(path, text);
    // Who compares by identity finds equal what is equal.
    const isKnown = known !== undefined && sameJson(known.entry, parsed);
    const entry = isKnown ? known.entry : this.#memory.alike(parsed);
    stateEntries.set(path, { blobId, entry });
    return entry;
  }
}

interface Line {
  readonly path: string;
  readonly blobId: string;
  readonly sizeBytes: number;
}

function parseLine(line: string): Line[] {
  const tab = line.indexOf('\t');
  if (tab === -1) return [];
  const path = line.slice(tab + 1);
  const [mode, , blobId = '', size] = line.slice(0, tab).split(/ +/);
  if (mode !== '100644') throw unreadable(path, 'is no plain file');
  return [{ path, blobId, sizeBytes: Number(size) }];
}

function checkSizes(lines: readonly Line[], ref: string): void {
  const large = lines.find(({ sizeBytes }) => sizeBytes > MAX_FILE_BYTES);
  if (large !== undefined)
    throw unreadable(large.path, `is larger than ${String(MAX_FILE_BYTES)} bytes`);
  const total = lines.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (lines.length > MAX_FILES || total > MAX_TOTAL_BYTES) throw unreadable(ref, 'is too large');
}

/**
 * What a commit that follows another has to say, for `git fast-import`, and the files as they will be read.
 *
 * @param before of the commit that it follows; null: it is not known what stands there, and nothing of it may stay.
 */
function difference(
  before: Tip['files'] | null,
  after: Tip['files'],
): { readonly files: Tip['files']; readonly lines: readonly string[] } {
  const lines = before === null ? ['deleteall'] : [];
  const files = new Map<string, StateContent>();
  for (const [path, content] of after) {
    const known = before?.get(path);
    if (known !== undefined && sameJson(known, content)) {
      files.set(path, known);
      continue;
    }
    const text = contentText(content);
    lines.push(`M 100644 inline ${path}`, importData(text));
    files.set(path, typeof content === 'string' ? content : parseEntryFile(path, text));
  }
  for (const path of before?.keys() ?? []) if (!after.has(path)) lines.push(`D ${quoted(path)}`);
  return { files, lines };
}

/** A path of ours needs no quotes; one that was pushed may. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}
