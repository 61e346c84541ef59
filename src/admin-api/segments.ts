import pMap from 'p-map';
import { FlagkeelError } from '../errors.js';
import type { ActualActivation, ActualSegment, KeyDetail, Scope } from '../model/actual.js';
import { byCodeUnits } from '../model/json.js';
import { DEFAULT_CONCURRENCY } from '../model/run.js';
import { chunks, keyList } from '../model/segment-keys.js';
import { count, list, name, orNull, record, ref, tags, text } from './decode.js';
import { isNoEndpoint, type ReadRequest, type ServiceAnswer } from './http/request.js';
import type { Page } from './paging.js';
import { isAbsence, type AdminReader } from './reader.js';
import type { WireSegment, WireSegmentInEnvironment, WireSegmentKeys } from './wire.js';
import type { Catalog } from './workspace.js';
import {
  assertFits,
  createNamed,
  isSameObject,
  noted,
  removed,
  StepError,
  written,
  writtenInBody,
  type WriteCall,
  type WriteOf,
  type Writes,
} from './write-call.js';

const KEYS_PER_PAGE = 100;

export const segmentCheck = record<WireSegment>({
  name,
  description: orNull(text),
  trafficType: ref,
  tags,
});

const segmentInEnvironment = record<WireSegmentInEnvironment>({ name, environment: ref });

const segmentKeys = record<WireSegmentKeys>({
  keys: list(record<{ key: string }>({ key: text })),
  count,
  openChangeRequestId: orNull(text),
});

export async function listSegments(
  reader: AdminReader,
  workspaceId: string,
): Promise<readonly WireSegment[]> {
  const at = { workspace: workspaceId };
  const request = { route: 'segments/ws/:workspace', at, what: 'read segments' };
  return reader.objects(request, segmentCheck, ({ name }) => name);
}

/** Keys in the service's order; `undefined` if the segment is not active in the environment. */
export async function listKeys(
  reader: AdminReader,
  environmentId: string,
  segment: string,
): Promise<
  { readonly keys: readonly string[]; readonly openChangeRequestId: string | null } | undefined
> {
  const request = keysRequest(environmentId, segment);
  let openChangeRequestId: string | null = null;
  const fetchPage = async (offset: number): Promise<Page<string> | undefined> => {
    const { json: page, length } = await keysPage(reader, request, offset, KEYS_PER_PAGE);
    if (page === undefined) return undefined;
    openChangeRequestId = page.openChangeRequestId;
    const total = await reader.keysCount.askedTotal(
      page,
      offset,
      async () => (await keysPage(reader, request, 0, 1)).json,
    );
    return { objects: page.keys.map(({ key }) => key), total, offset: page.offset, length };
  };
  const keys = await reader.pages(request, fetchPage, (key) => key);
  return keys && { keys, openChangeRequestId };
}

/** From one page of one key. `undefined`: not active; `null`: active, and the answer does not prove the number. */
export async function countKeys(
  reader: AdminReader,
  environmentId: string,
  segment: string,
): Promise<number | null | undefined> {
  const { json } = await keysPage(reader, keysRequest(environmentId, segment), 0, 1);
  return json && reader.keysCount.provenCount(json);
}

function keysRequest(environmentId: string, segment: string): ReadRequest {
  return {
    route: 'segments/:environment/:segment/keys',
    at: { environment: environmentId, segment },
    what: `read the keys of segment ${JSON.stringify(segment)}`,
  };
}

async function keysPage(
  reader: AdminReader,
  request: ReadRequest,
  offset: number,
  limit: number,
): Promise<ServiceAnswer<WireSegmentKeys>> {
  const query = { limit: String(limit), offset: String(offset) };
  return reader.get({ ...request, query, accepts: isAbsence, check: segmentKeys });
}

export async function observeSegments(
  reader: AdminReader,
  at: Catalog,
  { segments: scoped, whole }: Scope,
  onSeen: (count: number) => void,
) {
  const isListed = whole || [...scoped.values()].some(({ placesAlone }) => placesAlone !== true);
  const listed = isListed ? await listSegments(reader, at.workspace.id) : [];
  const byName = new Map(listed.map((segment) => [segment.name, segment]));
  const wanted = [...scoped].sort(([a], [b]) => byCodeUnits(a, b));
  const segments = await pMap(
    wanted,
    async ([name, { environments, placesAlone }]): Promise<[string, ActualSegment]> => {
      const segment = byName.get(name);
      const isRead = segment !== undefined || placesAlone === true;
      const places = new Map<string, ActualActivation>();
      for (const place of at.environments) {
        const detail = environments.get(place.name);
        if (detail === undefined) continue;
        const seen = isRead ? await activationIn(reader, place.id, name, detail) : INACTIVE;
        places.set(place.name, seen);
      }
      onSeen(environments.size);
      return [name, { ...(placesAlone !== true && segment && { segment }), environments: places }];
    },
    { concurrency: DEFAULT_CONCURRENCY },
  );
  const allSegments = isListed ? listed.map(({ name }) => name) : null;
  return { segments: new Map(segments), allSegments, listed };
}

const INACTIVE: ActualActivation = { active: false };

