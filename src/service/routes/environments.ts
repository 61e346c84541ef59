/** Environments: the rules of their members, and the endpoints that change them. */

import type { WireEnvironment } from '../../admin-api/wire.js';
import { addKeysOfEnvironment, removeKeysOfEnvironment } from '../admin-keys.js';
import { recordObject } from '../change-log.js';
import type { Endpoints } from '../http/endpoint.js';
import { at, SHARED, type Work } from '../http/place.js';
import { conflict } from '../http/problem.js';
import { PATCH_BODY, patchedObject } from '../rules/json-patch.js';
import {
  checkTitleName,
  isTrue,
  TITLE_NAME_SCHEMA,
  TRUTH_SCHEMA,
  WORDS_MEMBERS,
} from '../rules/members.js';
import { closed, compileSchema, type Schema } from '../rules/shape.js';
import type { EnvironmentRow } from '../store/tables.js';
import {
  deleteEnvironment,
  findEnvironment,
  insertEnvironment,
  updateEnvironment,
  type EnvironmentContent,
} from '../store/workspaces.js';
import { answer } from './answer-schemas.js';
import { checkEmpty } from './checked-definition.js';

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

const ENVIRONMENT_BODY: Schema = closed(
  {
    ...MEMBERS,
    dataExportPermissions: { ...EXPORT_PERMISSIONS, type: ['object', 'null'] },
    ...WORDS_MEMBERS,
  },
  ['name'],
);

const PATCHED = {
  hasShape: compileSchema(closed({ id: true, ...MEMBERS }, ['name'])),
  fixed: ['id'],
};

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

export function wireEnvironment(row: EnvironmentRow): WireEnvironment {
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

/** Listed with the endpoints of workspaces. */
export const ENVIRONMENT_CHANGES: Endpoints = {
  'POST /environments/ws/:ws': {
    summary: 'Create an environment',
    answer: answer('Environment'),
    body: ENVIRONMENT_BODY,
    // Also makes the keys of its applications, as clients of such services expect.
    write: at('workspace', SHARED, async (work) => {
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
    }),
  },
  'PATCH /environments/ws/:ws/:env': {
    summary: 'Change an environment',
    answer: answer('Environment'),
    body: PATCH_BODY,
    write: at('environment', SHARED, async (work) => {
      const before = wholeEnvironment(work.environment);
      const { id, name, production, changePermissions } = before;
      const document = { id, name, production, changePermissions };
      const content = contentFrom(patchedObject('Environment', document, work.body, PATCHED));
      if (content.name !== name) await checkNameFree(work, content.name);
      const environment = await updateEnvironment(work.db, work.environment, content);
      const changed = wholeEnvironment(environment);
      return recordObject({ ...work, environment }, 'environment', before, changed);
    }),
  },
  'DELETE /environments/ws/:ws/:env': {
    summary: 'Delete an environment that holds nothing any more',
    answer: answer('True'),
    // Definitions and active segments go first, so that no single request deletes everything that is served.
    write: at('environment', SHARED, async (work) => {
      const { db, caller, environment } = work;
      const subject = `Environment ${environment.name} still has`;
      const parts = ['definitions', 'activations'] as const;
      await checkEmpty(db, parts, 'environment_id', environment.id, subject);
      await removeKeysOfEnvironment(db, caller, environment.id);
      await deleteEnvironment(db, environment.id);
      await recordObject(work, 'environment', wholeEnvironment(environment), null);
      return true;
    }),
  },
};

/** Compares with ids too: an environment whose name is the id of another could not be found by that name. */
async function checkNameFree({ db, workspace }: Work<'workspace'>, name: string): Promise<void> {
  if (await findEnvironment(db, workspace.id, name)) {
    throw conflict(`Environment ${name} already exists`);
  }
}
