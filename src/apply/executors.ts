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
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Start of the observation behind the plan, by the clock `now`. */
  readonly observedAtMs: number;
  /** Changes that were sent before the plan was made. */
  readonly killed: ReadonlySet<ObjectId>;
}

/** The definition changed since the plan was made; nothing was written. */
export class ChangedMeanwhileError extends Error {
  constructor(object: string) {
    super(`cannot patch ${object}: it changed on the service after the plan was made`);
    this.name = 'ChangedMeanwhileError';
  }
}

/** The service lacks the flag of a step, which it could only show by refusing the write; nothing was written. */
export class FlagGoneError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FlagGoneError';
  }
}

/** One executor per action: a new action without one does not compile. */
export type Executors = {
  readonly [A in StepAction]: (
    step: StepOf<A>,
    context: ApplyContext,
  ) => Promise<A extends keyof AnsweredSteps ? AnsweredSteps[A] : unknown>;
};

/** Steps whose answers a run needs. */
interface AnsweredSteps {
  readonly 'write-identities': IdentitiesAnswer;
  readonly 'create-definition': WireDefinition;
}

export const executors: Executors = {
  'create-flag': createFlag,
  'patch-flag': async (step, context) => {
    const { writer, at } = context;
    const { flag, operations, fields } = step;
    const note = noteOf(step, context);
    const writing = writer.patchFlag(at.workspace.id, flag, operations, note, fields);
    await orFlagGone(step, context, writing);
  },
  'delete-flag': async (step, context) => {
    await checkIsOurs(step, context);
    await context.writer.deleteFlag(context.at.workspace.id, step.flag, noteOf(step, context));
  },
  'archive-flag': async (step, context) => {
    await checkIsOurs(step, context);
    await context.writer.archiveFlag(context.at.workspace.id, step.flag, noteOf(step, context));
  },
  'create-definition': async (step, context) => {
    const { writer } = context;
    const place = placeOf(step, context);
    const writing = writer.createDefinition(place, step.body, noteOf(step, context));
    return orFlagGone(step, context, writing);
  },
  'patch-definition': patchDefinition,
  'kill-flag': async (step, context) => {
    if (context.killed.has(step.change)) return;
    const place = placeOf(step, context);
    await context.writer.patchDefinition(place, KILL, noteOf(step, context));
  },
  'delete-definition': async (step, context) => {
    await context.writer.deleteDefinition(placeOf(step, context), noteOf(step, context));
  },
  'create-segment': async (step, context) => {
    const { segment: name, trafficType, description } = step;
    const { writer, at } = context;
    await writer.createSegment(
      at.workspace.id,
      { name, trafficType, description },
      noteOf(step, context),
    );
  },
  'activate-segment': async (step, context) => {
    const environmentId = environmentIdOf(step, context);
    await context.writer.activateSegment(environmentId, step.segment, noteOf(step, context));
  },
  'upload-keys': uploadKeys,
  'remove-keys': async (step, context) => {
    const environmentId = environmentIdOf(step, context);
    await context.writer.removeKeys(environmentId, step.segment, step.keys, noteOf(step, context));
  },
  // A service without the endpoint deactivates a segment when it is deleted from the workspace.
  'deactivate-segment': async (step, context) => {
    const environmentId = environmentIdOf(step, context);
    await context.writer.deactivateSegment(environmentId, step.segment, noteOf(step, context));
  },
  'delete-segment': async (step, context) => {
    await context.writer.deleteSegment(
      context.at.workspace.id,
      step.segment,
      noteOf(step, context),
    );
  },
  'withdraw-request': async ({ request }, { writer }) => writer.withdrawChangeRequest(request),
  'write-identities': async (step, context) => {
    const { trafficType, trafficTypeId, identities } = step;
    const place = { trafficType, trafficTypeId, environmentId: environmentIdOf(step, context) };
    return context.writer.writeIdentities(place, identities, noteOf(step, context));
  },
};

/** @throws FlagGoneError the service refused the write because there is no such flag. */
async function orFlagGone<T>(
  { flag }: { readonly flag: string },
  { reader, at }: ApplyContext,
  writing: Promise<T>,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const isGone = reader.flagSaid(at.workspace.id, flag) === 'absent';
    if (!isGone || !(error instanceof RejectedError)) throw error;
    throw new FlagGoneError(`the service does not have flag "${flag}"`);
  }
}

/**
 * Before a removal, if the plan could not see the flag: an empty patch makes the service return it, so that another
 * flag of the same name is not removed.
 *
 * @throws FlagGoneError it is another flag.
 */