async function activationIn(
  reader: AdminReader,
  environmentId: string,
  segment: string,
  detail: KeyDetail,
): Promise<ActualActivation> {
  if (detail !== 'keys') {
    const count = await countKeys(reader, environmentId, segment);
    if (count === undefined) return INACTIVE;
    if (detail === 'activation') return { active: true };
    if (detail.count === count) return { active: true, assumedKeys: detail };
  }
  const found = await listKeys(reader, environmentId, segment);
  if (!found) return INACTIVE;
  const { keys, openChangeRequestId } = found;
  const waiting = openChangeRequestId !== null && { openChangeRequestId };
  return { active: true, keys: keyList(keys), ...waiting };
}

const IN_ENVIRONMENT = 'segments/:environment/:segment';

export const SEGMENT_WRITES = {
  'create-segment': async ({ segment: name, trafficType, description }, call) => {
    const segment = { name, trafficType, description };
    await createNamed(call, { kind: 'segment', list: 'segments' }, segment, {
      check: segmentCheck,
      confirm: async () => {
        const segments = await listSegments(call.reader, call.place.workspaceId);
        return segments.find((found) => isSameObject(found, segment));
      },
    });
  },
  'activate-segment': async ({ segment: name }, call) => {
    const at = atOf(name, call);
    await written(call, {
      kind: 'create',
      method: 'POST',
      route: IN_ENVIRONMENT,
      at,
      what: `activate segment ${JSON.stringify(name)}`,
      check: segmentInEnvironment,
      // Only an active segment has a list of keys.
      confirm: async () => {
        const environment = { id: at.environment, name: at.environment };
        return (await isActive(name, call)) ? { name, environment } : undefined;
      },
    });
  },
  'upload-keys': uploadKeys,
  'remove-keys': async ({ segment, keys }, call) => {
    assertFits(keys);
    await writtenInBody(call, 'removeKeys', {
      kind: 'write',
      method: 'PUT',
      route: `${IN_ENVIRONMENT}/removeKeys`,
      at: atOf(segment, call),
      body: { keys },
      what: `remove keys from segment ${JSON.stringify(segment)}`,
    });
  },
  /** Does nothing where the endpoint is missing: such a service deactivates a segment when it is deleted. */
  'deactivate-segment': async ({ segment }, call) => {
    const { missing } = call;
    if (missing.has('deactivate')) return;
    const what = `deactivate segment ${JSON.stringify(segment)}`;
    const request = { route: IN_ENVIRONMENT, at: atOf(segment, call), what };
    const status = await removed(call, { ...request, accepts: isNoEndpoint });
    if (status < 400) return;
    // 404 may mean a missing endpoint or an inactive segment; a look at the keys decides.
    const active = await isActive(segment, call);
    if (status !== 404 || active) missing.add('deactivate');
  },
  'delete-segment': async ({ segment }, call) => {
    const at = { workspace: call.place.workspaceId, segment };
    const what = `delete segment ${JSON.stringify(segment)}`;
    await removed(call, { route: 'segments/ws/:workspace/:segment', at, what });
  },
} satisfies Partial<Writes>;

function atOf(segment: string, { place }: WriteCall) {
  return { environment: place.environmentId, segment };
}

async function isActive(segment: string, { reader, place }: WriteCall): Promise<boolean> {
  return (await countKeys(reader, place.environmentId, segment)) !== undefined;
}

/**
 * The contract leaves open whether an upload adds or replaces. So if the plan knows the earlier keys, this checks their
 * number afterwards, and restores lost keys.
 */
async function uploadKeys(
  { segment, keys, before }: WriteOf<'upload-keys'>,
  call: WriteCall,
): Promise<undefined> {
  await upload(segment, keys, call);
  if (!before) return;
  const after = await afterWrite(keysLeft(segment, call));
  if (after >= before.length) return;
  // One after the other, because each updates the same segment.
  for (const chunk of chunks(before)) await upload(segment, chunk, call);
  const lost = `the upload replaced its ${before.length} keys by ${after}, which were put back`;
  throw new StepError('SEGMENT_SHRANK', `cannot add keys to segment "${segment}": ${lost}`);
}

/** Uses `uploadKeys?replace=false`, which surely appends, where the service has it. */
async function upload(segment: string, keys: readonly string[], call: WriteCall): Promise<void> {
  assertFits(keys);
  const request = {
    kind: 'write',
    method: 'PUT',
    at: atOf(segment, call),
    what: `upload keys to segment ${JSON.stringify(segment)}`,
  } as const;
  if (!call.missing.has('uploadKeys')) {
    const { status } = await writtenInBody(call, 'uploadKeys', {
      ...request,
      route: `${IN_ENVIRONMENT}/uploadKeys`,
      query: { replace: 'false' },
      body: { keys },
      accepts: isNoEndpoint,
    });
    if (status < 400) return;
  }
  // A bare list, because the contract has no place for title and comment in this body.
  const whole = { ...request, route: `${IN_ENVIRONMENT}/upload`, body: keys };
  await call.client.write(noted(call, whole));
  // Only now it is certain that the 404 was about the endpoint and not about the segment.
  call.missing.add('uploadKeys');
}

/** A reading after a write: if it is interrupted, the step must not count as skipped. */
async function afterWrite<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    throw new FlagkeelError(error.code, error.message, { cause: error, fateUnknown: true });
  }
}

async function keysLeft(segment: string, { reader, place }: WriteCall): Promise<number> {
  const { environmentId } = place;
  const count = await countKeys(reader, environmentId, segment);
  if (count !== null) return count ?? 0;
  return (await listKeys(reader, environmentId, segment))?.keys.length ?? 0;
}
