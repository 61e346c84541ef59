import { lstat, mkdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withKillEntry, withoutKillEntry, type KillEntry } from '../specs/edit/edit-file.js';
import { findEnvironment, findWorkspace, type Workspace } from '../admin-api/workspace.js';
import { look, type DefinitionTarget } from '../admin-api/look.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { WireDefinition } from '../admin-api/wire.js';
import type { AdminWriter } from '../admin-api/writer.js';
import { FlagkeelError, isRefusedWith, messageOf } from '../errors.js';
import { shellWord } from '../platform/shell.js';
import { truncateNote } from '../model/audit-note.js';
import type { Config } from '../model/desired.js';
import type { Location } from '../model/diagnostic.js';
import type { ChangeNote } from '../model/outcome.js';
import { loadFiles } from '../specs/parse/load-files.js';
import { readConfig } from '../specs/read-config.js';
import { orderedKills } from '../specs/resolve/kills.js';
import { directoriesOrdering } from './elsewhere.js';
import { killsAlone } from './first.js';
import { isNotFoundSo, type KillSurroundings, type RememberedPlace } from './send.js';

interface ListChange {
  /** The config directory, symbolic links resolved. */
  readonly directory: string;
  /** Name in the config. */
  readonly environment: string;
  readonly flag: string;
  /** null removes the entry. */
  readonly entry: KillEntry | null;
  /** Writes all of a file, or leaves it as it is: a list that was cut would take kills back. */
  readonly write: (file: string, text: string) => Promise<void>;
}

/**
 * Changes a break-glass list in the working tree.
 *
 * @returns the path of the file, relative to the directory; null if the file needs no change.
 * @throws Error if the file is no list, or lies outside the directory.
 */
export async function prepareList(change: ListChange): Promise<{ readonly path: string | null }> {
  const { directory, environment, flag, entry, write } = change;
  if (!/^[\w][\w .-]*$/.test(environment)) throw new Error(`"${environment}" is no file name`);
  const path = `kills/${environment}.yaml`;
  const file = join(directory, path);
  const before = await textOf(file, directory);
  if (before === undefined && entry === null) return { path: null };
  const after = entry ? withKillEntry(before, flag, entry) : withoutKillEntry(before ?? '', flag);
  if (after === undefined) throw new Error(`${path} is no list of kills`);
  if (after === before) return { path: null };
  // Not recursive, which says ENOENT where the disk is read-only.
  await lstat(dirname(file)).catch(async () => mkdir(dirname(file)));
  await write(file, after);
  return { path };
}

/** undefined if there is no such file. Refuses links, because they could lead anywhere. */
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

/** For a person to paste. */
export function commitCommands(
  directory: string,
  path: string,
  { title, reason }: Pick<LiveAct, 'title' | 'reason'>,
): string[] {
  const git = `git -C ${shellWord(directory)}`;
  // Without a reason of its own the act has its title as the reason.
  const body = reason === title ? '' : ` -m ${shellWord(reason)}`;
  return [
    `${git} add -- ${shellWord(path)}`,
    `${git} commit -m ${shellWord(title)}${body} -- ${shellWord(path)}`,
  ];
}

interface ActRequest {
  readonly flag: string;
  /** Name in flagkeel.yaml. */
  readonly environment: string;
  readonly isKill: boolean;
  readonly reason?: string | undefined;
}

export interface LiveAct {
  readonly directory: string;
  readonly title: string;
  /** Never empty. */
  readonly reason: string;
  /** Name on the service, now or when the state was written. */
  readonly environmentName: string;
  /** null if nothing was sent, because the service already had the value. */
  readonly sent: ChangeNote | null;
  /** Whether it was already killed; null if unknown, because the kill was sent first. */
  readonly wasKilled: boolean | null;
  /** For a restore: the places where specs of flags still say `killed: true`. */
  readonly orderedAt: readonly Location[];
  /** For a restore: paths to other config directories that order the kill. */
  readonly orderedIn: readonly string[];
  /**
   * The workspace of the act. After a kill that was sent first, the call looks it up; if another workspace has the name
   * by now, it kills the flag there as well and announces the first kill.
   *
   * @throws FlagkeelError the service cannot be read.
   */
  readonly place: () => Promise<Workspace>;
}

interface ActContext extends KillSurroundings {
  readonly openWriter: () => AdminWriter;
  readonly note: (text: string) => void;
}

interface Act extends ActRequest {
  readonly config: Config;
  readonly reader: AdminReader;
  readonly context: ActContext;
}

/**
 * Kills or restores one definition of any flag on the service, at once: the specs only have to say where the service
 * is. Does not lock the state, so that it waits for no other run.
 *
 * If the id of the workspace is known, a kill is a single request, and everything else is looked up afterwards.
 *
 * @throws FlagkeelError `SPECS_INVALID` flagkeel.yaml cannot be read; `USAGE` it has no such environment;
 *   `NOT_ON_SERVICE` the flag has no definition there.
 */
export async function actLive(context: ActContext, request: ActRequest): Promise<LiveAct> {
  const verb = verbOf(request);
  const config = await readConfig(context.source.tree, { readable: true });
  if (!config) {
    const why = 'flagkeel.yaml does not say where (flagkeel validate)';
    throw new FlagkeelError('SPECS_INVALID', `cannot ${verb} a flag: ${why}`);
  }
  requireEnvironment(config, request.environment, verb);
  const reader = await context.openReader(killsAlone(config, []));
  const act: Act = { ...request, config, reader, context };
  return (await killFirst(act)) ?? lookFirst(act, await findWorkspace(reader, config.workspace));
}

/** Form of ids of the service: a workspace that the config names by id needs no state to look it up. */
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * In one request: the service finds environment and flag by their names, so that only the id of the workspace comes from
 * the state. null, with nothing done, if the act is no kill, the id is unknown, or the service finds nothing this way.
 */
