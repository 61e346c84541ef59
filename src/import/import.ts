import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { keyOf, NAMED_KINDS, parseKey, type Kind } from '../model/ref.js';
import { CONFIG_PATH } from '../model/spec-tree.js';
import {
  findEnvironment,
  findWorkspace,
  readCatalogIn,
  type Catalog,
} from '../admin-api/workspace.js';
import { namesOnService, observe } from '../admin-api/kinds.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { WireWorkspace } from '../admin-api/wire.js';
import { FlagkeelError, messageOf } from '../errors.js';
import type { Actual } from '../model/actual.js';
import type { Progress } from '../model/run.js';
import { bindEnvironments, environmentNames } from '../model/bound-desired.js';
import { mostProtectedFirst } from '../model/desired.js';
import { sortedSet } from '../model/json.js';
import { EMPTY_STATE } from '../model/state.js';
import { OBSERVED_KINDS, observedKind } from '../plan/objects/kinds.js';
import { planChanges } from '../plan/plan.js';
import {
  cannotSay,
  nameProblems,
  readBack,
  workspaceFiles,
  type WorkspaceToWrite,
} from './workspace-files.js';
import { objectsSeen, wholeScopeOf } from '../plan/scope.js';
import { resolvePolicy } from '../reconcile/policy.js';
import type { SpecParts } from '../specs/read-specs.js';
import { openCheckout } from '../git/checkout.js';
import { directoryTree } from '../git/trees.js';
import { localChanges } from '../git/spec-source.js';

export interface ImportOptions {
  /** Name or id. Default: the only one that the key sees. */
  readonly workspace?: string | undefined;
  /** Names or ids; empty for all. */
  readonly environments: readonly string[];
  /** `KIND/NAME`; empty for all. */
  readonly only: readonly string[];
  /** `KIND/NAME` of objects that are not imported. */
  readonly exclude: readonly string[];
  readonly unmanaged?: readonly string[] | undefined;
  readonly progress?: Progress | undefined;
}

export interface Imported {
  readonly workspace: string;
  /** The most protected first. */
  readonly environments: readonly string[];
  /** Path → text, sorted by path. */
  readonly files: ReadonlyMap<string, string>;
  /** What was read from them. */
  readonly parts: SpecParts;
}

/** The files make the next plan empty. @throws FlagkeelError `SPECS_INVALID`: specs cannot say it. */
export async function importWorkspace(
  reader: AdminReader,
  options: ImportOptions,
): Promise<Imported> {
  const all = await reader.listWorkspaces();
  const wanted = options.workspace ?? onlyWorkspace(all, reader).id;
  const at = await readCatalogIn(reader, await findWorkspace(reader, wanted, '--workspace'));
  const environments = environmentsOf(at, options.environments);
  const names = await namesToImport(reader, at, options);
  // Before the look, which may take an hour.
  const problems = nameProblems(names);
  if (problems.length > 0) throw cannotSay(problems);
  const places = environments.map(({ name }) => name);
  const scope = wholeScopeOf(names, places);
  const actual = await observe(reader, at, scope, objectsSeen(scope, options.progress));
  refuseAbsent(names, actual, at);
  const workspace = clearName(at.workspace, all);
  const files = workspaceFiles({ workspace, environments, actual, unmanaged: options.unmanaged });
  return {
    workspace: at.workspace.name,
    environments: mostProtectedFirst(environments),
    files,
    parts: await prove(files, actual, at),
  };
}

function onlyWorkspace(all: readonly WireWorkspace[], { origin }: AdminReader): WireWorkspace {
  const [first, second] = all;
  if (first !== undefined && second === undefined) return first;
  const names = all.map(({ name }) => `"${name}"`).join(', ');
  const message =
    first === undefined
      ? `cannot import from ${origin}: the key sees no workspace`
      : `cannot tell which workspace to import: the key sees ${names} (name one with --workspace)`;
  throw new FlagkeelError('NOT_ON_SERVICE', message);
}

