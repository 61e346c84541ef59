import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Html } from '../platform/html.js';
import type { ApiRequest } from '../service/http/endpoint.js';
import {
  activationAt,
  checkMayChangeWorkspace,
  definitionAt,
  environmentAt,
  flagAt,
  isUnrestricted,
  isVisible,
  workspaceAt,
} from '../service/http/path-lookup.js';
import { notFound } from '../service/http/problem.js';
import { listAudit } from '../service/store/audit.js';
import { findChangeRequest, listChangeRequests } from '../service/store/change-requests.js';
import { findDefinition } from '../service/store/definitions.js';
import { listFlags, type StoredFlag } from '../service/store/flags.js';
import { searchKeys } from '../service/store/keys.js';
import { findActivation, listSegments } from '../service/store/segments.js';
import type { Db, EnvironmentRow } from '../service/store/tables.js';
import { listEnvironments, listWorkspaces } from '../service/store/workspaces.js';
import { requestPage, requestsPage } from './change-requests.js';
import { flagArticle, flagPage, flagsPage, type FlagRow } from './flags.js';
import type { Place } from './layout.js';
import { keysPage, logPage, segmentsPage, switchPage } from './pages.js';
import type { Session } from './sign-in.js';

/** Parameters of the address or of a form. If a name occurs twice, the first value counts. */
export type Given = URLSearchParams;

const FLAGS_AT_ONCE = 25;
const SEGMENTS_AT_ONCE = 50;
const KEYS_AT_ONCE = 200;
const ENTRIES_AT_ONCE = 50;
const REQUESTS_AT_ONCE = 50;

interface Visit {
  readonly db: Db;
  readonly session: Session;
  readonly given: Given;
  /** The request in the form that the rules of the service check. */
  readonly request: ApiRequest;
}

/** Path → page; each page reads one consistent state of the store. */
export const PAGES: Readonly<Record<string, (visit: Visit) => Promise<string>>> = {
  '/': showFlags,
  '/console/flag': showFlag,
  '/console/segments': showSegments,
  '/console/keys': showKeys,
  '/console/requests': showRequests,
  '/console/request': showRequest,
  '/console/log': showLog,
  '/console/switch': showSwitch,
};

/** The workspace of the address, or the first that the key sees. */
async function placeOf(
  { db, session, given, request }: Visit,
  page: Place['page'],
): Promise<Place> {
  const workspaces = await listWorkspaces(db, { ids: request.caller.scope.workspaces });
  const [first] = workspaces;
  if (first === undefined) throw notFound('workspace', 'of this key');
  const workspace = given.get('ws') ? await workspaceAt(db, request) : first;
  return { session, workspaces, workspace, page };
}

/** The environments that the key sees: production first, and of the others the newest. */
async function environmentsOf(
  { db, request }: Visit,
  { workspace }: Place,
): Promise<EnvironmentRow[]> {
  const { environments } = request.caller.scope;
  const all = await listEnvironments(db, workspace.id);
  return all
    .filter(({ id }) => isVisible(environments, id))
    .toReversed()
    .toSorted((a, b) => b.production - a.production);
}

/** A whole number from 0 on; anything else counts as 0. */
function wholeNumber(text: string | null): number {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) : 0;
}

/** Shows twenty-five flags, each with the definitions that the key sees. */
async function showFlags(visit: Visit): Promise<string> {
  const { db, given } = visit;
  const place = await placeOf(visit, 'flags');
  const environments = await environmentsOf(visit, place);
  const q = given.get('q') ?? '';
  const page = { offset: wholeNumber(given.get('offset')), limit: FLAGS_AT_ONCE };
  const filter = { nameContains: q, tags: [] };
  const { flags, totalCount } = await listFlags(db, place.workspace.id, filter, page);
  const articles: Html[] = [];
  for (const flag of flags) {
    articles.push(flagArticle(await rowOf(db, flag, environments), place.workspace.id));
    // A definition may be a megabyte, so other requests get their turn between two flags.
    await letOthersRun();
  }
  return flagsPage(place, articles, { ...page, q, totalCount });
}

async function rowOf(
  db: Db,
  flag: StoredFlag,
  environments: readonly EnvironmentRow[],
): Promise<FlagRow> {
  const cells = [];
  for (const environment of environments) {
    const definition = (await findDefinition(db, environment.id, flag.name)) ?? null;
    cells.push({ environment, definition });
  }
  return { flag, cells };
}

