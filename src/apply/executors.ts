import { look, type DefinitionTarget } from '../admin-api/look.js';
import type { Catalog } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { AdminWriter } from '../admin-api/writer.js';
import { KILL, type WireDefinition } from '../admin-api/wire.js';
import { FlagkeelError, RejectedError } from '../errors.js';
import { definitionFromWire } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import type { ChangeRequest, RequestDraft } from '../model/change-request.js';
import { refOfId, type ObjectId } from '../model/ref.js';
import type { IdentitiesAnswer, ChangeNote } from '../model/outcome.js';
import type { Step, StepAction, StepOf } from '../model/plan.js';
import { chunks } from '../plan/objects/segment.js';

/** Age up to which a reading of a definition is trusted for a write that was computed from it. */
const FRESH_MS = 3_000;

export interface ApplyContext {
  readonly reader: AdminReader;
  readonly writer: AdminWriter;
  readonly at: Catalog;
  readonly notes: ReadonlyMap<ObjectId, ChangeNote>;
  readonly now: () => number;
  /** Start of the observation behind the plan, by the clock `now`. */
  readonly observedAtMs: number;
  /** Changes that were sent before the plan was made. */
  readonly killed: ReadonlySet<ObjectId>;
}

/**
 * - `CHANGED_MEANWHILE`: the definition changed since the plan was made; nothing was written.
 * - `FLAG_GONE`: the service lacks the flag, which it could only show by refusing the write; nothing was written.
 * - `SEGMENT_SHRANK`: the service replaces keys instead of appending. They were put back.
 */
export class StepError extends Error {
  readonly code: 'CHANGED_MEANWHILE' | 'FLAG_GONE' | 'SEGMENT_SHRANK';

  constructor(code: StepError['code'], message: string) {
    super(message);
    this.name = 'StepError';
    this.code = code;
  }
}

interface Call extends ApplyContext {
  readonly workspaceId: string;
  readonly note: ChangeNote;
  /** Plans have names of environments, whereas paths of the contract need ids. */
  readonly environmentId: string;
}

/** Withdrawals have no note, and other steps no environment: each is looked for where it is used. */
export function callOf(
  step: { readonly change: ObjectId; readonly environment?: string },
  context: ApplyContext,
): Call {
  const { at, notes } = context;
  return {
    ...context,
    workspaceId: at.workspace.id,
    get note() {
      const found = notes.get(step.change);
      if (!found) throw new Error(`bug: ${step.change} has no title`);
      return found;
    },
    get environmentId() {
      const found = at.environments.find(({ name }) => name === step.environment);
      if (!found) throw new Error(`bug: environment "${step.environment ?? ''}" is not connected`);
      return found.id;
    },
  };
}

/** One executor per action: a new action without one does not compile. */
export type Executors = {
  readonly [A in StepAction]: (
    step: StepOf<A>,
    call: Call,
  ) => Promise<A extends keyof AnsweredSteps ? AnsweredSteps[A] : unknown>;
};

interface AnsweredSteps {
  readonly 'write-identities': IdentitiesAnswer;
  readonly 'create-definition': WireDefinition;
}

export const executors: Executors = {
  'create-flag': createFlag,
  'patch-flag': async ({ flag, operations, fields }, call) => {
    const { writer, workspaceId, note } = call;
    return orFlagGone(flag, call, writer.patchFlag(workspaceId, flag, operations, note, fields));
  },
  'delete-flag': async (step, call) => {
    await checkIsOurs(step, call);
    await call.writer.deleteFlag(call.workspaceId, step.flag, call.note);
  },
  'archive-flag': async (step, call) => {
    await checkIsOurs(step, call);
    await call.writer.archiveFlag(call.workspaceId, step.flag, call.note);
  },
  'create-definition': async ({ flag, body }, call) =>
    orFlagGone(flag, call, call.writer.createDefinition(placeOf(flag, call), body, call.note)),
  'patch-definition': patchDefinition,
  'kill-flag': async ({ flag, change }, call) => {
    if (call.killed.has(change)) return;
    await call.writer.patchDefinition(placeOf(flag, call), KILL, call.note);
  },
  'delete-definition': async ({ flag }, call) =>
    call.writer.deleteDefinition(placeOf(flag, call), call.note),
  'create-segment': async ({ segment: name, trafficType, description }, call) =>
    call.writer.createSegment(call.workspaceId, { name, trafficType, description }, call.note),
  'activate-segment': async ({ segment }, { writer, environmentId, note }) =>
    writer.activateSegment(environmentId, segment, note),
  'upload-keys': uploadKeys,
  'remove-keys': async ({ segment, keys }, { writer, environmentId, note }) =>
    writer.removeKeys(environmentId, segment, keys, note),
  // A service without the endpoint deactivates a segment when it is deleted from the workspace.
  'deactivate-segment': async ({ segment }, { writer, environmentId, note }) =>
    writer.deactivateSegment(environmentId, segment, note),
  'delete-segment': async ({ segment }, { writer, workspaceId, note }) =>
    writer.deleteSegment(workspaceId, segment, note),
  'withdraw-request': async ({ request }, { writer }) => writer.withdrawChangeRequest(request),
  'write-identities': async (step, { writer, environmentId, note }) => {
    const { trafficType, trafficTypeId, identities } = step;
    return writer.writeIdentities({ trafficType, trafficTypeId, environmentId }, identities, note);
  },
};