/** The name that a spec uses for an object of the service: its id if the own name would not find it alone. */
function clearName<T extends { readonly id: string; readonly name: string }>(
  { id, name }: T,
  all: readonly T[],
): string {
  const isClear = all.filter((each) => [each.name, each.id].includes(name)).length === 1;
  // In a flag `*` means every environment.
  return isClear && name !== '*' && name !== '' ? name : id;
}

/** Protected ones last, otherwise in the service's order. */
function environmentsOf(at: Catalog, wanted: readonly string[]): WorkspaceToWrite['environments'] {
  const named = new Set(wanted.map((each) => findEnvironment(at, each, '--environment')));
  return at.environments
    .filter((each) => wanted.length === 0 || named.has(each))
    .toSorted((a, b) => Number(a.production) - Number(b.production))
    .map((each) => {
      const { name, production } = each;
      return { name, protected: production, configName: clearName(each, at.environments) };
    });
}

async function namesToImport(
  reader: AdminReader,
  at: Catalog,
  { only, exclude }: Pick<ImportOptions, 'only' | 'exclude'>,
): Promise<ReadonlyMap<Kind, readonly string[]>> {
  const refs = only.flatMap((each) => parseKey(each) ?? []);
  const unlisted = refs.find(({ kind }) => observedKind(kind) === null);
  if (unlisted) {
    const key = keyOf(unlisted.kind, unlisted.name);
    const why = 'the service shows none, so write their files by hand';
    throw new FlagkeelError('USAGE', `cannot import ${key}: ${why}`);
  }
  const names = new Map<Kind, readonly string[]>();
  const left = new Set(exclude);
  for (const [kind] of OBSERVED_KINDS) {
    const named = refs.filter((ref) => ref.kind === kind).map(({ name }) => name);
    const all = sortedSet(only.length > 0 ? named : await allNames(reader, at, kind));
    const wanted = all.filter((name) => !left.delete(keyOf(kind, name)));
    names.set(kind, wanted);
  }
  const [stranger] = left;
  if (stranger === undefined) return names;
  const why = 'it is not among the objects to import';
  throw new FlagkeelError('USAGE', `cannot leave out ${stranger}: ${why}`);
}

async function allNames(reader: AdminReader, at: Catalog, kind: Kind): Promise<readonly string[]> {
  const listed = await namesOnService(reader, at, kind);
  if (listed !== null) return listed;
  const why = `the service has no list of its ${kind}s (name them: --only flag/NAME, and segments with --only segment/NAME; both repeatable)`;
  throw new FlagkeelError('UNREADABLE', `cannot import all ${kind}s from ${reader.origin}: ${why}`);
}

function refuseAbsent(
  names: ReadonlyMap<Kind, readonly string[]>,
  actual: Actual,
  { workspace }: Catalog,
): void {
  const absent = OBSERVED_KINDS.flatMap(([kind, { seen }]) =>
    (names.get(kind) ?? []).flatMap((name) =>
      seen(actual, name)?.existence === 'present' ? [] : [keyOf(kind, name)],
    ),
  );
  if (absent.length === 0) return;
  const why = `workspace "${workspace.name}" does not show it`;
  throw new FlagkeelError('NOT_ON_SERVICE', `cannot import ${absent.join(', ')}: ${why}`);
}

/** Reads the files as a run would, and plans them. A remaining difference would become an unwanted change. */
async function prove(
  files: ReadonlyMap<string, string>,
  actual: Actual,
  at: Catalog,
): Promise<SpecParts> {
  const { desired: specs, parts } = await readBack(files, 'the service');
  const desired = bindEnvironments(specs, environmentNames(at.environments));
  const none = { prune: false, adopt: false, revertDrift: false, allowOlder: false };
  const options = { environments: [], only: [], ...none };
  const policy = resolvePolicy(desired, at, options, { stateless: true, environments: {} });
  const left = planChanges({ desired, actual, state: EMPTY_STATE, policy });
  const differing = [...left.changes, ...left.withheld].map(
    ({ id }) => `${id}: it differs once read`,
  );
  if (differing.length > 0) throw cannotSay(differing);
  return parts;
}

