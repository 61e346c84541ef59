/**
 * How definitions of flags in environments are created, changed, killed and deleted. `at` makes sure before that the
 * caller may do so. Kills and restores ignore open change requests.
 */

import type { WireDefinition } from '../../admin-api/wire.js';
import { recordChange, written } from '../change-log.js';
import { JsonText, type Demands, type Work } from '../http/endpoint.js';
import { at } from '../http/place.js';
import { letOthersRunIfLong } from '../parts.js';
import {
  checkBelongs,
  definitionPatched,
  definitionReplaced,
  killAlone,
  type DefinitionContent,
  type Uses,
} from '../rules/definition.js';
import { definitionDifference } from '../rules/difference.js';
import type { PatchOperation } from '../rules/json-patch.js';
import type { AuditAction } from '../store/tables.js';
import {
  deleteDefinition,
  findDefinition,
  insertDefinition,
  reseedDefinition,
  shownDefinitionText,
  updateDefinition,
  wireDefinition,
  type StoredDefinition,
} from '../store/definitions.js';
import { checkedDefinition, checkUnused, newUses } from './checked-definition.js';

const CHANGE: Demands = { note: 'both', approval: true, unrequested: true };

/**
 * Creates a definition from a full body, as the contract's POST has it, and answers it with the two times that the
 * service sets.
 */
export const createDefinition = at('newDefinition', CHANGE, async (work) => {
  const { db, flag, environment } = work;
  const given = work.body as object;
  const { content, uses } = await checkedDefinition(db, work, { flag, before: null }, given);
  const ids = { flag_id: flag.id, environment_id: environment.id };
  await insertDefinition(db, ids, content, uses, work.caller.now);
  const after = written(await findDefinition(db, environment.id, flag.name));
  return recorded(work, { action: 'create', before: null, after });
});

/**
 * Changes an existing definition, and answers its new state. A change without a difference writes nothing, neither a
 * time nor an entry in the audit log, so that it may be repeated.
 */
async function change(
  work: Work<'definition'>,
  next: (before: WireDefinition) => DefinitionContent,
): Promise<JsonText> {
  const { db, stored, isStrict } = work;
  const before = wireDefinition(stored);
  const content = next(before);
  const body_json = JSON.stringify(content.body);
  await letOthersRunIfLong(body_json);
  // Most members are written in a fixed order. Matchers and the further members of treatments keep the order in which
  // the client sent them, so that another order counts as a change.
  if (Number(content.killed) === stored.killed && body_json === stored.body_json) {
    return new JsonText(shownDefinitionText(stored, isStrict));
  }
  const uses = await newUses(db, work, before, content);
  return saveChanged(work, { before, killed: content.killed, body_json }, uses);
}

/** @param uses the new references of the definition; null if they stay as they are. */
async function saveChanged(
  work: Work<'definition'>,
  { before, killed, body_json }: { before: WireDefinition; killed: boolean; body_json: string },
  uses: Uses | null = null,
): Promise<JsonText> {
  const after: StoredDefinition = {
    ...work.stored,
    killed: Number(killed),
    body_json,
    last_update_time: timeOfChange(work),
  };
  await updateDefinition(work.db, after, uses);
  await letOthersRunIfLong(body_json);
  return recorded(work, { action: actionOf(before.killed, killed), before, after });
}

/**
 * Two changes within one millisecond still have different times, so that a client can tell by the time alone that a
 * definition was changed.
 */
function timeOfChange({ stored, caller }: Work<'definition'>): number {
  return Math.max(caller.now, stored.last_update_time + 1);
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
export const patchDefinition = at(
  'definition',
  {
    ...CHANGE,
    note: 'both-or-empty-answer',
    moves: ({ body }) => killAlone(body as PatchOperation[]),
  },
  async (work) =>
    change(work, (before) =>
      definitionPatched(before, work.body as PatchOperation[], work.isStrict),
    ),
);

/** Replaces the members that a client may set, as `definitionReplaced` describes. */
export const replaceDefinition = at('definition', CHANGE, async (work) =>
  change(work, (before) => {
    checkBelongs(work.body, before);
    return definitionReplaced(before, work.body as object);
  }),
);

/**
 * Kills a flag in an environment. May be repeated. Kills may be exempt from approvals (`allowKills` of the environment);
 * the end of a kill never is.
 */
export const kill = at('definition', { ...CHANGE, moves: () => 'kill' }, async (work) =>
  setKilled(work, true),
);

/** Ends a kill. May be repeated. */
export const restore = at('definition', { ...CHANGE, moves: () => 'restore' }, async (work) =>
  setKilled(work, false),
);

async function setKilled(work: Work<'definition'>, killed: boolean): Promise<true> {
  const { stored } = work;
  if (stored.killed === Number(killed)) return true;
  // Does not look at the rest of the definition, so that even a broken one can be killed.
  const before = wireDefinition(stored);
  await saveChanged(work, { before, killed, body_json: stored.body_json });
  return true;
}

/** Assigns keys to treatments anew: the definition stays as it is and gets new seeds. */
export const reallocate = at('definition', CHANGE, async (work): Promise<true> => {
  const { db, stored } = work;
  const time = timeOfChange(work);
  await reseedDefinition(db, stored, time);
  await recordChange(work, {
    kind: 'flag',
    name: stored.flag_name,
    action: 'reallocate',
    difference: [{ path: '/lastUpdateTime', before: stored.last_update_time, after: time }],
  });
  return true;
});

/** Deletes the definition in one environment; the flag itself stays. */
export const removeDefinition = at('definition', CHANGE, async (work): Promise<true> => {
  const { db, stored, workspace, environment } = work;
  const place = { workspaceId: workspace.id, environmentId: environment.id };
  await checkUnused(db, { kind: 'flag', name: stored.flag_name, ...place });
  await deleteDefinition(db, stored.flag_id, stored.environment_id);
  await recordChange(work, {
    kind: 'flag',
    name: stored.flag_name,
    action: 'delete',
    difference: definitionDifference(wireDefinition(stored), null),
  });
  return true;
});

async function recorded(
  work: Work<'definition' | 'newDefinition'>,
  done: { action: AuditAction; before: WireDefinition | null; after: StoredDefinition },
): Promise<JsonText> {
  await recordChange(work, {
    kind: 'flag',
    name: done.after.flag_name,
    action: done.action,
    difference: definitionDifference(done.before, wireDefinition(done.after)),
  });
  return new JsonText(shownDefinitionText(done.after, work.isStrict));
}
