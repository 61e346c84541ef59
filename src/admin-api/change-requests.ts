import { RejectedError } from '../errors.js';
import { truncateNote } from '../model/audit-note.js';
import {
  answeredBy,
  isSameMark,
  markIn,
  requestFacts,
  markLine,
  type ChangeRequest,
  type ListedRequest,
  type RequestDraft,
} from '../model/change-request.js';
import type { ChangeNote } from '../model/outcome.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import * as shapes from './decode.js';
import type { AdminClient, GetOnly } from './http/admin-client.js';
import { isNoEndpoint } from './http/request.js';
import type { WireChangeRequest, WireEnvironment } from './wire.js';

const PER_PAGE = 100;
/** A service with more open requests than this has a fault. */
const MAX_PAGES = 1_000;

/** The open requests of an environment, oldest first, and the newest hundred rejected ones; null if it has none. */
export async function listChangeRequests(
  client: GetOnly,
  environmentId: string,
): Promise<readonly ListedRequest[] | null> {
  const open = await pagesOf(client, { environmentId, status: 'REQUESTED' }, MAX_PAGES);
  if (open === null) return null;
  const rejected = await pagesOf(client, { environmentId, status: 'REJECTED' }, 1);
  return [
    ...open.map((each) => listedRequest(each, 'open')).reverse(),
    ...(rejected ?? []).map((each) => listedRequest(each, 'rejected')),
  ];
}

async function pagesOf(
  client: GetOnly,
  filter: Readonly<Record<string, string>>,
  most: number,
): Promise<readonly WireChangeRequest[] | null> {
  const found: WireChangeRequest[] = [];
  let after: string | null = null;
  for (let page = 0; page < most; page += 1) {
    const query: Record<string, string> = { ...filter, limit: String(PER_PAGE) };
    if (after !== null) query['after'] = after;
    // One after the other, because each page names the next.
    const { json } = await client.get({
      route: 'changeRequests',
      query,
      what: 'read change requests',
      accepts: isNoEndpoint,
      check: shapes.changeRequestPage,
    });
    if (json === undefined) return null;
    found.push(...json.data);
    if (json.nextMarker === null) return found;
    after = json.nextMarker;
  }
  return found;
}

interface ChangeRequestList {
  listChangeRequests(environmentId: string): ReturnType<typeof listChangeRequests>;
}

/** @param wanted names of environments. */
export async function requestsByObject(
  reader: ChangeRequestList,
  environments: readonly WireEnvironment[],
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<ObjectId, readonly ChangeRequest[]>> {
  const found = new Map<ObjectId, ChangeRequest[]>();
  for (const { id, name: environment } of environments) {
    if (!wanted.has(environment)) continue;
    for (const { kind, name, ...request } of (await reader.listChangeRequests(id)) ?? []) {
      const object = objectId({ kind, name, environment });
      found.set(object, [...(found.get(object) ?? []), request]);
    }
  }
  return found;
}

function listedRequest(wire: WireChangeRequest, is: ChangeRequest['is']): ListedRequest {
  const { split, segment, comments } = wire;
  const submitted = comments.find(({ role }) => role === 'SUBMITTER');
  // Some services show the comment of a request only among its comments.
  const mark = markIn(wire.comment ?? submitted?.comment ?? '');
  const time = wire.creationTime ?? submitted?.timestamp;
  const since = time === undefined ? null : new Date(time).toISOString();
  return {
    ...requestFacts({ ...wire, is, by: submitted?.user ?? null, since }),
    operation: wire.operationType,
    kind: split ? 'flag' : 'segment',
    name: (split ?? segment)?.name ?? '',
    ...(mark && { mark }),
  };
}

export interface Submission {
  readonly draft: RequestDraft;
  readonly ref: Pick<ObjectRef, 'kind' | 'name'>;
  readonly place: {
    readonly workspaceId: string;
    readonly environmentId: string;
    readonly note: ChangeNote;
  };
}

/**
 * Submits a change request unless there is one with its mark, of an interrupted run or another clone. Of two that were
 * submitted at the same moment the older stays. null if the service has no change requests.
 *
 * @throws RejectedError 423 if another request for the object is open.
 */
export async function submitOnce(
  client: Pick<AdminClient, 'write'>,
  reader: ChangeRequestList,
  submission: Submission,
): Promise<ChangeRequest | null> {
  const { draft, ref, place } = submission;
  const { environmentId, workspaceId } = place;
  const list = async (): Promise<readonly ChangeRequest[] | undefined> => {
    const listed = await reader.listChangeRequests(environmentId);
    return listed?.filter(({ kind, name }) => kind === ref.kind && name === ref.name);
  };
  const find = async (): Promise<ChangeRequest | null | undefined> => {
    const own = await list();
    return own ? answeredBy(own, draft) : null;
  };
  const known = await find();
  if (known !== undefined) return known;
  const note = markedNote(submission);
  const content = { name: ref.name, ...draft.body, ...(draft.keys && { keys: draft.keys }) };
  try {
    await client.write({
      kind: 'create',
      method: 'POST',
      route: 'changeRequests/ws/:workspace/environments/:environment',
      at: { workspace: workspaceId, environment: environmentId },
      query: { ...note },
      body: {
        [ref.kind === 'flag' ? 'split' : 'segment']: content,
        operationType: draft.operation,
        ...note,
      },
      what: `ask for a change of ${ref.kind} ${JSON.stringify(ref.name)}`,
      confirm: find,
    });
  } catch (error) {
    const isTaken = error instanceof RejectedError && [409, 423].includes(error.status);
    const taken = isTaken ? await find() : undefined;
    if (taken) return taken;
    throw error;
  }
  const own = (await list()) ?? [];
  const [, ...later] = own.filter(({ is, mark }) => is === 'open' && isSameMark(mark, draft.mark));
  // Each clone looks after it submitted. So the last one sees all of them, even if the service accepted several.
  for (const { id } of later) {
    await withdrawRequest(client, id, 'The same change was asked before').catch(
      (error: unknown) => {
        // Only its author may withdraw it, and that clone does so itself.
        if (!(error instanceof RejectedError && error.status === 403)) throw error;
      },
    );
  }
  return answeredBy(own, draft) ?? null;
}

/** The mark comes first, because the end of a long comment is cut. */
function markedNote({ place: { note }, draft: { mark, file } }: Submission): ChangeNote {
  const origin = file === null ? [] : [`from ${file}`];
  const comment = [markLine(mark), ...origin, '', note.comment].join('\n');
  return truncateNote({ ...note, comment }, note.title);
}

/** Withdraws a request of ours. One that was decided or withdrawn meanwhile, or is gone, is no error. */
export async function withdrawRequest(
  client: Pick<AdminClient, 'write'>,
  id: string,
  comment = 'Git asks for something else by now',
): Promise<void> {
  const note = { title: 'flagkeel: withdraw', comment };
  await client.write({
    kind: 'delete',
    method: 'PUT',
    route: 'changeRequests/:id',
    at: { id },
    query: note,
    body: { status: 'WITHDRAWN', comment: note.comment },
    what: `withdraw change request ${id}`,
    accepts: (status) => status === 404 || status === 409,
  });
}