/** The paths that an import replaces. Kills, identities and tests in the directory stay. */
const PARTS: readonly string[] = [
  ...Object.values(NAMED_KINDS).map(({ folder }) => folder),
  CONFIG_PATH,
];

/** Refuses to replace specs unasked, or beyond what this git can restore. @throws FlagkeelError `OUTPUT` */
export async function checkTarget(directory: string, overwrite: boolean): Promise<void> {
  const present = await presentParts(directory);
  const [first] = present;
  if (first === undefined) return;
  if (!overwrite) {
    throw cannotWrite(directory, `it has ${first} already (replace it with --overwrite)`);
  }
  const disk = await directoryTree(directory);
  const repository = disk.list().find(({ path, type }) => type === 'submodule' && isReplaced(path));
  if (repository !== undefined) {
    const why = `${repository.path} is a submodule, and --overwrite would delete its files (take it away)`;
    throw cannotWrite(directory, why);
  }
  const checkout = await openCheckout(directory);
  try {
    const changed = (await localChanges(checkout, { onDisk: disk })).filter(isReplaced);
    if (changed.length === 0) return;
    const names = changed.slice(0, 3).join(', ');
    throw cannotWrite(
      directory,
      `--overwrite would replace what git does not have: ${names} (commit it, or take it away)`,
    );
  } finally {
    await checkout.close();
  }
}

function isReplaced(path: string): boolean {
  return PARTS.some((part) => path === part || path.startsWith(`${part}/`));
}

/**
 * Writes the files, path → text, beside the existing ones and moves them into place once all are written, so that the
 * directory has either the whole import or its old content. @throws FlagkeelError `OUTPUT`
 */
export async function writeTarget(
  directory: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  let workshop: string | undefined;
  try {
    await mkdir(directory, { recursive: true });
    const target = await realpath(directory);
    // Beside the target, so that a move needs no copy.
    workshop = await mkdtemp(join(target, '.flagkeel-import-'));
    const fresh = join(workshop, 'new');
    for (const [path, text] of files) await writeNew(join(fresh, path), text);
    await exchange(target, fresh, join(workshop, 'old'));
  } catch (error) {
    if (error instanceof FlagkeelError) throw error;
    throw cannotWrite(directory, messageOf(error), error);
  } finally {
    if (workshop !== undefined) await rm(workshop, { recursive: true, force: true });
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const why = `two objects would share the file "${basename(path)}": this file system does not tell upper from lower case`;
    throw new Error(why, { cause: error });
  }
}

/** Moves the config last, because a directory without it is no config repository. Undoes a failed exchange. */
async function exchange(target: string, fresh: string, old: string): Promise<void> {
  const undo: (() => Promise<void>)[] = [];
  const move = async (from: string, to: string): Promise<void> => {
    await rename(from, to);
    undo.unshift(async () => rename(to, from));
  };
  await mkdir(old);
  const present = await presentParts(target);
  const written = await presentParts(fresh);
  try {
    for (const part of [...present].reverse()) await move(join(target, part), join(old, part));
    for (const part of written) await move(join(fresh, part), join(target, part));
  } catch (error) {
    for (const back of undo) await back();
    throw error;
  }
}

/** The parts that exist; empty folders do not count. */
async function presentParts(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const part of PARTS) {
    if (await holdsAnything(join(directory, part))) found.push(part);
  }
  return found;
}

async function holdsAnything(path: string): Promise<boolean> {
  try {
    return !(await lstat(path)).isDirectory() || (await readdir(path)).length > 0;
  } catch (error) {
    // A file in place of a folder gets a clear error later, when the folder is created.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

function cannotWrite(directory: string, why: string, cause?: unknown): FlagkeelError {
  const message = `cannot import into "${resolve(directory)}": ${why}`;
  return new FlagkeelError('OUTPUT', message, { cause });
}
