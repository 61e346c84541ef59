import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { configData, isRepository, objectFormat, openBare } from '../git/own-repository.js';
import type { StateKey } from './known-state.js';
import { encodeName } from './codec.js';
import { sha256 } from '../model/json.js';
import type { Checkout, Repository } from '../git/checkout.js';
import type { RemoteAccess } from '../git/environment.js';
import { exitCodeOf, FETCH, outputOf, runGit, type Git } from '../git/git.js';
import { ObjectReader } from '../git/objects.js';
import { FlagkeelError } from '../errors.js';
import { type GitCredentials, originAccess } from '../git/remote-access.js';

export const STATE_REFS = 'refs/flagkeel/';
export const FETCHED_REFS = 'refs/flagkeel-origin/';
const ALL_STATES = `+${STATE_REFS}*:${FETCHED_REFS}*`;

type NamedState = Pick<StateKey, 'workspaceId' | 'origin' | 'directory'>;

export function stateRefName({ workspaceId, origin, directory }: NamedState): string {
  const workspace = encodeName(workspaceId).replaceAll('.', '%2E');
  return `${STATE_REFS}${workspace}/${stateHash(origin, directory)}`;
}

export function stateHash(origin: string, directory: string): string {
  return sha256(`${origin}\n${directory}`).slice(0, 8);
}

export function fetchedName(ref: string): string {
  return ref.replace(STATE_REFS, FETCHED_REFS);
}

/** The repository that holds states: that of the checkout, or a separate bare one. */
export interface StateRepository {
  readonly gitDir: string;
  open(): Promise<Git>;
  /** Opens its objects and refs without the config of the checkout, for commands that use a network. */
  ours(): Promise<Git>;
  /** Lends the reader of the checkout, or one for this use alone. */
  reading<T>(use: (git: Git, objects: ObjectReader) => Promise<T>): Promise<T>;
  /** Whether there is anything to read: only the first write creates a separate repository. */
  exists(): Promise<boolean>;
}

/**
 * The directory for states, or else the repository of the checkout; null if neither is writable. Creates nothing.
 *
 * @param isLook takes one that cannot be written, too.
 */
export async function stateRepository(
  checkout: Checkout,
  stateDir: string | undefined,
  isLook = false,
): Promise<StateRepository | null> {
  if (stateDir !== undefined) {
    const isHome = (await canBecomeHome(stateDir)) || (isLook && (await isRepository(stateDir)));
    if (isHome) return bare(resolve(stateDir), checkout.repository);
  }
  const { repository } = checkout;
  if (repository === null || !(isLook || (await isWritable(repository.gitDir)))) return null;
  const { git, gitDir, objects, ours } = repository;
  return {
    gitDir,
    open: async () => Promise.resolve(git),
    ours,
    reading: async (use) => use(git, objects),
    exists: async () => Promise.resolve(true),
  };
}

function bare(directory: string, checkout: Repository | null): StateRepository {
  let opened: Promise<Git> | null = null;
  const open = async (): Promise<Git> =>
    (opened ??= openBare(directory, 'state repository', async () => formatOf(checkout)));
  return {
    gitDir: directory,
    open,
    ours: open,
    reading: async (use) => {
      const git = await open();
      const objects = new ObjectReader(git);
      try {
        return await use(git, objects);
      } finally {
        await objects.close();
      }
    },
    exists: async () => opened !== null || isRepository(directory),
  };
}

async function canBecomeHome(directory: string): Promise<boolean> {
  let nearest = resolve(directory);
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest);
  return isWritable(nearest);
}

async function isWritable(gitDir: string): Promise<boolean> {
  const parts = ['objects', 'refs'].map((each) => join(gitDir, each));
  const places = [gitDir, ...parts.filter((place) => existsSync(place))];
  const answers = await Promise.all(places.map(isWritableDirectory));
  return answers.every(Boolean);
}

