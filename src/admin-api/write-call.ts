import { FlagkeelError, RejectedError } from '../errors.js';
import type { IdentitiesAnswer, ChangeNote } from '../model/outcome.js';
import type { StepAction, StepRequest } from '../model/plan.js';
import type { Kind } from '../model/ref.js';
import type { AdminClient } from './http/admin-client.js';
import type { ServiceAnswer, WriteRequest } from './http/request.js';
import type { AdminReader } from './reader.js';
import { MAX_KEYS_PER_REQUEST, type WireDefinition, type WireSegment } from './wire.js';

/** Where and with which words a step is written. */
export interface StepPlace {
  readonly workspaceId: string;
  /** May be its name on services that accept names. */
  readonly environmentId: string;
  readonly note: ChangeNote;
  /** Whether the reading that the step was computed from is too old to be trusted. */
  readonly isStale?: boolean;
}

/** What a write has besides its step. */
export interface WriteCall {
  readonly place: StepPlace;
  readonly client: Pick<AdminClient, 'origin' | 'write' | 'clean'>;
  /** Looks up the effect of requests of unknown fate. */
  readonly reader: AdminReader;
  readonly bodyNotes: BodyNotes;
  /** Endpoints that the contract does not promise and the service was seen to lack. */
  readonly missing: Set<'deactivate' | 'uploadKeys'>;
}

/** What is read of the service's answers. */
export interface WriteAnswer {
  readonly created?: WireDefinition;
  /** By the answer to its kill; unset if that shows no definition of the place, because the contract leaves it open. */
  readonly killed?: WireDefinition;
  readonly identities?: IdentitiesAnswer;
}

export type WriteOf<A extends StepAction> = Extract<StepRequest, { action: A }>;

/** One per action: a new action without one does not compile. */
export type Writes = {
  readonly [A in StepAction]: (
    step: WriteOf<A>,
    call: WriteCall,
  ) => Promise<WriteAnswer | undefined>;
};

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

/** The body of the answer to a request with a check, which no error status answers. */
export async function written<T>(call: WriteCall, request: WriteRequest<T>): Promise<T> {
  return valueOf(await call.client.write(noted(call, request)));
}

/** The note goes into the query of every write. */
export function noted<R extends { readonly method: string }>(
  { place }: WriteCall,
  request: R & Pick<WriteRequest, 'query'>,
): R {
  return { ...request, query: { ...request.query, ...place.note } };
}

export function valueOf<T>({ json }: ServiceAnswer<T>): T {
  if (json === undefined) throw new Error('bug: an answer without a body passed its check');
  return json;
}

/** @returns the status, which `accepts` may allow to be an error. */
export async function removed(
  call: WriteCall,
  request: Pick<WriteRequest, 'route' | 'at' | 'what' | 'accepts'>,
): Promise<number> {
  const { client } = call;
  const deletion = { ...request, kind: 'delete', method: 'DELETE', check: isTrue } as const;
  return (await client.write(noted(call, deletion))).status;
}

function isTrue(json: unknown): void {
  if (json === true || json === undefined) return;
  throw new Error(`expected true, got ${JSON.stringify(json).slice(0, 80)}`);
}

export function assertFits({ length }: readonly unknown[]): void {
  if (length > MAX_KEYS_PER_REQUEST) throw new Error(`bug: ${length} keys in one request`);
}

/** A flag or a segment to create. */
export interface NewObject {
  readonly name: string;
  /** Name. */
  readonly trafficType: string;
  readonly description: string;
}

export async function createNamed<T>(
  call: WriteCall,
  { kind, list }: { readonly kind: Kind; readonly list: string },
  { name, trafficType, description }: NewObject,
  answer: Required<Pick<WriteRequest<T>, 'check' | 'confirm'>>,
): Promise<T> {
  return written(call, {
    kind: 'create',
    method: 'POST',
    route: `${list}/ws/:workspace/trafficTypes/:trafficType`,
    at: { workspace: call.place.workspaceId, trafficType },
    body: { name, description },
    what: `create ${kind} ${JSON.stringify(name)}`,
    ...answer,
  });
}

