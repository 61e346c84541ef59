/**
 * How definitions of flags in environments are created, changed, killed and deleted. Every function here is the work of
 * one endpoint in `definitions.ts` and runs in one write transaction.
 *
 * All of them check in the same order: the shape of the body, before they run (400); workspace and environment (404);
 * title and comment (400); approvals (403); the flag or its definition (404); open change requests (423); and last the
 * content of the body. Kills and restores ignore open change requests.
 */

import type { WireDefinition } from '../../admin-api/wire.js';
import { recordChange } from '../change-log.js';
import { JsonText, type ApiRequest } from '../http/endpoint.js';
import {
  checkNoApproval,
  checkNoteFor,
  checkNothingRequested,
  checkNotRequested,
  definitionAt,
  environmentAt,
  flagAt,
  placedDefinitionAt,
  workspaceAt,
} from '../http/path-lookup.js';
import { conflict } from '../http/problem.js';
import { letOthersRunIfLong } from '../parts.js';
import {
  checkBelongs,
  definitionFrom,
  definitionPatched,
  definitionReplaced,
  killAlone,
  type DefinitionContent,
  type Uses,
} from '../rules/definition.js';
import { definitionDifference } from '../rules/difference.js';
import type { PatchOperation } from '../rules/json-patch.js';
import type { NoteRequirement } from '../rules/note.js';
import type { AuditAction } from '../store/audit.js';
import type { Place, PlacedDefinition } from '../store/definition-lookups.js';
import {
  definitionText,
  deleteDefinition,
  findDefinition,
  insertDefinition,
  updateDefinition,
  usersOf,
  wireDefinition,
  type StoredDefinition,
} from '../store/definitions.js';
import type { Db } from '../store/tables.js';
import { checkedUses, newUses } from './checked-definition.js';

/** The conditions of a change that are checked before its content. */
interface Demands {
  readonly note: NoteRequirement;
  /** Set for a change that moves the kill and nothing else. */
  readonly moves?: 'kill' | 'restore' | undefined;
}

/**
 * Looks up the workspace and environment of a change, and makes sure that the caller may make it there.
 *
 * @throws Problem (404) the workspace or environment does not exist for this key.
 * @throws Problem (400) the workspace requires title and comment, and one is missing.
 * @throws Problem (403) the environment requires approvals, and the change is no kill that it exempts.
 */
async function placeOfChange(
  db: Db,
  request: ApiRequest,
  { note, moves }: Demands,
  found?: Place,
): Promise<Place> {
  const workspace = found?.workspace ?? (await workspaceAt(db, request));
  const environment = found?.environment ?? (await environmentAt(db, request, workspace));
  checkNoteFor(workspace, request, note);
  checkNoApproval(environment, request, { isKill: moves === 'kill' });
  return { workspace, environment };
}

/**
 * The definition to change, with its place, after all checks of the caller.
 *
 * @throws Problem as `placeOfChange` does.
 * @throws Problem (404) the flag has no definition there.
 */
async function definitionOfChange(
  db: Db,
  request: ApiRequest,
  demands: Demands,
): Promise<PlacedDefinition> {
  const found = await placedDefinitionAt(db, request);
  const place = await placeOfChange(db, request, demands, found);
  return found ?? { ...place, stored: await definitionAt(db, request, place.environment) };
}

/**
 * Creates a definition from a full body, as the contract's POST has it, and answers it with the two times that the
 * service sets.
 *
 * @throws Problem (400) the body contradicts itself or names objects that do not exist.
 * @throws Problem (409) the flag has a definition in this environment already.
 */
export async function createDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const place = await placeOfChange(db, request, { note: 'both' });
  const flag = await flagAt(db, request, place.workspace);
  await checkNothingRequested(db, {
    kind: 'flag',
    name: flag.name,
    workspaceId: place.workspace.id,
    environmentId: place.environment.id,
  });
  if (await findDefinition(db, place.environment.id, flag.name)) {
    throw conflict(
      `Feature flag ${flag.name} already has a definition in ${place.environment.name}`,
    );
  }
  checkBelongs(request.body, {
    ...flag,
    environment: place.environment,
    trafficType: { id: flag.traffic_type_id, name: flag.traffic_type_name },
  });
  const content = definitionFrom(request.body);
  const uses = await checkedUses(db, place, flag.name, content);
  const ids = { flagId: flag.id, environmentId: place.environment.id };
  await insertDefinition(db, ids, content, uses, request.caller.now);
  const after = await findDefinition(db, place.environment.id, flag.name);
  if (after === undefined) throw new Error('bug: a definition vanished within a transaction');
  return recorded(db, request, place, { action: 'create', before: null, after });
}

/**
 * Changes an existing definition, and answers its new state. A change without a difference writes nothing, neither a
 * time nor an entry in the audit log, so that it may be repeated.
 *
 * @param next makes the new content from the old definition.
 */
