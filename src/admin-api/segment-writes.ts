import { FlagkeelError } from '../errors.js';
import { chunks } from '../model/segment-keys.js';
import * as shapes from './decode.js';
import { isNoEndpoint } from './http/request.js';
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

const IN_ENVIRONMENT = 'segments/:environment/:segment';

export const SEGMENT_WRITES = {
  'create-segment': async ({ segment: name, trafficType, description }, call) => {
    const segment = { name, trafficType, description };
    await createNamed(call, 'segment', segment, {
      check: shapes.segment,
      confirm: async () => {
        const segments = await call.reader.listSegments(call.place.workspaceId);
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
      check: shapes.segmentInEnvironment,
      // Only an active segment has a list of keys.
      confirm: async () => {
        const environment = { id: at.environment, name: at.environment };
        return (await isActive(name, call)) ? { name, environment } : undefined;
      },
    });
  },
  'upload-keys': async (step, call) => {
    await uploadKeys(step, call);
  },
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
  return (await reader.countKeys(place.environmentId, segment)) !== undefined;
}

/**
 * The contract leaves open whether an upload adds or replaces. So if the plan knows the earlier keys, this checks their
 * number afterwards, and restores lost keys.
 */
async function uploadKeys(
  { segment, keys, before }: WriteOf<'upload-keys'>,
  call: WriteCall,
): Promise<void> {
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
  const count = await reader.countKeys(environmentId, segment);
  if (count !== null) return count ?? 0;
  return (await reader.listKeys(environmentId, segment))?.keys.length ?? 0;
}