export function isSameObject(
  found: Pick<WireSegment, 'name' | 'description' | 'trafficType'>,
  wanted: NewObject,
): boolean {
  return (
    found.name === wanted.name &&
    (found.description ?? '') === wanted.description &&
    [found.trafficType.name, found.trafficType.id].includes(wanted.trafficType)
  );
}

/** Remembers the absence of a flag if the service denies it to a write that needs it. */
export async function learning<T>(
  flag: string,
  { reader, place }: WriteCall,
  writing: Promise<T>,
): Promise<T> {
  return writing.catch((error: unknown) => {
    // A 404 of a proxy has no message of the service, and proves nothing.
    const isSaid = error instanceof RejectedError && error.serviceMessage !== '';
    if (isSaid && error.status === 404) reader.learnAbsence(place.workspaceId, flag);
    throw error;
  });
}

export async function orFlagGone<T>(
  flag: string,
  { reader, place }: WriteCall,
  writing: Promise<T>,
): Promise<T> {
  return writing.catch((error: unknown) => {
    const isGone = reader.flagSaid(place.workspaceId, flag) === 'absent';
    if (!isGone || !(error instanceof RejectedError)) throw error;
    throw new StepError('FLAG_GONE', `the service does not have flag "${flag}"`);
  });
}

export function changedByOthers(object: string): FlagkeelError {
  const message = `${object} is neither what it was nor what it should be`;
  return new FlagkeelError('UNREADABLE', message);
}

/** Writes whose body is an object. */
export type NotedWrite = 'createDefinition' | 'archiveFlag' | 'uploadKeys' | 'removeKeys';

/** The body is without title and comment. */
type NotedRequest<T> = WriteRequest<T> & { readonly body: object };

type BodyForm = (note: ChangeNote) => Partial<ChangeNote>;

/** What is known of the notes that the service takes in bodies. */
export interface BodyNotes {
  readonly accepted: Map<NotedWrite, BodyForm>;
  /** The write that finds out the form of its kind. The others wait, or each would meet the same refusals. */
  readonly finding: Map<NotedWrite, Promise<unknown>>;
}

const BODY_FORMS: readonly BodyForm[] = [
  (note) => note,
  // The form of `removeKeys` in the contract.
  ({ comment }) => ({ comment }),
  () => ({}),
];

/** Statuses for a body with an unknown member, or without a required one. */
const BODY_REFUSED = new Set([400, 422]);

/**
 * Sends title and comment in the body too, as far as the service accepts them there; the query has them in any case.
 *
 * A refusal does not reliably name the offending member. So the body is repeated with less of the note until the
 * service accepts it, and later writes of this kind use that form.
 */
export async function writtenInBody<T>(
  call: WriteCall,
  kind: NotedWrite,
  request: NotedRequest<T>,
): Promise<ServiceAnswer<T>> {
  const { accepted, finding } = call.bodyNotes;
  while (!accepted.has(kind) && finding.has(kind)) await finding.get(kind);
  const form = accepted.get(kind);
  if (form) return writtenAs([form], call, kind, request);
  const writing = writtenAs(BODY_FORMS, call, kind, request);
  finding.set(
    kind,
    writing.catch(() => undefined),
  );
  try {
    return await writing;
  } finally {
    finding.delete(kind);
  }
}

/** @param forms to try, in this order. */
async function writtenAs<T>(
  [form, ...others]: readonly BodyForm[],
  call: WriteCall,
  kind: NotedWrite,
  request: NotedRequest<T>,
): Promise<ServiceAnswer<T>> {
  if (form === undefined) throw new Error('bug: a body without a form');
  try {
    const body = { ...request.body, ...form(call.place.note) };
    const answer = await call.client.write(noted(call, { ...request, body }));
    if (answer.status < 400) call.bodyNotes.accepted.set(kind, form);
    return answer;
  } catch (error) {
    const isRefused = error instanceof RejectedError && BODY_REFUSED.has(error.status);
    if (!isRefused || others.length === 0) throw error;
    return writtenAs(others, call, kind, request);
  }
}
