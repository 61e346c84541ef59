import { FlagkeelError, RejectedError } from '../errors.js';
import {
  flagFieldsFromWire,
  type FlagFields,
  type FlagFieldsChange,
} from '../model/flag/fields.js';
import { sameJson } from '../model/json.js';
import * as shapes from './decode.js';
import type { WireFlag, WirePatchOperation } from './wire.js';
import {
  changedByOthers,
  createNamed,
  isSameObject,
  learning,
  orFlagGone,
  removed,
  StepError,
  written,
  writtenInBody,
  type WriteCall,
  type WriteOf,
  type Writes,
} from './write-call.js';

const ROUTE = 'splits/ws/:workspace/:flag';

export const FLAG_WRITES = {
  'create-flag': createFlag,
  'patch-flag': async ({ flag, operations, fields }, call) => {
    await orFlagGone(flag, call, patchFlag(flag, operations, call, fields));
  },
  'delete-flag': async (step, call) => {
    const { flag } = step;
    await assertIsOurs(step, call);
    const what = `delete flag ${JSON.stringify(flag)}`;
    await learning(flag, call, removed(call, { route: ROUTE, at: flagAt(flag, call), what }));
  },
  'archive-flag': archiveFlag,
} satisfies Partial<Writes>;

function flagAt(flag: string, { place }: WriteCall) {
  return { workspace: place.workspaceId, flag };
}

/** Statuses of refusals that do not show whether the flag exists. */
const NOT_ABOUT_THE_FLAG = new Set([401, 403, 429]);

/**
 * If the plan allows that the flag exists already, a refusal is followed by setting its description, which succeeds only
 * if the flag exists. A flag with another traffic type is still a failure.
 */
async function createFlag(step: WriteOf<'create-flag'>, call: WriteCall): Promise<undefined> {
  const { flag: name, trafficType, description, mayExist } = step;
  const { reader, place } = call;
  const flag = { name, trafficType, description };
  const describe = async (): Promise<WireFlag> =>
    patchFlag(name, [{ op: 'replace', path: '/description', value: description }], call);
  const confirm = async (): Promise<WireFlag | undefined> => {
    const flags = await reader.listFlags(place.workspaceId);
    // A service that cannot show a flag returns it for a patch; this one repeats the value of the creation.
    const found = flags ?? [await unlessAbsent(describe())];
    return found.find((each) => each && isSameObject(each, flag));
  };
  try {
    const created = await createNamed(call, { kind: 'flag', list: 'splits' }, flag, {
      check: shapes.flag,
      confirm,
    });
    reader.learnFlag(place.workspaceId, created);
  } catch (error) {
    if (isArchived(error)) throw new NameArchivedError(name, error);
    if (!mayExist || !(error instanceof RejectedError) || NOT_ABOUT_THE_FLAG.has(error.status))
      throw error;
    const live = await describe();
    if (live.trafficType.name !== trafficType) throw error;
  }
}

/** Goes by the text of the refusal, because the service has no code for it. */
function isArchived(error: unknown): error is RejectedError {
  const isConflict = error instanceof RejectedError && error.status === 409;
  return isConflict && /\barchived\b/i.test(error.serviceMessage);
}

/** Unarchiving is left to a person, because the flag would serve its old treatments at once. */
export class NameArchivedError extends RejectedError {
  constructor(flag: string, cause: RejectedError) {
    const { status, serviceMessage, transactionId, fateUnknown } = cause;
    super(
      `cannot create flag "${flag}": the service keeps an archived flag of that name`,
      { status, serviceMessage, transactionId },
      { cause, fateUnknown },
    );
    this.name = 'NameArchivedError';
  }
}

/**
 * @param fields written by the operations. With them, a patch of unknown fate is looked up, and repeated only if these
 *   fields are still unchanged. A patch without operations changes nothing, and returns the flag.
 */
async function patchFlag(
  flag: string,
  operations: readonly WirePatchOperation[],
  call: WriteCall,
  fields?: FlagFieldsChange,
): Promise<WireFlag> {
  const writing = written(call, {
    // Repeating an empty patch is safe.
    kind: operations.length === 0 ? 'write' : 'patch',
    method: 'PATCH',
    route: ROUTE,
    at: flagAt(flag, call),
    body: operations,
    what: `patch flag ${JSON.stringify(flag)}`,
    check: shapes.flag,
    ...(fields && { confirm: async () => findPatchedFlag(flag, fields, call) }),
  });
  const live = await learning(flag, call, writing);
  call.reader.learnFlag(call.place.workspaceId, live);
  return live;
}

/** `undefined` if its fields are still unchanged. @throws FlagkeelError a foreign write has changed them. */
async function findPatchedFlag(
  flag: string,
  { before, after }: FlagFieldsChange,
  call: WriteCall,
): Promise<WireFlag | undefined> {
  const live = await shownFlag(flag, call);
  // The next try will show that it is gone.
  if (!live || hasFields(live, after)) return live;
  if (hasFields(live, before)) return undefined;
  throw changedByOthers(`flag ${JSON.stringify(flag)}`);
}

function hasFields(live: WireFlag, wanted: FlagFields): boolean {
  const fields: FlagFields = flagFieldsFromWire(live);
  return sameJson({ ...fields, ...wanted }, fields);
}

/** The flag, from an empty patch if the service does not show flags; undefined if the service has no such flag. */
async function shownFlag(flag: string, call: WriteCall): Promise<WireFlag | undefined> {
  const shown = await call.reader.getFlag(call.place.workspaceId, flag);
  return shown === null ? unlessAbsent(patchFlag(flag, [], call)) : shown;
}

async function unlessAbsent(patching: Promise<WireFlag>): Promise<WireFlag | undefined> {
  try {
    return await patching;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Before a removal, if the plan could not see the flag: an empty patch makes the service return it, so that another
 * flag of the same name is not removed.
 */
async function assertIsOurs(
  { flag, unseenId }: WriteOf<'delete-flag' | 'archive-flag'>,
  call: WriteCall,
): Promise<void> {
  if (unseenId === undefined) return;
  const { id } = await patchFlag(flag, [], call);
  if (id !== unseenId) {
    throw new StepError('FLAG_GONE', `another flag has the name "${flag}" by now`);
  }
}

const NO_ARCHIVE: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * The service keeps an archived flag and its definitions. A missing flag is no error.
 *
 * @throws FlagkeelError `NOT_ON_SERVICE`: the service cannot archive, and the flag still exists.
 */
async function archiveFlag(step: WriteOf<'archive-flag'>, call: WriteCall): Promise<undefined> {
  const { flag } = step;
  await assertIsOurs(step, call);
  const what = `archive flag ${JSON.stringify(flag)}`;
  const { status } = await writtenInBody(call, 'archiveFlag', {
    // Repeating is safe, because an archived flag stays archived.
    kind: 'delete',
    method: 'POST',
    route: `${ROUTE}/archive`,
    at: flagAt(flag, call),
    body: {},
    what,
    accepts: (answered) => NO_ARCHIVE.has(answered),
  });
  if (status < 400) return;
  // 404 may mean a missing endpoint, or a flag that is gone.
  if (status === 404 && !(await shownFlag(flag, call))) return;
  const why = `the service answered ${status}, as one that cannot archive (with \`onRemove: delete\` in flagkeel.yaml it is deleted)`;
  throw new FlagkeelError('NOT_ON_SERVICE', `cannot ${what} on ${call.client.origin}: ${why}`);
}
