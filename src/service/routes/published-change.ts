import type { ApiRequest, Step } from '../http/endpoint.js';
import type { DefinitionContent } from '../rules/definition.js';
import type { StoredChangeRequest } from '../store/change-requests.js';
import type { Store } from '../store/store.js';
import type { ChangeRequestKind, ChangeRequestOperation, Db } from '../store/tables.js';
import {
  createDefinition,
  removeDefinition,
  replaceDefinition,
  kill,
  restore,
} from './definition-changes.js';
import { moveRolloutStatus } from './flags.js';
import { removeKeysOf, uploadKeys } from './segment-keys.js';

/** Makes the change that was approved, with the title and comment of its request, by the key that approves. */
export async function publish(
  db: Db,
  { caller }: ApiRequest,
  store: Store,
  row: StoredChangeRequest,
): Promise<void> {
  const { title, comment } = row;
  const request: ApiRequest = {
    params: {
      ws: row.workspace_id,
      env: row.environment_id,
      flag: row.name,
      segment: row.name,
    },
    query: {},
    body: bodyOf(row),
    caller: { ...caller, note: { title, comment } },
    publishes: row.id,
  };
  await PUBLISH[row.kind][row.operation](db, request, store);
  if (row.rollout_status_id !== null) {
    await moveRolloutStatus(row.rollout_status_id)(db, request, store);
  }
}

/** The body that the endpoint of the change takes; for a replacement, without `killed`. */
function bodyOf({ kind, operation, content_json }: StoredChangeRequest): unknown {
  const content = JSON.parse(content_json) as unknown;
  if (kind === 'segment' || content === null) return content;
  const { killed, body } = content as DefinitionContent;
  return operation === 'CREATE' ? { killed, ...body } : body;
}

const PUBLISH: Readonly<Record<ChangeRequestKind, Readonly<Record<ChangeRequestOperation, Step>>>> =
  {
    flag: {
      CREATE: createDefinition,
      UPDATE: replaceDefinition,
      KILL: kill,
      RESTORE: restore,
      ARCHIVE: removeDefinition,
    },
    // Change requests for keys only add or remove; the other operations never occur.
    segment: {
      CREATE: uploadKeys,
      UPDATE: uploadKeys,
      KILL: removeKeysOf,
      RESTORE: uploadKeys,
      ARCHIVE: removeKeysOf,
    },
  };