async function orFlagGone<T>(
  flag: string,
  { reader, workspaceId }: Call,
  writing: Promise<T>,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const isGone = reader.flagSaid(workspaceId, flag) === 'absent';
    if (!isGone || !(error instanceof RejectedError)) throw error;
    throw new StepError('FLAG_GONE', `the service does not have flag "${flag}"`);
  }
}

/**
 * Before a removal, if the plan could not see the flag: an empty patch makes the service return it, so that another
 * flag of the same name is not removed.
 */
async function checkIsOurs(
  { flag, unseenId }: StepOf<'delete-flag' | 'archive-flag'>,
  call: Call,
): Promise<void> {
  if (unseenId === undefined) return;
  const { id } = await call.writer.patchFlag(call.workspaceId, flag, [], call.note);
  if (id !== unseenId) {
    throw new StepError('FLAG_GONE', `another flag has the name "${flag}" by now`);
  }
}

/** Statuses of refusals that do not show whether the flag exists. */
const NOT_ABOUT_THE_FLAG = new Set([401, 403, 429]);

/**
 * If the plan allows that the flag exists already, a refusal is followed by setting its description, which succeeds only
 * if the flag exists. A flag with another traffic type is still a failure.
 */
async function createFlag(
  { flag: name, trafficType, description, mayExist }: StepOf<'create-flag'>,
  { writer, workspaceId, note }: Call,
): Promise<void> {
  try {
    await writer.createFlag(workspaceId, { name, trafficType, description }, note);
  } catch (error) {
    if (isArchived(error)) throw new NameArchivedError(name, error);
    if (!mayExist || !(error instanceof RejectedError) || NOT_ABOUT_THE_FLAG.has(error.status))
      throw error;
    const operation = { op: 'replace' as const, path: '/description', value: description };
    const live = await writer.patchFlag(workspaceId, name, [operation], note);
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
 * The contract leaves open whether an upload adds or replaces. So if the plan knows the earlier keys, this checks their
 * number afterwards, and restores lost keys.
 */
async function uploadKeys(
  { segment, keys, before }: StepOf<'upload-keys'>,
  { reader, writer, environmentId, note }: Call,
): Promise<void> {
  await writer.uploadKeys(environmentId, segment, keys, note);
  if (!before) return;
  const after = await afterWrite(keysLeft(reader, environmentId, segment));
  if (after >= before.length) return;
  for (const chunk of chunks(before)) {
    // One after the other, because each updates the same segment.
    await writer.uploadKeys(environmentId, segment, chunk, note);
  }
  const lost = `the upload replaced its ${before.length} keys by ${after}, which were put back`;
  throw new StepError('SEGMENT_SHRANK', `cannot add keys to segment "${segment}": ${lost}`);
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

async function keysLeft(
  reader: AdminReader,
  environmentId: string,
  segment: string,
): Promise<number> {
  const count = await reader.countKeys(environmentId, segment);
  if (count !== null) return count ?? 0;
  return (await reader.listKeys(environmentId, segment))?.keys.length ?? 0;
}

/**
 * The contract has no conditional writes, so that an old reading is repeated before the patch. A foreign change between
 * the two goes unnoticed here.
 */
async function patchDefinition(
  { flag, change, operations, expected }: StepOf<'patch-definition'>,
  call: Call,
): Promise<void> {
  const { reader, writer, now, observedAtMs } = call;
  const place = placeOf(flag, call);
  if (now() - observedAtMs > FRESH_MS) {
    const live = await look(reader, place, { name: flag, id: expected.id });
    const isSame =
      live.is === 'seen' &&
      sameJson(definitionFromWire(live.definition), definitionFromWire(expected));
    if (!isSame) {
      const why = 'it changed on the service after the plan was made';
      throw new StepError('CHANGED_MEANWHILE', `cannot patch ${change}: ${why}`);
    }
  }
  await writer.patchDefinition(place, operations, call.note, expected);
}

export async function ask(
  step: Step,
  draft: RequestDraft,
  context: ApplyContext,
): Promise<ChangeRequest | null> {
  const ref = refOfId(step.change);
  if (!ref) throw new Error(`bug: ${step.change} is no object`);
  const { writer, note, workspaceId, environmentId } = callOf(step, context);
  return writer.submitChangeRequest({ draft, ref, note, workspaceId, environmentId });
}

function placeOf(flag: string, { workspaceId, environmentId }: Call): DefinitionTarget {
  return { workspaceId, environmentId, flag };
}