async function isWritableDirectory(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

export interface RefMove {
  readonly ref: string;
  /** null removes the ref. */
  readonly commit: string | null;
  /** null if there must be no such ref. */
  readonly expected: string | null;
}

export interface Pushed {
  readonly done: ReadonlySet<string>;
  readonly error: FlagkeelError | null;
}

/**
 * `origin` of the checkout, for the refs that runs on other machines share. Commands run in a repository of our own, so
 * that no setting of the checkout but the URL has an effect: it could name programs to run, or other servers.
 */
export class StateOrigin {
  readonly git: Git;
  readonly #access: RemoteAccess;
  #signal: AbortSignal | undefined;

  /** @param signal ends a fetch, and never a push. */
  constructor(git: Git, access: RemoteAccess, signal?: AbortSignal) {
    this.git = git;
    this.#access = access;
    this.#signal = signal;
  }

  /** From now on an interrupt ends no fetch either: what was written is to be recorded. */
  mustFinish(): void {
    this.#signal = undefined;
  }

  /**
   * Fetches a ref of origin into a local ref, which is removed if origin lacks the ref.
   *
   * @throws FlagkeelError `GIT` origin cannot be reached; `INTERRUPTED`.
   */
  async fetch(ref: string, into: string): Promise<void> {
    // Git fails on a single ref that origin lacks, whereas a pattern may match nothing.
    await this.#fetch(['--prune', this.#access.url, `+${ref}*:${into}*`], ref);
  }

  /** @throws FlagkeelError `GIT` origin cannot be reached; `INTERRUPTED`. */
  async fetchAll(): Promise<void> {
    await this.#fetch([this.#access.url, ALL_STATES], 'the states');
  }

  /** Fetches again where another run moved the same ref here at the same time: git ends with 1 then, and with 128 else. */
  async #fetch(args: readonly string[], what: string, tries = 3): Promise<void> {
    try {
      await this.#run([...FETCH, ...args], `fetch ${what} from origin`, this.#signal);
    } catch (error) {
      if (exitCodeOf(error) !== 1 || tries === 1) throw error;
      await this.#fetch(args, what, tries - 1);
    }
  }

  /**
   * Moves refs of origin in one push, each only if it still holds the expected commit.
   *
   * @param atomic all of them or none; a server that cannot do that moves none.
   * @returns names of the refs that hold their new commit now, and the error of the others, if any.
   * @throws FlagkeelError `GIT` git could not be run.
   */
  async push(moves: readonly RefMove[], { atomic }: { readonly atomic: boolean }): Promise<Pushed> {
    const refspecs = moves.map(({ ref, commit }) => `${commit ?? ''}:${ref}`);
    const leases = moves.map(({ ref, expected }) => `--force-with-lease=${ref}:${expected ?? ''}`);
    const options = ['--porcelain', '--no-verify', '--no-recurse-submodules', ...leases];
    if (atomic) options.push('--atomic');
    const args = ['push', ...options, this.#access.url, ...refspecs];
    const purpose = `push ${moves.map(({ ref }) => ref).join(', ')} to origin`;
    try {
      return { done: doneIn(await this.#run(args, purpose)), error: null };
    } catch (error) {
      if (!(error instanceof FlagkeelError) || exitCodeOf(error) === null) throw error;
      return { done: doneIn(outputOf(error)), error };
    }
  }

  /**
   * Moves a ref of origin, if it still holds the expected commit. @returns false if another run moved it first.
   *
   * @throws FlagkeelError `GIT` origin cannot be reached, or refuses.
   */
  async move({ ref, commit, expected }: RefMove): Promise<boolean> {
    const { done, error } = await this.push([{ ref, commit, expected }], { atomic: false });
    if (error === null || done.has(ref)) return true;
    // The answer may have been lost, and only the ref on origin tells a refusal from a lost race.
    const args = ['ls-remote', '--refs', this.#access.url, ref];
    const listed = await this.#run(args, `ask origin for ${ref}`);
    const now = /^[0-9a-f]+/.exec(listed)?.[0] ?? null;
    if (now === commit) return true;
    if (now !== expected) return false;
    throw error;
  }

  async #run(args: readonly string[], purpose: string, signal?: AbortSignal): Promise<string> {
    const { remedy } = this.#access;
    try {
      return await runGit(this.git, { args, purpose, network: this.#access, signal });
    } catch (error) {
      if (remedy === undefined || exitCodeOf(error) !== 128) throw error;
      const { message, cause } = error as FlagkeelError;
      const advice = NO_ANSWER.test(message) ? '' : ` (${remedy})`;
      throw new FlagkeelError('GIT', `${message}${advice}`, { cause });
    }
  }
}

export interface OriginOptions {
  /** Default: the credentials of the operator's own git. */
  readonly git?: GitCredentials | undefined;
  /** Ends a fetch from origin before the first write. Default: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * @param home the repository that holds the state; `origin` is always that of the checkout.
 * @throws FlagkeelError `GIT` there is no origin, or it is not a URL that one can push to.
 */
export async function openStateOrigin(
  checkout: Repository | null,
  home: StateRepository,
  { git: given, signal }: OriginOptions = {},
): Promise<StateOrigin> {
  if (checkout?.remote)
    return new StateOrigin(await oursFor(checkout, home), checkout.remote, signal);
  const url = checkout && (await originUrl(checkout));
  if (!checkout || url === null) {
    const message =
      'cannot share the state: this checkout has no remote "origin" (set `state: { push: false }`, or add one)';
    throw new FlagkeelError('GIT', message);
  }
  const access = await originAccess(url, checkout.root, given);
  return new StateOrigin(await oursFor(checkout, home), access, signal);
}

/** @throws FlagkeelError `GIT` the home is of another format, so that git cannot exchange states with origin. */
async function oursFor(checkout: Repository, home: StateRepository): Promise<Git> {
  const git = await home.ours();
  const own = await objectFormat(home.gitDir, checkout.memory);
  const needed = await formatOf(checkout);
  if (own === needed) return git;
  const why = `"${home.gitDir}" has ${own} objects, and the repository of the specs ${needed}`;
  const wayOut = 'name another folder in FLAGKEEL_STATE_DIR';
  throw new FlagkeelError('GIT', `cannot share the state: ${why} (${wayOut})`);
}

async function formatOf(checkout: Repository | null): Promise<string> {
  return checkout === null ? 'sha1' : objectFormat(checkout.gitDir, checkout.memory);
}

export async function hasOrigin(repository: Repository | null): Promise<boolean> {
  if (repository?.remote) return true;
  return repository !== null && (await originUrl(repository)) !== null;
}

async function originUrl({ gitDir, memory }: Repository): Promise<string | null> {
  return (await configData(gitDir, memory)).originUrl;
}

/** Words of git where no server answered, or answered with another error than 4xx: no credentials would help. */
const NO_ANSWER = /: unable to access '.*': (?!The requested URL returned error: 4)/;

/** The refs that a push moved, or found in place. Each line has a sign, `from:to` and a text, with tabs between. */
function doneIn(output: string): ReadonlySet<string> {
  const lines = output.split('\n').map((line) => /^([ +\-*=!])\t[^:\t]*:([^\t]+)\t/.exec(line));
  const moved = lines.filter((line) => line !== null && line[1] !== '!');
  return new Set(moved.flatMap((line) => line?.[2] ?? []));
}