async function killFirst(act: Act): Promise<LiveAct | null> {
  const { flag, environment, isKill, config, context } = act;
  const { workspace } = config;
  if (!isKill) return null;
  const remembered: RememberedPlace | null = ID.test(workspace)
    ? { workspaceId: workspace }
    : await context.rememberedPlace(workspace);
  if (!remembered) return null;
  const { workspaceId, environments = {} } = remembered;
  const environmentName = environments[environment] ?? environment;
  const { title, reason, note } = wordsOf(act, environmentName);
  const at = { workspaceId, environmentId: environment, note };
  let answered: WireDefinition | undefined;
  try {
    const step = { action: 'kill-flag', flag, environment } as const;
    answered = (await context.openWriter().send(step, at)).killed;
  } catch (error) {
    if (isNotFoundSo(error)) return null;
    throw error;
  }
  if (answered) requireKilled(act, answered);
  const { directory } = context.source.checkout;
  const place = async (): Promise<Workspace> => placeAfterwards(act, workspaceId, answered);
  const sent = { directory, title, reason, environmentName, sent: note };
  return { ...sent, wasKilled: null, orderedAt: [], orderedIn: [], place };
}

function requireKilled({ flag }: Act, live: WireDefinition): void {
  if (live.killed) return;
  const why = 'the service took the kill, and shows the flag alive';
  throw new FlagkeelError('UNREADABLE', `cannot kill flag "${flag}": ${why}`);
}

async function placeAfterwards(
  act: Act,
  killedIn: string,
  answered: WireDefinition | undefined,
): Promise<Workspace> {
  const { flag, environment, config, context } = act;
  const place = await findWorkspace(act.reader, config.workspace);
  if (place.workspace.id === killedIn) {
    const environmentId = findEnvironment(place, environment).id;
    const target = { workspaceId: killedIn, environmentId, flag };
    const live = answered ?? (await definitionOf(act, place, target));
    if (live) requireKilled(act, live);
    return place;
  }
  context.note(
    `warning: ${flag} was killed in ${environment} of workspace ${killedIn}, which was called ${config.workspace} when it was last applied and is not any more; it is killed in the workspace of that name now, and has to be restored in the other by hand`,
  );
  await lookFirst(act, place);
  return place;
}

async function lookFirst(act: Act, place: Workspace): Promise<LiveAct> {
  const { flag, isKill, context } = act;
  const { id: environmentId, name } = findEnvironment(place, act.environment);
  const target = { workspaceId: place.workspace.id, environmentId, flag };
  const live = await definitionOf(act, place, target);
  const why = `it has no definition in environment "${name}"`;
  const message = `cannot ${verbOf(act)} flag "${flag}": ${why}`;
  const nowhere = new FlagkeelError('NOT_ON_SERVICE', message);
  if (live === undefined) throw nowhere;
  const { title, reason, note } = wordsOf(act, name);
  const isDone = live?.killed === isKill;
  if (!isDone) {
    const writer = context.openWriter();
    const at = { ...target, note };
    const writing = isKill
      ? writer.send({ action: 'kill-flag', flag, environment: name }, at)
      : writer.restore(flag, at);
    await writing.catch((error: unknown) => {
      throw isRefusedWith(error, [404]) ? nowhere : error;
    });
  }
  return {
    directory: context.source.checkout.directory,
    title,
    reason,
    environmentName: name,
    sent: isDone ? null : note,
    wasKilled: isDone === isKill,
    orderedAt: isKill ? [] : await ordersOf(act),
    orderedIn: isKill ? [] : await directoriesThatOrder(act, place, name),
    place: async () => Promise.resolve(place),
  };
}

/** undefined: there is none; null: it may exist. */
async function definitionOf(
  { reader, context }: Act,
  place: Workspace,
  { flag: name, ...target }: DefinitionTarget,
): Promise<WireDefinition | null | undefined> {
  const id = (await context.flagIdsOf(place)).get(name);
  const live = await look(reader, target, { name, id });
  if (live.is === 'seen') return live.definition;
  return live.is === 'absent' ? undefined : null;
}

async function ordersOf({ flag, environment, context }: Act): Promise<readonly Location[]> {
  const orders = orderedKills(await loadFiles(context.source.tree), [environment]);
  return orders.filter((each) => each.flag === flag).map(({ location }) => location);
}

/** A failure is a note: the service was changed by then, which is yet to be recorded. */
async function directoriesThatOrder(
  { flag, environment, context }: Act,
  { workspace }: Workspace,
  name: string,
): Promise<readonly string[]> {
  const { checkout, revision } = context.source;
  const commit = revision.dirty ? null : revision.commit;
  const about = { flag, environments: [environment, name] };
  return directoriesOrdering(checkout, commit, workspace, about).catch((error: unknown) => {
    context.note(`Other config directories were not looked at: ${messageOf(error)}`);
    return [];
  });
}

function verbOf({ isKill }: ActRequest): string {
  return isKill ? 'kill' : 'restore';
}

function wordsOf({ flag, isKill, reason: given }: ActRequest, environment: string) {
  const title = `${isKill ? 'Kill' : 'Restore'} ${flag} in ${environment}`;
  const reason = given === undefined || given.trim() === '' ? title : given;
  return { title, reason, note: truncateNote({ title, comment: reason }, title) };
}

function requireEnvironment({ environments }: Config, name: string, verb: string): void {
  if (environments.some((each) => each.name === name)) return;
  const known = environments.map((each) => `"${each.name}"`).join(', ');
  const message = `cannot ${verb} in environment "${name}": flagkeel.yaml has ${known}`;
  throw new FlagkeelError('USAGE', message);
}
