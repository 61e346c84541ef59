/**
 * Endpoints that create, change and delete environments. The contract only lists environments (see `workspaces.ts`), so
 * a strict service has none of these.
 *
 * All three need a key that is not restricted to environments. Beside the contract's fields of an environment, the
 * answers hold its time of creation and who may change it, as in public documentation of such services.
 */

import { randomUUID } from 'node:crypto';
import type { WireEnvironment } from '../../admin-api/wire.js';
import { addKeysOfEnvironment, removeKeysOfEnvironment, type AdminKey } from '../admin-keys.js';
import { recordObject, written } from '../change-log.js';
import type { Endpoint, Work } from '../http/endpoint.js';
import { at } from '../http/place.js';
import { conflict } from '../http/problem.js';
import {
  ENVIRONMENT_SCHEMA,
  environmentFrom,
  environmentPatched,
  type EnvironmentContent,
  type PatchableEnvironment,
} from '../rules/environment.js';
import type { PatchOperation } from '../rules/json-patch.js';
import type { Db, EnvironmentRow, WorkspaceRow } from '../store/tables.js';
import {
  countUses,
  deleteEnvironment,
  findEnvironment,
  insertEnvironment,
  updateEnvironment,
} from '../store/workspaces.js';
import { PATCH_BODY } from './body-schemas.js';
import { wireEnvironment } from './workspaces.js';
import { answer } from './answer-schemas.js';

export const ENVIRONMENT_CHANGE_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['POST'],
    path: '/environments/ws/:ws',
    summary: 'Create an environment',
    answer: answer('Environment'),
    body: ENVIRONMENT_SCHEMA,
    write: at('workspace', { reach: 'workspace' }, addEnvironment),
  },
  {
    methods: ['PATCH'],
    path: '/environments/ws/:ws/:env',
    summary: 'Change an environment',
    answer: answer('Environment'),
    body: PATCH_BODY,
    write: at('environment', { reach: 'workspace' }, patchEnvironment),
  },
  {
    methods: ['DELETE'],
    path: '/environments/ws/:ws/:env',
    summary: 'Delete an environment that holds nothing any more',
    answer: answer('True'),
    write: at('environment', { reach: 'workspace' }, removeEnvironment),
  },
];

/**
 * An environment with the members that only its own endpoints answer; the contract's list of
 * environments has `id`, `name` and `production` alone.
 */
type WholeEnvironment = WireEnvironment &
  PatchableEnvironment & {
    readonly creationTime: number;
    readonly type: 'environment';
    readonly status: 'ACTIVE';
  };

/** A key of an environment's applications, in the form of the environment's answers. */
type ApiToken = Pick<AdminKey, 'id' | 'name' | 'apiKeyType'> & {
  readonly type: 'api_key';
  readonly key: string;
};

/**
 * Creates an environment and, as clients of such services expect, the keys of its applications.
 *
 * @throws Problem (409) the workspace has an environment of this name.
 */
async function addEnvironment(
  work: Work<'workspace'>,
): Promise<WholeEnvironment & { readonly apiTokens: readonly ApiToken[] }> {
  const { db, workspace } = work;
  const content = environmentFrom(work.body);
  await checkNameIsFree(db, workspace, content.name);
  const id = randomUUID();
  await insertEnvironment(db, {
    id,
    workspace_id: workspace.id,
    creation_time: work.caller.now,
    ...rowMembers(content),
  });
  const environment = await recorded(work, { id, before: null });
  const keys = await addKeysOfEnvironment(db, work.caller, environment);
  const apiTokens = keys.map(({ id, name, apiKeyType, key }) => {
    return { id, name, type: 'api_key', apiKeyType, key } as const;
  });
  return { ...environment, apiTokens };
}

function rowMembers({ name, production, approvalsRequired, allowKills }: EnvironmentContent) {
  return {
    name,
    production: Number(production),
    approvals_required: Number(approvalsRequired),
    allow_kills: Number(allowKills),
  };
}

/** Also compares with ids: an environment whose name is the id of another could not be found by that name. */
async function checkNameIsFree(db: Db, workspace: WorkspaceRow, name: string): Promise<void> {
  if (await findEnvironment(db, workspace.id, name)) {
    throw conflict(`Environment ${name} already exists`);
  }
}

/**
 * Applies patch operations to the environment in the form of its own endpoints. An environment may keep its name, so
 * the name is checked only if it changes.
 */
async function patchEnvironment(work: Work<'environment'>): Promise<WholeEnvironment> {
  const { db, workspace, environment } = work;
  const before = wholeEnvironment(environment);
  const content = environmentPatched(before, work.body as PatchOperation[]);
  if (content.name !== before.name) await checkNameIsFree(db, workspace, content.name);
  await updateEnvironment(db, environment.id, rowMembers(content));
  return recorded(work, { id: environment.id, before });
}

async function recorded(
  work: Work<'workspace'>,
  { id, before }: { id: string; before: WholeEnvironment | null },
): Promise<WholeEnvironment> {
  const environment = written(await findEnvironment(work.db, work.workspace.id, id));
  const after = wholeEnvironment(environment);
  await recordObject({ ...work, environment }, 'environment', before, after);
  return after;
}

/**
 * Deletes an environment with its identities and the keys of its applications. Definitions and active segments have to
 * be removed first, so that no single request can delete everything that an environment serves.
 *
 * @throws Problem (409) a flag has a definition there, or a segment is active there.
 */
async function removeEnvironment(work: Work<'environment'>): Promise<true> {
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

/** `type` and `status` have one fixed value each in this service. */
function wholeEnvironment(row: EnvironmentRow): WholeEnvironment {
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