/** One flag with its history, if the key may read the log. */
async function showFlag(visit: Visit): Promise<string> {
  const { db, request } = visit;
  const place = await placeOf(visit, 'flags');
  const flag = await flagAt(db, request, place.workspace);
  const row = await rowOf(db, flag, await environmentsOf(visit, place));
  const filter = { workspaceId: place.workspace.id, kind: 'flag', name: flag.name };
  const isAllowed = request.caller.scope.environments === null;
  const log = isAllowed ? await listAudit(db, filter, { offset: 0, limit: ENTRIES_AT_ONCE }) : null;
  return flagPage(place, row, log?.entries ?? null);
}

async function showSwitch(visit: Visit): Promise<string> {
  const { db, request } = visit;
  const place = await placeOf(visit, 'flags');
  const environment = await environmentAt(db, request, place.workspace);
  return switchPage(place, await definitionAt(db, request, environment));
}

async function showSegments(visit: Visit): Promise<string> {
  const { db, given } = visit;
  const place = await placeOf(visit, 'segments');
  const environments = await environmentsOf(visit, place);
  const page = { offset: wholeNumber(given.get('offset')), limit: SEGMENTS_AT_ONCE };
  const { segments, totalCount } = await listSegments(db, place.workspace.id, page);
  const rows = [];
  for (const segment of segments) {
    const active = [];
    for (const { id } of environments) {
      const activation = await findActivation(db, id, segment.name);
      if (activation !== undefined) active.push(activation);
    }
    rows.push({ segment, active });
  }
  return segmentsPage(place, rows, { ...page, q: '', totalCount });
}

/**
 * Shows the keys after the last one of the page before, so that the last page of a large segment is as fast as the
 * first.
 */
async function showKeys(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'segments');
  const environment = await environmentAt(db, request, place.workspace);
  const activation = await activationAt(db, request, environment);
  const q = given.get('q') ?? '';
  const wanted = { contains: q, after: given.get('after') ?? '', limit: KEYS_AT_ONCE + 1 };
  const found = await searchKeys(db, activation.activation_id, wanted);
  const keys = found.slice(0, KEYS_AT_ONCE);
  const next = found.length > KEYS_AT_ONCE ? (keys.at(-1) ?? null) : null;
  return keysPage(place, activation, { q, keys, next });
}

async function showRequests(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'requests');
  const before = wholeNumber(given.get('before'));
  const { environments } = request.caller.scope;
  const filter = { workspaces: [place.workspace.id], environments, ...(before > 0 && { before }) };
  const found = await listChangeRequests(db, filter, REQUESTS_AT_ONCE + 1);
  const requests = found.slice(0, REQUESTS_AT_ONCE);
  const older = found.length > REQUESTS_AT_ONCE ? (requests.at(-1)?.position ?? null) : null;
  return requestsPage(place, requests, older);
}

async function showRequest(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'requests');
  const id = given.get('id') ?? '';
  const found = await findChangeRequest(db, id);
  const isHere =
    found?.workspace_id === place.workspace.id &&
    isVisible(request.caller.scope.environments, found.environment_id);
  if (found === undefined || !isHere) throw notFound('change request', id);
  const stored = await findDefinition(db, found.environment_id, found.name);
  const key = { keyId: request.caller.keyId, isUnrestricted: isUnrestricted(request.caller) };
  return requestPage(place, found, { stored, key });
}

async function showLog(visit: Visit): Promise<string> {
  const { db, given, request } = visit;
  const place = await placeOf(visit, 'log');
  // As in the interface: the log contains changes in all environments.
  checkMayChangeWorkspace(request);
  const object = given.get('object') ?? '';
  const [kind = '', ...name] = object.split('/');
  const before = wholeNumber(given.get('before'));
  const filter = {
    workspaceId: place.workspace.id,
    ...(kind !== '' && name.length > 0 && { kind }),
    ...(object !== '' && { name: name.length > 0 ? name.join('/') : kind }),
    ...(before > 0 && { before }),
  };
  const page = { offset: 0, limit: ENTRIES_AT_ONCE };
  const { entries, totalCount } = await listAudit(db, filter, page);
  const older = totalCount > entries.length ? (entries.at(-1)?.id ?? null) : null;
  return logPage(place, entries, { object, older });
}
