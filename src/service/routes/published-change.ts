import type { ApiRequest } from '../http/endpoint.js';
import type { DefinitionContent } from '../rules/definition.js';
import type { StoredChangeRequest } from '../store/change-requests.js';
import type { Store } from '../store/store.js';
import type { ChangeRequestKind, ChangeRequestOperation, Db } from '../store/tables.js';
import {
  createDefinition,
  removeDefinition,
  replaceDefinition,
  setKilled,
} from './definition-changes.js';
import { moveRolloutStatus } from './flags.js';
import { removeGivenKeys, uploadKeys } from './segment-keys.js';

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
  if (row.rollout_status_id !== null) await moveRolloutStatus(db, request, row.rollout_status_id);
}

/** The body that the endpoint of the change takes; for a replacement, without `killed`. */
function bodyOf({ kind, operation, content_json }: StoredChangeRequest): unknown {
  const content = JSON.parse(content_json) as unknown;
  if (kind === 'segment' || content === null) return content;
  const { killed, body } = content as DefinitionContent;
  return operation === 'CREATE' ? { killed, ...body } : body;
}

type Publisher = (db: Db, request: ApiRequest, store: Store) => Promise<unknown>;

const ADD: Publisher = async (db, request, store) =>
  uploadKeys(db, request, store, request.body as string[]);
const REMOVE: Publisher = async (db, request, store) =>
  removeGivenKeys(db, request, store, request.body as string[]);
const kills =
  (killed: boolean): Publisher =>
  async (db, request) =>
    setKilled(db, request, killed);

const PUBLISH: Readonly<
  Record<ChangeRequestKind, Readonly<Record<ChangeRequestOperation, Publisher>>>
> = {
  flag: {
    CREATE: createDefinition,
    UPDATE: replaceDefinition,
    KILL: kills(true),
    RESTORE: kills(false),
    ARCHIVE: removeDefinition,
  },
  // Change requests for keys only add or remove; the other operations never occur.
  segment: { CREATE: ADD, UPDATE: ADD, KILL: REMOVE, RESTORE: ADD, ARCHIVE: REMOVE },
};
