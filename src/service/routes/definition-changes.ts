import { isDeepStrictEqual } from 'node:util';
import type { WireDefinition } from '../../api/wire.js';
import { recordChange } from '../change-log.js';
import { JsonText, type ApiRequest } from '../endpoint.js';
import {
  checkNoApproval,
  checkWordsFor,
  definitionAt,
  environmentAt,
  flagAt,
  workspaceAt,
} from '../places.js';
import { badRequest, conflict } from '../problem.js';
import {
  definitionFrom,
  definitionPatched,
  usesOf,
  type DefinitionContent,
  type Uses,
} from '../rules/definition.js';
import { definitionDifference } from '../rules/difference.js';
import type { PatchOperation } from '../rules/json-patch.js';
import type { WordsNeeded } from '../rules/words.js';
import type { AuditAction } from '../store/audit.js';
import {
  definitionText,
  deleteDefinition,
  findDefinition,
  flagsUsedBy,
  insertDefinition,
  updateDefinition,
  usersOf,
  wireDefinition,
  type StoredDefinition,
} from '../store/definitions.js';
import { missingFlags } from '../store/flags.js';
import { inactiveSegments } from '../store/segments.js';
import type { Db, EnvironmentRow, WorkspaceRow } from '../store/tables.js';

interface Place {
  readonly workspace: WorkspaceRow;
  readonly environment: EnvironmentRow;
}

interface Demands {
  readonly words: WordsNeeded;
  readonly isKill?: boolean;
}

/** Where a change is to be made, once it is clear that it may be. */
async function placeOfChange(
  db: Db,
  request: ApiRequest,
  { words, isKill = false }: Demands,
): Promise<Place> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  checkWordsFor(workspace, request, words);
  checkNoApproval(environment, { isKill });
  return { workspace, environment };
}

export async function createDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const place = await placeOfChange(db, request, { words: 'both' });
  const flag = await flagAt(db, request, place.workspace);
  if (await findDefinition(db, place.environment.id, flag.name)) {
    throw conflict(
      `Feature flag ${flag.name} already has a definition in ${place.environment.name}`,
    );
  }
  const content = definitionFrom(request.body);
  const uses = await checkedUses(db, place, flag.name, content);
  const ids = { flagId: flag.id, environmentId: place.environment.id };
  await insertDefinition(db, ids, content, uses, request.caller.now);
  const after = await findDefinition(db, place.environment.id, flag.name);
  if (after === undefined) throw new Error('bug: a definition vanished within a transaction');
  return recorded(db, request, place, { action: 'create', before: null, after });
}

/** Runs one change of a definition that exists; without a difference nothing is written. */
async function change(
  db: Db,
  request: ApiRequest,
  demands: Demands,
  next: (before: WireDefinition) => DefinitionContent,
): Promise<JsonText> {
  const place = await placeOfChange(db, request, demands);
  const stored = await definitionAt(db, request, place.environment);
  const before = wireDefinition(stored);
  const content = next(before);
  const uses = await checkedUses(db, place, stored.flag_name, content);
  if (isSameContent(stored, content)) return new JsonText(definitionText(stored));
  const after: StoredDefinition = {
    ...stored,
    killed: Number(content.killed),
    body_json: JSON.stringify(content.body),
    last_update_time: Math.max(request.caller.now, stored.last_update_time + 1),
  };
  await updateDefinition(db, after, isDeepStrictEqual(uses, usesOf(before)) ? null : uses);
  const action = actionOf(before.killed, content.killed);
  return recorded(db, request, place, { action, before, after });
}

function isSameContent(stored: StoredDefinition, { killed, body }: DefinitionContent): boolean {
  return Number(killed) === stored.killed && JSON.stringify(body) === stored.body_json;
}

function actionOf(before: boolean, after: boolean): AuditAction {
  if (before === after) return 'update';
  return after ? 'kill' : 'restore';
}

export async function patchDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const operations = request.body as PatchOperation[];
  const next = (before: WireDefinition) => definitionPatched(before, operations);
  return change(db, request, { words: 'both-or-empty-answer' }, next);
}

/** A body that does not speak of the kill leaves it as it is. */
export async function replaceDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const given = request.body as { readonly killed?: boolean | null };
  const next = ({ killed }: WireDefinition) =>
    definitionFrom({ ...given, killed: given.killed ?? killed });
  return change(db, request, { words: 'both' }, next);
}

export async function setKilled(db: Db, request: ApiRequest, killed: boolean): Promise<true> {
  const next = (before: WireDefinition) => definitionFrom({ ...before, killed });
  await change(db, request, { words: 'both', isKill: killed }, next);
  return true;
}

export async function removeDefinition(db: Db, request: ApiRequest): Promise<true> {
  const place = await placeOfChange(db, request, { words: 'both' });
  const stored = await definitionAt(db, request, place.environment);
  const users = await usersOf(db, {
    kind: 'flag',
    name: stored.flag_name,
    workspaceId: place.workspace.id,
    environmentId: place.environment.id,
  });
  const [user] = users.filter(({ flag }) => flag !== stored.flag_name);
  if (user !== undefined) {
    throw conflict(
      `Feature flag ${stored.flag_name} is used by ${user.flag} in the environment ${user.environment}`,
    );
  }
  await deleteDefinition(db, { flagId: stored.flag_id, environmentId: place.environment.id });
  await recordChange(db, request.caller, {
    kind: 'flag',
    name: stored.flag_name,
    action: 'delete',
    workspaceId: place.workspace.id,
    environment: place.environment,
    difference: definitionDifference(wireDefinition(stored), null),
  });
  return true;
}

/** @throws Problem (400) the definition names what is not there, or depends on itself. */
async function checkedUses(
  db: Db,
  { workspace, environment }: Place,
  flag: string,
  { body }: DefinitionContent,
): Promise<Uses> {
  const uses = usesOf(body);
  const [segment] = await inactiveSegments(db, environment.id, uses.segments);
  if (segment !== undefined) {
    throw badRequest(`There is no segment ${segment} active in ${environment.name}`);
  }
  const [missing] = await missingFlags(db, workspace.id, uses.flags);
  if (missing !== undefined) throw badRequest(`There is no feature flag ${missing}`);
  if (await leadsTo(db, environment.id, uses.flags, flag)) {
    throw badRequest(`Feature flag ${flag} cannot depend on itself`);
  }
  return uses;
}

/** Whether one of `flags`, or what they depend on in turn, is `goal`. */
async function leadsTo(
  db: Db,
  environmentId: string,
  flags: readonly string[],
  goal: string,
): Promise<boolean> {
  const seen = new Set<string>();
  let next: readonly string[] = flags;
  // Each round is one step further along the dependencies, so it needs the round before.
  while (next.length > 0) {
    if (next.includes(goal)) return true;
    for (const name of next) seen.add(name);
    next = (await flagsUsedBy(db, environmentId, next)).filter((name) => !seen.has(name));
  }
  return false;
}

async function recorded(
  db: Db,
  { caller }: ApiRequest,
  { workspace, environment }: Place,
  done: { action: AuditAction; before: WireDefinition | null; after: StoredDefinition },
): Promise<JsonText> {
  await recordChange(db, caller, {
    kind: 'flag',
    name: done.after.flag_name,
    action: done.action,
    workspaceId: workspace.id,
    environment,
    difference: definitionDifference(done.before, wireDefinition(done.after)),
  });
  return new JsonText(definitionText(done.after));
}
