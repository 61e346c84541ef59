import type { Connection } from '../api/connect.js';
import type { AdminReader } from '../api/reader.js';
import type { AdminWriter, DefinitionPlace } from '../api/writer.js';
import { KILL } from '../api/wire.js';
import { RejectedError } from '../errors.js';
import { definitionFromWire } from '../kinds/flag-wire.js';
import { sameJson } from '../kinds/json.js';
import type { ObjectId } from '../model/object-id.js';
import type { IdentitiesAnswer, Words } from '../model/run.js';
import type { StepAction, StepOf } from '../model/step.js';
import { chunks } from '../plan/segments.js';

/** A reading of a definition is trusted for so long before a write that was computed against it. */
const FRESH_MS = 3_000;

export interface ApplyContext {
  readonly reader: AdminReader;
  readonly writer: AdminWriter;
  readonly at: Connection;
  readonly words: ReadonlyMap<ObjectId, Words>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** When what the plan was made from began to be read, by `now`. */
  readonly observedAtMs: number;
  /** Changes whose kill went out before the plan was made; the others are sent in their turn. */
  readonly killed: ReadonlySet<ObjectId>;
}

/** The definition is not what the plan was made from; nothing was written. */
export class ChangedMeanwhileError extends Error {
  constructor(object: string) {
    super(`cannot patch ${object}: it changed on the service after the plan was made`);
    this.name = 'ChangedMeanwhileError';
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
    await writer.patchFlag(at.workspace.id, step.flag, step.operations, wordsOf(step, context));
  },
  'delete-flag': async (step, context) => {
    await context.writer.deleteFlag(context.at.workspace.id, step.flag, wordsOf(step, context));
  },
  'create-definition': async (step, context) => {
    await context.writer.createDefinition(
      placeOf(step, context),
      step.body,
      wordsOf(step, context),
    );
  },
  'patch-definition': patchDefinition,
  'kill-flag': async (step, context) => {
    if (context.killed.has(step.change)) return;
    const place = placeOf(step, context);
    await context.writer.patchDefinition(place, KILL, wordsOf(step, context));
  },
  'delete-definition': async (step, context) => {
    await context.writer.deleteDefinition(placeOf(step, context), wordsOf(step, context));
  },
  'create-segment': async (step, context) => {
    const { segment: name, trafficType, description } = step;
    const { writer, at } = context;
    await writer.createSegment(
      at.workspace.id,
      { name, trafficType, description },
      wordsOf(step, context),
    );
  },
  'activate-segment': async (step, context) => {
    const environmentId = environmentIdOf(step, context);
    await context.writer.activateSegment(environmentId, step.segment, wordsOf(step, context));
  },
  'upload-keys': uploadKeys,
  'remove-keys': async (step, context) => {
    const environmentId = environmentIdOf(step, context);
    await context.writer.removeKeys(environmentId, step.segment, step.keys, wordsOf(step, context));
  },
  // A service without the endpoint deactivates a segment when it is deleted from the workspace.
  'deactivate-segment': async (step, context) => {
    const environmentId = environmentIdOf(step, context);
    await context.writer.deactivateSegment(environmentId, step.segment, wordsOf(step, context));
  },
  'delete-segment': async (step, context) => {
    await context.writer.deleteSegment(
      context.at.workspace.id,
      step.segment,
      wordsOf(step, context),
    );
  },
  'write-identities': async (step, context) => {
    const { trafficType, trafficTypeId, identities } = step;
    const place = { trafficType, trafficTypeId, environmentId: environmentIdOf(step, context) };
    return context.writer.writeIdentities(place, identities, wordsOf(step, context));
  },
};

/** Statuses of a refusal that say nothing about whether the flag is there. */
const NOT_ABOUT_THE_FLAG = new Set([401, 403, 429]);

async function createFlag(step: StepOf<'create-flag'>, context: ApplyContext): Promise<void> {
  const { flag: name, trafficType, description, mayExist } = step;
  const { writer, at } = context;
  const words = wordsOf(step, context);
  try {
    await writer.createFlag(at.workspace.id, { name, trafficType, description }, words);
  } catch (error) {
    if (!mayExist || !(error instanceof RejectedError) || NOT_ABOUT_THE_FLAG.has(error.status))
      throw error;
    const operation = { op: 'replace' as const, path: '/description', value: description };
    const live = await writer.patchFlag(at.workspace.id, name, [operation], words);
    if (live.trafficType.name !== trafficType) throw error;
  }
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

async function uploadKeys(step: StepOf<'upload-keys'>, context: ApplyContext): Promise<void> {
  const { reader, writer } = context;
  const { segment, keys, before } = step;
  const environmentId = environmentIdOf(step, context);
  const words = wordsOf(step, context);
  await writer.uploadKeys(environmentId, segment, keys, words);
  if (!before) return;
  const after = (await reader.countKeys(environmentId, segment)) ?? 0;
  if (after >= before.length) return;
  for (const chunk of chunks(before)) {
    // One after the other: each is an update of the same segment.
    await writer.uploadKeys(environmentId, segment, chunk, words);
  }
  throw new SegmentShrankError(segment, { before: before.length, after });
}

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
  await writer.patchDefinition(place, step.operations, wordsOf(step, context), step.expected);
}

function wordsOf({ change }: { change: ObjectId }, { words }: ApplyContext): Words {
  const found = words.get(change);
  if (!found) throw new Error(`bug: ${change} has no title`);
  return found;
}

function placeOf(
  step: { flag: string; environment: string },
  context: ApplyContext,
): DefinitionPlace {
  return {
    workspaceId: context.at.workspace.id,
    environmentId: environmentIdOf(step, context),
    flag: step.flag,
  };
}

function environmentIdOf({ environment }: { environment: string }, { at }: ApplyContext): string {
  const found = at.environments.find(({ name }) => name === environment);
  if (!found) throw new Error(`bug: environment "${environment}" is not connected`);
  return found.id;
}