async function change(
  db: Db,
  request: ApiRequest,
  demands: Demands,
  next: (before: WireDefinition) => DefinitionContent,
): Promise<JsonText> {
  const { stored, ...place } = await definitionOfChange(db, request, demands);
  if (demands.moves === undefined) checkNotRequested(stored, request);
  const before = wireDefinition(stored);
  const content = next(before);
  const { killed } = content;
  const body_json = JSON.stringify(content.body);
  await letOthersRunIfLong(body_json);
  if (isSameContent(stored, killed, body_json)) return new JsonText(definitionText(stored));
  const changed = { stored, before, killed, body_json };
  return saveChanged(db, request, place, changed, await newUses(db, place, before, content));
}

/**
 * Writes and records a change of a definition, and answers its new state.
 *
 * @param uses the new references of the definition; null if they stay as they are.
 */
async function saveChanged(
  db: Db,
  request: ApiRequest,
  place: Place,
  changed: {
    stored: StoredDefinition;
    before: WireDefinition;
    killed: boolean;
    body_json: string;
  },
  uses: Uses | null = null,
): Promise<JsonText> {
  const { stored, before, killed, body_json } = changed;
  const after: StoredDefinition = {
    ...stored,
    killed: Number(killed),
    body_json,
    last_update_time: timeOfChange(stored, request),
  };
  await updateDefinition(db, after, uses);
  await letOthersRunIfLong(body_json);
  const action = actionOf(before.killed, killed);
  return recorded(db, request, place, { action, before, after });
}

/**
 * Two changes within one millisecond still have different times, so that a client can tell by the time alone that a
 * definition was changed.
 */
function timeOfChange({ last_update_time }: StoredDefinition, { caller }: ApiRequest): number {
  return Math.max(caller.now, last_update_time + 1);
}

/**
 * Compares with the stored text. Most members are written in a fixed order. Matchers and the further members of
 * treatments keep the order in which the client sent them, so that another order counts as a change.
 */
function isSameContent(stored: StoredDefinition, killed: boolean, body_json: string): boolean {
  return Number(killed) === stored.killed && body_json === stored.body_json;
}

/**
 * The action in the audit log. A change that moves `killed` counts as a kill or a restore, whatever else it changes.
 */
function actionOf(before: boolean, after: boolean): AuditAction {
  if (before === after) return 'update';
  return after ? 'kill' : 'restore';
}

/**
 * Applies the contract's patch operations. If the workspace requires title and comment and they are missing, the
 * contract answers this operation alone with a 400 without a body.
 */
export async function patchDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const operations = request.body as PatchOperation[];
  const next = (before: WireDefinition) => definitionPatched(before, operations, request.isStrict);
  const demands = { note: 'both-or-empty-answer', moves: killAlone(operations) } as const;
  return change(db, request, demands, next);
}

/** Replaces the members that a client may set, as `definitionReplaced` describes. */
export async function replaceDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const given = request.body as object;
  const next = (before: WireDefinition) => {
    checkBelongs(given, before);
    return definitionReplaced(before, given);
  };
  return change(db, request, { note: 'both' }, next);
}

/**
 * Kills a flag in an environment or ends the kill. May be repeated.
 *
 * Kills may be exempt from approvals (`allowKills` of the environment); the end of a kill never is.
 */
export async function setKilled(db: Db, request: ApiRequest, killed: boolean): Promise<true> {
  const demands = { note: 'both', moves: killed ? 'kill' : 'restore' } as const;
  const { stored, ...place } = await definitionOfChange(db, request, demands);
  if (stored.killed === Number(killed)) return true;
  // Does not look at the rest of the definition, so that even a broken one can be killed.
  const before = wireDefinition(stored);
  await saveChanged(db, request, place, { stored, before, killed, body_json: stored.body_json });
  return true;
}

/**
 * Records that keys are to be assigned to treatments anew. Evaluators would draw a new seed for that, but no answer of
 * the interface holds a seed, and this service evaluates nothing. So only the time of the last change and the audit log
 * change.
 */
export async function reallocate(db: Db, request: ApiRequest): Promise<true> {
  const { stored, ...place } = await definitionOfChange(db, request, { note: 'both' });
  checkNotRequested(stored, request);
  const time = timeOfChange(stored, request);
  await updateDefinition(db, { ...stored, last_update_time: time }, null);
  await recordChange(db, request.caller, {
    kind: 'flag',
    name: stored.flag_name,
    action: 'reallocate',
    workspaceId: place.workspace.id,
    environment: place.environment,
    difference: [{ path: '/lastUpdateTime', before: stored.last_update_time, after: time }],
  });
  return true;
}

/**
 * Deletes the definition in one environment; the flag itself stays.
 *
 * @throws Problem (409) another flag depends on this one in the same environment.
 */
export async function removeDefinition(db: Db, request: ApiRequest): Promise<true> {
  const { stored, ...place } = await definitionOfChange(db, request, { note: 'both' });
  checkNotRequested(stored, request);
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

/** Records a change of a definition, and answers its new state. */
async function recorded(
  db: Db,
  { caller }: ApiRequest,
  { workspace, environment }: Place,
  done: { action: AuditAction; before: WireDefinition | null; after: StoredDefinition },
): Promise<JsonText> {
  const text = definitionText(done.after);
  await recordChange(db, caller, {
    kind: 'flag',
    name: done.after.flag_name,
    action: done.action,
    workspaceId: workspace.id,
    environment,
    difference: definitionDifference(done.before, JSON.parse(text) as WireDefinition),
  });
  return new JsonText(text);
}
