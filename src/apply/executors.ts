import type { Catalog } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { AdminWriter, DefinitionTarget } from '../admin-api/writer.js';
import { KILL } from '../admin-api/wire.js';
import { FlagkeelError, RejectedError } from '../errors.js';
import { definitionFromWire } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import type { ObjectId } from '../model/ref.js';
import type { IdentitiesAnswer, ChangeNote } from '../model/outcome.js';
import type { StepAction, StepOf } from '../model/step.js';
import { chunks } from '../plan/objects/segment.js';

/**
 * A reading of a definition is trusted for this long before a write that was computed against it.
 */
const FRESH_MS = 3_000;

/** What the steps of one run share. */
export interface ApplyContext {
  readonly reader: AdminReader;
  readonly writer: AdminWriter;
  readonly at: Catalog;
  readonly notes: ReadonlyMap<ObjectId, ChangeNote>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** When the observation began that the plan was made from, by the clock `now`. */
  readonly observedAtMs: number;
  /**
   * Changes whose kill was sent before the plan was made. Kills of other changes are sent in their
   * turn.
   */
  readonly killed: ReadonlySet<ObjectId>;
}

/** The definition is not what the plan was made from; nothing was written. */
export class ChangedMeanwhileError extends Error {
  constructor(object: string) {
    super(`cannot patch ${object}: it changed on the service after the plan was made`);
    this.name = 'ChangedMeanwhileError';
  }
}

/** The service does not have the flag that a step is about, and had no other way to say so; nothing was written. */
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
  ) => Promise<A extends 'write-identities' ? IdentitiesAnswer : unknown>;
};

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
    await orFlagGone(step, context, writing);
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
  'write-identities': async (step, context) => {
    const { trafficType, trafficTypeId, identities } = step;
    const place = { trafficType, trafficTypeId, environmentId: environmentIdOf(step, context) };
    return context.writer.writeIdentities(place, identities, noteOf(step, context));
  },
};

/** @throws FlagGoneError it was refused because there is no such flag. */
async function orFlagGone(
  { flag }: { readonly flag: string },
  { reader, at }: ApplyContext,
  writing: Promise<unknown>,
): Promise<void> {
  try {
    await writing;
  } catch (error) {
    const isGone = reader.flagSaid(at.workspace.id, flag) === 'absent';
    if (!isGone || !(error instanceof RejectedError)) throw error;
    throw new FlagGoneError(`the service does not have flag "${flag}"`);
  }
}

/**
 * Where the plan could not see which flag it is that is to go, the service is asked first by a patch of nothing, which
 * it answers with the flag: another one of that name stays.
 *
 * @throws FlagGoneError it is another one.
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

/** Statuses of a refusal that say nothing about whether the flag is there. */
const NOT_ABOUT_THE_FLAG = new Set([401, 403, 429]);

/**
 * Creates a flag. Where the plan allows that it exists already, a refusal is followed by setting
 * its description, which succeeds only if the flag is there; a flag with another traffic type is
 * still a failure.
 */
async function createFlag(step: StepOf<'create-flag'>, context: ApplyContext): Promise<void> {
  const { flag: name, trafficType, description, mayExist } = step;
  const { writer, at } = context;
  const notes = noteOf(step, context);
  try {
    await writer.createFlag(at.workspace.id, { name, trafficType, description }, notes);
  } catch (error) {
    if (isArchived(error)) throw archivedError(name, error);
    if (!mayExist || !(error instanceof RejectedError) || NOT_ABOUT_THE_FLAG.has(error.status))
      throw error;
    const operation = { op: 'replace' as const, path: '/description', value: description };
    const live = await writer.patchFlag(at.workspace.id, name, [operation], notes);
    if (live.trafficType.name !== trafficType) throw error;
  }
}

/** The service has no code of its own for this refusal; its words are all there is. */
function isArchived(error: unknown): error is RejectedError {
  const isConflict = error instanceof RejectedError && error.status === 409;
  return isConflict && /\barchived\b/i.test(error.serviceMessage);
}

/** An archived flag that came back would serve at once what it served then: that is left to a person. */
function archivedError(flag: string, cause: RejectedError): RejectedError {
  const { status, serviceMessage, transactionId } = cause;
  const wayOut = `unarchive it on the service and run with --adopt, or give the new flag another name`;
  const message = `cannot create flag "${flag}": the service keeps an archived flag of that name (${wayOut})`;
  const answer = { status, serviceMessage, transactionId };
  return new RejectedError(message, answer, { cause, fateUnknown: cause.fateUnknown });
}

/** An upload made the segment smaller: this service replaces where it should append. The keys were put back. */
export class SegmentShrankError extends Error {
  constructor(segment: string, { before, after }: { before: number; after: number }) {
    super(
      `cannot add keys to segment "${segment}": the upload replaced its ${before} keys by ${after}, which were put back`,
    );
    this.name = 'SegmentShrankError';
  }
}

/**
 * Uploads keys. The contract does not say for certain whether an upload adds or replaces: where the
 * plan knows the keys before, their number is checked afterwards, and keys that were lost are put
 * back.
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
    // One after the other: each is an update of the same segment.
    await writer.uploadKeys(environmentId, segment, chunk, notes);
  }
  throw new SegmentShrankError(segment, { before: before.length, after });
}

/** A look that comes after a write: where it ends early, the step was not left out. */
async function afterWrite<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    throw new FlagkeelError(error.code, error.message, { cause: error, fateUnknown: true });
  }
}

/** The number of keys on the service, by a count that proves it or by the whole list. */
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
 * Patches a definition. The contract has no conditional writes, so a reading that is not fresh is
 * made again before the patch. A change that somebody makes between the two goes unseen here.
 *
 * @throws ChangedMeanwhileError the definition is not what the plan was made from.
 */
async function patchDefinition(
  step: StepOf<'patch-definition'>,
  context: ApplyContext,
): Promise<void> {
  const { reader, writer, now, observedAtMs } = context;
  const place = placeOf(step, context);
  if (now() - observedAtMs > FRESH_MS) {
    const flag = { name: step.flag, id: step.expected.id };
    const live = await reader.getDefinition(place.workspaceId, place.environmentId, flag);
    const isSame = live && sameJson(definitionFromWire(live), definitionFromWire(step.expected));
    if (!isSame) throw new ChangedMeanwhileError(step.change);
  }
  await writer.patchDefinition(place, step.operations, noteOf(step, context), step.expected);
}

/** Title and comment of the change that a step belongs to. */
function noteOf({ change }: { change: ObjectId }, { notes }: ApplyContext): ChangeNote {
  const found = notes.get(change);
  if (!found) throw new Error(`bug: ${change} has no title`);
  return found;
}

/** Where the definition of a step is, in the ids of the service. */
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

/** The contract's paths name environments by id, and plans name them by name. */
function environmentIdOf({ environment }: { environment: string }, { at }: ApplyContext): string {
  const found = at.environments.find(({ name }) => name === environment);
  if (!found) throw new Error(`bug: environment "${environment}" is not connected`);
  return found.id;
}
