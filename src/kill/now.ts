import { lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withKillEntry, withoutKillEntry, type KillEntry } from '../specs/edit/edit-file.js';
import { findEnvironment, findWorkspace, type Workspace } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import { KILL } from '../admin-api/wire.js';
import type { AdminWriter, DefinitionTarget } from '../admin-api/writer.js';
import { FlaghoistError } from '../errors.js';
import { truncateNote } from '../model/audit-note.js';
import type { Config, Desired } from '../model/desired.js';
import type { Location } from '../model/diagnostic.js';
import type { ChangeNote } from '../model/outcome.js';
import { loadFiles } from '../specs/parse/load-files.js';
import { readSpecs } from '../specs/read-specs.js';
import { orderedKills } from '../specs/resolve/kills.js';
import { killsAlone } from './first.js';
import { isNotThere, liveDefinition } from './live-definition.js';
import type { Source } from '../git/spec-source.js';

interface ListChange {
  /** The config directory, symbolic links resolved. */
  readonly directory: string;
  /** As the config names it. */
  readonly environment: string;
  readonly flag: string;
  /** Null: the entry goes. */
  readonly entry: KillEntry | null;
}

/**
 * Writes the change of a break-glass list into the working tree.
 *
 * @returns the path of the file, relative to the directory; null where the file says so already.
 * @throws Error the file is no list, or lies outside the directory.
 */
export async function prepareList(change: ListChange): Promise<{ readonly path: string | null }> {
  const { directory, environment, flag, entry } = change;
  if (!/^[\w][\w .-]*$/.test(environment)) throw new Error(`"${environment}" is no file name`);
  const path = `kills/${environment}.yaml`;
  const file = join(directory, path);
  const before = await textOf(file, directory);
  if (before === undefined && entry === null) return { path: null };
  const after = entry ? withKillEntry(before, flag, entry) : withoutKillEntry(before ?? '', flag);
  if (after === undefined) throw new Error(`${path} is no list of kills`);
  if (after === before) return { path: null };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, after);
  return { path };
}

/** Undefined: there is no such file. A link could lead anywhere, and is not followed. */
async function textOf(file: string, directory: string): Promise<string | undefined> {
  for (const path of [dirname(file), file]) {
    const found = await lstat(path).catch(() => null);
    if (found === null) return undefined;
    if (found.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
  }
  if (dirname(dirname(await realpath(file))) !== directory)
    throw new Error(`${file} lies elsewhere`);
  return readFile(file, 'utf8');
}

/** What a person pastes into a shell to commit a file with a title and a text. */
export function commitCommands(
  directory: string,
  path: string,
  title: string,
  text: string,
): string[] {
  const git = `git -C ${shellWord(directory)}`;
  return [
    `${git} add -- ${shellWord(path)}`,
    `${git} commit -m ${shellWord(title)} -m ${shellWord(text)} -- ${shellWord(path)}`,
  ];
}

function shellWord(text: string): string {
  // Control characters would be obeyed by the terminal that they are shown in.
  const plain = text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return /^[\w./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", `'\\''`)}'`;
}

export interface ActRequest {
  readonly flag: string;
  /** As flaghoist.yaml names it. */
  readonly environment: string;
  readonly isKill: boolean;
  readonly reason?: string | undefined;
}

export interface LiveAct {
  /** The config directory. */
  readonly directory: string;
  readonly title: string;
  /** Never empty. */
  readonly reason: string;
  /** Where it was done. */
  readonly place: Workspace;
  /** As the service names it. */
  readonly environmentName: string;
  /** What the write carried; null: the service had it so before, and nothing was sent. */
  readonly sent: ChangeNote | null;
  /** Where flags say `killed: true` of this definition. */
  readonly orderedAt: readonly Location[];
}

/**
 * Kills or restores one definition on the service, at once and of any flag: the specs only have to say where the
 * service is. The state is left alone, so that no other run keeps it waiting.
 *
 * @throws FlaghoistError `SPECS_INVALID` flaghoist.yaml cannot be read; `USAGE` it has no such environment;
 *   `NOT_ON_SERVICE` the flag has no definition there.
 */
export async function actLive(
  context: {
    readonly source: Source;
    readonly openReader: (desired: Desired) => Promise<AdminReader>;
  },
  openWriter: () => AdminWriter,
  { flag, environment: word, isKill, reason: given }: ActRequest,
): Promise<LiveAct> {
  const { source } = context;
  const verb = isKill ? 'kill' : 'restore';
  const desired = await specsOf(source, verb);
  requireEnvironment(desired.config, word, verb);
  const reader = await context.openReader(desired);
  const place = await findWorkspace(reader, desired.config.workspace);
  const { id: environmentId, name } = findEnvironment(place, word);
  const target = { workspaceId: place.workspace.id, environmentId, flag };
  const live = await liveDefinition(reader, target, flag);
  const nowhere = new FlaghoistError(
    'NOT_ON_SERVICE',
    `cannot ${verb} flag "${flag}": it has no definition in environment "${name}"`,
  );
  if (live === undefined) throw nowhere;
  const title = `${isKill ? 'Kill' : 'Restore'} ${flag} in ${name}`;
  const reason = given === undefined || given.trim() === '' ? title : given;
  const sent = live?.killed === isKill ? null : truncateNote({ title, comment: reason }, title);
  if (sent) await write(openWriter(), target, { isKill, note: sent }, nowhere);
  const said = orderedKills(await loadFiles(source.tree), [word]);
  const orderedAt = said.filter((each) => each.flag === flag).map(({ location }) => location);
  const { directory } = source.checkout;
  return { directory, title, reason, place, environmentName: name, sent, orderedAt };
}

/** @param nowhere thrown where the service says that there is nothing to write to. */
async function write(
  writer: AdminWriter,
  target: DefinitionTarget,
  { isKill, note }: { readonly isKill: boolean; readonly note: ChangeNote },
  nowhere: FlaghoistError,
): Promise<void> {
  const operations = isKill ? KILL : KILL.map((each) => ({ ...each, value: false }));
  try {
    await writer.patchDefinition(target, operations, note);
  } catch (error) {
    throw isNotThere(error) ? nowhere : error;
  }
}

async function specsOf(source: Source, verb: string): Promise<Desired> {
  const specs = await readSpecs(source.tree);
  if (specs.ok) return specs.desired;
  if (specs.config) return killsAlone(specs.config, specs.kills);
  throw new FlaghoistError(
    'SPECS_INVALID',
    `cannot ${verb} a flag: flaghoist.yaml does not say where (flaghoist validate)`,
  );
}

function requireEnvironment({ environments }: Config, name: string, verb: string): void {
  if (environments.some((each) => each.name === name)) return;
  const known = environments.map((each) => `"${each.name}"`).join(', ');
  throw new FlaghoistError(
    'USAGE',
    `cannot ${verb} in environment "${name}": flaghoist.yaml has ${known}`,
  );
}
