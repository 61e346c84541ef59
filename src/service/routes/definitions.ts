import type { WireDefinition } from '../../api/wire.js';
import { recordChange } from '../change-log.js';
import { JsonText, type ApiRequest, type Endpoint } from '../endpoint.js';
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
} from '../rules/definition.js';
import { DEFINITION_SCHEMA } from '../rules/definition-schema.js';
import { differenceOf } from '../rules/difference.js';
import type { PatchOperation } from '../rules/json-patch.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import type { WordsNeeded } from '../rules/words.js';
import type { AuditAction } from '../store/audit.js';
import {
  definitionText,
  deleteDefinition,
  findDefinition,
  insertDefinition,
  listDefinitions,
  updateDefinition,
  usersOf,
  wireDefinition,
  type StoredDefinition,
} from '../store/definitions.js';
import { missingFlags } from '../store/flags.js';
import { inactiveSegments } from '../store/segments.js';
import type { Db, EnvironmentRow, WorkspaceRow } from '../store/tables.js';
import { PATCH_BODY } from './body-schemas.js';

const PATH = '/splits/ws/:ws/:flag/environments/:env';

export const DEFINITION_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: PATH,
    inContract: true,
    summary: 'Get the definition of a flag in an environment',
    read: readDefinition,
  },
  {
    methods: ['POST'],
    path: PATH,
    inContract: true,
    summary: 'Create the definition of a flag in an environment',
    body: DEFINITION_SCHEMA,
    write: createDefinition,
  },
  {
    methods: ['PATCH'],
    path: PATH,
    inContract: true,
    summary: 'Change the definition of a flag in an environment',
    body: PATCH_BODY,
    write: async (db, request) =>
      change(db, request, 'both-or-empty-answer', (before) =>
        definitionPatched(before, request.body as PatchOperation[]),
      ),
  },
  {
    methods: ['DELETE'],
    path: PATH,
    inContract: true,
    summary: 'Delete the definition of a flag in an environment',
    write: removeDefinition,
  },
  {
    methods: ['PUT'],
    path: PATH,
    inContract: false,
    summary: 'Replace the definition of a flag in an environment',
    body: DEFINITION_SCHEMA,
    write: async (db, request) =>
      change(db, request, 'both', (before) => replacement(before, request)),
  },
  {
    methods: ['GET'],
    path: '/splits/ws/:ws/environments/:env',
    inContract: false,
    summary: 'List the definitions of an environment',
    read: readDefinitions,
  },
  {
    methods: ['PUT', 'POST'],
    path: `${PATH}/kill`,
    inContract: false,
    summary: 'Serve the default treatment to everybody',
    write: async (db, request) => setKilled(db, request, true),
  },
  {
    methods: ['PUT', 'POST'],
    path: `${PATH}/restore`,
    inContract: false,
    summary: 'End a kill',
    write: async (db, request) => setKilled(db, request, false),
  },
];

async function readDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  return new JsonText(definitionText(await definitionAt(db, request, environment)));
}

async function readDefinitions(db: Db, request: ApiRequest): Promise<JsonText> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  const page = pageFrom(request.query, PAGE_SIZES.objects);
  const { definitions, totalCount } = await listDefinitions(db, environment.id, page);
  const objects = `[${definitions.map(definitionText).join(',')}]`;
  const rest = JSON.stringify({ ...page, totalCount });
  return new JsonText(`{"objects":${objects},${rest.slice(1)}`);
}

interface Place {
  readonly workspace: WorkspaceRow;
  readonly environment: EnvironmentRow;
}

/** Where a change is to be made, once it is clear that it may be. */
async function placeOfChange(db: Db, request: ApiRequest, needed: WordsNeeded): Promise<Place> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  checkWordsFor(workspace, request, needed);
  checkNoApproval(environment);
  return { workspace, environment };
}

async function createDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const place = await placeOfChange(db, request, 'both');
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
  return recorded(db, request, place, { action: 'create', flag: flag.name, before: null });
}

/** Runs one change of a definition that exists; without a difference nothing is written. */
async function change(
  db: Db,
  request: ApiRequest,
  needed: WordsNeeded,
  next: (before: WireDefinition) => DefinitionContent,
): Promise<JsonText> {
  const place = await placeOfChange(db, request, needed);
  const stored = await definitionAt(db, request, place.environment);
  const before = wireDefinition(stored);
  const content = next(before);
  const uses = await checkedUses(db, place, stored.flag_name, content);
  if (isSameContent(stored, content)) return new JsonText(definitionText(stored));
  const ids = { flagId: stored.flag_id, environmentId: place.environment.id };
  const later = Math.max(request.caller.now, stored.last_update_time + 1);
  await updateDefinition(db, ids, content, uses, later);
  return recorded(db, request, place, {
    action: actionOf(before.killed, content.killed),
    flag: stored.flag_name,
    before,
  });
}

function isSameContent(stored: StoredDefinition, { killed, body }: DefinitionContent): boolean {
  return Number(killed) === stored.killed && JSON.stringify(body) === stored.body_json;
}

function actionOf(before: boolean, after: boolean): AuditAction {
  if (before === after) return 'update';
  return after ? 'kill' : 'restore';
}

/** A body that does not speak of the kill leaves it as it is. */
function replacement(before: WireDefinition, { body }: ApiRequest): DefinitionContent {
  const given = body as { readonly killed?: boolean | null };
  return definitionFrom({ ...given, killed: given.killed ?? before.killed });
}

async function setKilled(db: Db, request: ApiRequest, killed: boolean): Promise<true> {
  await change(db, request, 'both', (before) => definitionFrom({ ...before, killed }));
  return true;
}

async function removeDefinition(db: Db, request: ApiRequest): Promise<true> {
  const place = await placeOfChange(db, request, 'both');
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
    difference: differenceOf(wireDefinition(stored), null),
  });
  return true;
}

/** @throws Problem (400) the definition names what is not there. */
async function checkedUses(db: Db, place: Place, flag: string, { body }: DefinitionContent) {
  const uses = usesOf(body);
  const [segment] = await inactiveSegments(db, place.environment.id, uses.segments);
  if (segment !== undefined) {
    throw badRequest(`There is no segment ${segment} active in ${place.environment.name}`);
  }
  const [missing] = await missingFlags(db, place.workspace.id, uses.flags);
  if (missing !== undefined) throw badRequest(`There is no feature flag ${missing}`);
  if (uses.flags.includes(flag)) throw badRequest(`Feature flag ${flag} cannot depend on itself`);
  return uses;
}

async function recorded(
  db: Db,
  { caller }: ApiRequest,
  { workspace, environment }: Place,
  done: { action: AuditAction; flag: string; before: WireDefinition | null },
): Promise<JsonText> {
  const stored = await findDefinition(db, environment.id, done.flag);
  if (stored === undefined) throw new Error('bug: a definition vanished within a transaction');
  await recordChange(db, caller, {
    kind: 'flag',
    name: done.flag,
    action: done.action,
    workspaceId: workspace.id,
    environment,
    difference: differenceOf(done.before, wireDefinition(stored)),
  });
  return new JsonText(definitionText(stored));
}