async function checkIsOurs(
  step: StepOf<'delete-flag' | 'archive-flag'>,
  context: ApplyContext,
): Promise<void> {
  const { writer, at } = context;
  const { flag, unseenId } = step;
  if (unseenId === undefined) return;
  const { id } = await writer.patchFlag(at.workspace.id, flag, [], noteOf(step, context));
  if (id !== unseenId) throw new FlagGoneError(`another flag has the name "${flag}" by now`);
}

/** Statuses of refusals that do not show whether the flag exists. */
const NOT_ABOUT_THE_FLAG = new Set([401, 403, 429]);

/**
 * Creates a flag. If the plan allows that it exists already, a refusal is followed by setting its description, which
 * succeeds only if the flag exists. A flag with another traffic type is still a failure.
 */
async function createFlag(step: StepOf<'create-flag'>, context: ApplyContext): Promise<void> {
  const { flag: name, trafficType, description, mayExist } = step;
  const { writer, at } = context;
  const notes = noteOf(step, context);
  try {
    await writer.createFlag(at.workspace.id, { name, trafficType, description }, notes);
  } catch (error) {
    if (isArchived(error)) throw new NameArchivedError(name, error);
    if (!mayExist || !(error instanceof RejectedError) || NOT_ABOUT_THE_FLAG.has(error.status))
      throw error;
    const operation = { op: 'replace' as const, path: '/description', value: description };
    const live = await writer.patchFlag(at.workspace.id, name, [operation], notes);
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

/** An upload shrank the segment: this service replaces keys instead of appending. The keys were restored. */
export class SegmentShrankError extends Error {
  constructor(segment: string, { before, after }: { before: number; after: number }) {
    super(
      `cannot add keys to segment "${segment}": the upload replaced its ${before} keys by ${after}, which were put back`,
    );
    this.name = 'SegmentShrankError';
  }
}

/**
 * Uploads keys. The contract leaves open whether an upload adds or replaces. So if the plan knows the earlier keys,
 * this checks their number afterwards, and restores lost keys.
 *
 * @throws SegmentShrankError the upload replaced the keys.
 */
async function uploadKeys(step: StepOf<'upload-keys'>, context: ApplyContext): Promise<void> {
  const { reader, writer } = context;
  const { segment, keys, before } = step;
  const environmentId = environmentIdOf(step, context);
  const notes = noteOf(step, context);
  await writer.uploadKeys(environmentId, segment, keys, notes);
  if (!before) return;
  const after = await afterWrite(keysLeft(reader, environmentId, segment));
  if (after >= before.length) return;
  for (const chunk of chunks(before)) {
    // One after the other, because each updates the same segment.
    await writer.uploadKeys(environmentId, segment, chunk, notes);
  }
  throw new SegmentShrankError(segment, { before: before.length, after });
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
 * Patches a definition. The contract has no conditional writes, so that an old reading is repeated before the patch. A
 * foreign change between the two goes unnoticed here.
 *
 * @throws ChangedMeanwhileError the definition changed since the plan was made.
 */
async function patchDefinition(
  step: StepOf<'patch-definition'>,
  context: ApplyContext,
): Promise<void> {
  const { reader, writer, now, observedAtMs } = context;
  const place = placeOf(step, context);
  if (now() - observedAtMs > FRESH_MS) {
    const live = await look(reader, place, { name: step.flag, id: step.expected.id });
    const isSame =
      live.is === 'seen' &&
      sameJson(definitionFromWire(live.definition), definitionFromWire(step.expected));
    if (!isSame) throw new ChangedMeanwhileError(step.change);
  }
  await writer.patchDefinition(place, step.operations, noteOf(step, context), step.expected);
}

/** See `submitOnce` of the service's client. */
export async function ask(
  { change, ...step }: Step,
  draft: RequestDraft,
  context: ApplyContext,
): Promise<ChangeRequest | null> {
  const ref = refOfId(change);
  if (!ref || !('environment' in step)) throw new Error(`bug: ${change} is in no environment`);
  return context.writer.submitChangeRequest({
    ...{ draft, ref, note: noteOf({ change }, context) },
    workspaceId: context.at.workspace.id,
    environmentId: environmentIdOf(step, context),
  });
}

function noteOf({ change }: { change: ObjectId }, { notes }: ApplyContext): ChangeNote {
  const found = notes.get(change);
  if (!found) throw new Error(`bug: ${change} has no title`);
  return found;
}

function placeOf(
  step: { flag: string; environment: string },
  context: ApplyContext,
): DefinitionTarget {
  return {
    workspaceId: context.at.workspace.id,
    environmentId: environmentIdOf(step, context),
    flag: step.flag,
  };
}

/** Plans have names of environments, whereas paths of the contract need ids. */
function environmentIdOf({ environment }: { environment: string }, { at }: ApplyContext): string {
  const found = at.environments.find(({ name }) => name === environment);
  if (!found) throw new Error(`bug: environment "${environment}" is not connected`);
  return found.id;
}
