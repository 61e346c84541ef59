/** Environments: the rules of their members, and the work of their endpoints, which stand in `workspaces.ts`. */

import type { WireEnvironment } from '../../admin-api/wire.js';
import { addKeysOfEnvironment, removeKeysOfEnvironment } from '../admin-keys.js';
import { recordObject } from '../change-log.js';
import { isVisible } from '../http/endpoint.js';
import type { Work } from '../http/place.js';
import { conflict } from '../http/problem.js';
import { applyPatch, type PatchOperation } from '../rules/json-patch.js';
import {
  checkTitleName,
  isTrue,
  TITLE_NAME_SCHEMA,
  TRUTH_SCHEMA,
  WORDS_MEMBERS,
} from '../rules/members.js';
import { checkShape, checkUntouched, closed, compileSchema, type Schema } from '../rules/shape.js';
import type { EnvironmentRow } from '../store/tables.js';
import {
  countUses,
  deleteEnvironment,
  findEnvironment,
  insertEnvironment,
  listEnvironments,
  updateEnvironment,
  type EnvironmentContent,
} from '../store/workspaces.js';

/** Public documentation lets clients restrict changes to certain people, which this service would not enforce. */
const RESTRICTED_TO_NOBODY: Schema = { type: ['array', 'null'], maxItems: 0 };
const NOT_RESTRICTED: Schema = { enum: [false, 'false', null] };

const CHANGE_PERMISSIONS = closed({
  areApprovalsRequired: TRUTH_SCHEMA,
  allowKills: TRUTH_SCHEMA,
  areApproversRestricted: NOT_RESTRICTED,
  approvers: RESTRICTED_TO_NOBODY,
  areEditorsRestricted: NOT_RESTRICTED,
  editors: RESTRICTED_TO_NOBODY,
  approvalSkippableBy: RESTRICTED_TO_NOBODY,
});
const EXPORT_PERMISSIONS = closed({
  areExportersRestricted: NOT_RESTRICTED,
  exporters: RESTRICTED_TO_NOBODY,
});

const MEMBERS = {
  name: TITLE_NAME_SCHEMA,
  production: TRUTH_SCHEMA,
  changePermissions: { ...CHANGE_PERMISSIONS, type: ['object', 'null'] },
} satisfies Readonly<Record<string, Schema>>;

export const ENVIRONMENT_BODY: Schema = closed(
  {
    ...MEMBERS,
    dataExportPermissions: { ...EXPORT_PERMISSIONS, type: ['object', 'null'] },
    ...WORDS_MEMBERS,
  },
  ['name'],
);

const hasShape = compileSchema(closed({ id: true, ...MEMBERS }, ['name']));

function contentFrom(given: unknown): EnvironmentContent {
  const { name, production, changePermissions } = given as {
    readonly name: string;
    readonly production?: unknown;
    readonly changePermissions?: {
      readonly areApprovalsRequired?: unknown;
      readonly allowKills?: unknown;
    } | null;
  };
  checkTitleName('Environment', name);
  return {
    name,
    production: isTrue(production),
    approvalsRequired: isTrue(changePermissions?.areApprovalsRequired),
    allowKills: isTrue(changePermissions?.allowKills),
  };
}

function wireEnvironment(row: EnvironmentRow): WireEnvironment {
  return { name: row.name, id: row.id, production: row.production === 1 };
}

/** The members of public documentation stand in answers of its own endpoints alone, and not in the contract's list. */
function wholeEnvironment(row: EnvironmentRow) {
  return {
    ...wireEnvironment(row),
    creationTime: row.creation_time,
    type: 'environment',
    status: 'ACTIVE',
    changePermissions: {
      areApprovalsRequired: row.approvals_required === 1,
      allowKills: row.allow_kills === 1,
    },
  };
}

export async function readEnvironments({ db, workspace, caller }: Work<'workspace'>) {
  const rows = await listEnvironments(db, workspace.id);
  return rows.filter(({ id }) => isVisible(caller.scope.environments, id)).map(wireEnvironment);
}

/** Also makes the keys of its applications, as clients of such services expect. */
export async function addEnvironment(work: Work<'workspace'>): Promise<object> {
  const { db, caller, workspace } = work;
  const content = contentFrom(work.body);
  await checkNameFree(work, content.name);
  const environment = await insertEnvironment(db, workspace.id, content, caller.now);
  const added = wholeEnvironment(environment);
  await recordObject({ ...work, environment }, 'environment', null, added);
  const keys = await addKeysOfEnvironment(db, caller, environment);
  const apiTokens = keys.map(({ id, name, apiKeyType, key }) => {
    return { id, name, type: 'api_key', apiKeyType, key };
  });
  return { ...added, apiTokens };
}

/** Also compares with ids: an environment whose name is the id of another could not be found by that name. */
async function checkNameFree({ db, workspace }: Work<'workspace'>, name: string): Promise<void> {
  if (await findEnvironment(db, workspace.id, name)) {
    throw conflict(`Environment ${name} already exists`);
  }
}

export async function patchEnvironment(work: Work<'environment'>): Promise<object> {
  const { db } = work;
  const before = wholeEnvironment(work.environment);
  const { id, name, production, changePermissions } = before;
  const document = { id, name, production, changePermissions };
  const after = applyPatch(document, work.body as PatchOperation[]);
  checkShape(hasShape, after, 'Environment');
  checkUntouched(document, after as object, ['id']);
  const content = contentFrom(after);
  if (content.name !== name) await checkNameFree(work, content.name);
  const environment = await updateEnvironment(db, work.environment, content);
  const changed = wholeEnvironment(environment);
  return recordObject({ ...work, environment }, 'environment', before, changed);
}

/** Definitions and active segments go first, so that no single request deletes everything that is served. */
export async function removeEnvironment(work: Work<'environment'>): Promise<true> {
  const { db, environment } = work;
  for (const [table, what] of [
    ['definitions', 'definitions'],
    ['activations', 'active segments'],
  ] as const) {
    const count = await countUses(db, table, 'environment_id', environment.id);
    if (count > 0) throw conflict(`Environment ${environment.name} still has ${count} ${what}`);
  }
  await removeKeysOfEnvironment(db, work.caller, environment.id);
  await deleteEnvironment(db, environment.id);
  await recordObject(work, 'environment', wholeEnvironment(environment), null);
  return true;
}
