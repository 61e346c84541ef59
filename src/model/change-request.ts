import type { WireContent } from '../admin-api/wire.js';
import type { ChangeRequestFacts } from '../generated/plan.schema.d.js';
import type { Frozen } from './json.js';
import type { KeyDigest } from './segment-keys.js';

/** Of a segment, `CREATE` adds keys and `ARCHIVE` removes keys. */
export type RequestOperation = 'CREATE' | 'UPDATE' | 'KILL' | 'RESTORE' | 'ARCHIVE';

/** A change request on the service. One that was published or withdrawn is no longer listed. */
export interface ChangeRequest extends Frozen<ChangeRequestFacts> {
  readonly operation: string;
  /** Unset for requests of others. */
  readonly mark?: RequestMark;
}

export interface ListedRequest extends ChangeRequest {
  readonly kind: 'flag' | 'segment';
  readonly name: string;
}

/** Recognises a request of ours on the service, even if no state remembers it. Hashes of 16 hexadecimal digits each. */
export interface RequestMark {
  /** Of the object and the values that git wants: a rejection stands for as long as this does. */
  readonly wanted: string;
  /** Of the whole content, with values that git does not manage: another content needs another request. */
  readonly content: string;
}

/** Why a write waits that the service refuses without an approval, and what a person does about it; clauses. */
export const REQUEST_WANTED = {
  brief: 'the service wants an approval first',
  held: 'held for an approval on the service',
  byPlan:
    'the service wants an approval for changes here first (make this one there, in a change request, and have it approved: the next run finds it equal; with `approvals: request` in flagkeel.yaml, runs submit one)',
  noRequests:
    'the service wants an approval for changes here first, and has no change requests to ask for one (make this change there: the next run finds it equal)',
  byHand:
    'changes in this environment need an approval, and this one has none (make it on the service, in a change request that somebody approves; the settings of the environment there may let kills pass without)',
} as const;

/** What to submit where the service refuses a write without an approval. */
export interface RequestDraft {
  readonly operation: RequestOperation;
  readonly mark: RequestMark;
  /** File and line of the spec; null if the specs no longer have the object. */
  readonly file: string | null;
  /** Of a definition that is created or updated. */
  readonly body?: WireContent;
  /** Of a segment, to be added or removed. */
  readonly keys?: readonly string[];
  /** Of a segment: its keys once the request is published. */
  readonly keysAfter?: KeyDigest;
}

const MARK = /^flagkeel ([0-9a-f]{16})\.([0-9a-f]{16})$/m;

/** The line in the comment of a request that `markIn` finds. */
export function markLine({ wanted, content }: RequestMark): string {
  return `flagkeel ${wanted}.${content}`;
}

export function markIn(comment: string): RequestMark | undefined {
  const [, wanted, content] = MARK.exec(comment) ?? [];
  return wanted === undefined || content === undefined ? undefined : { wanted, content };
}

export function isSameMark(one: RequestMark | undefined, other: RequestMark): boolean {
  return one?.wanted === other.wanted && one.content === other.content;
}

/** The oldest open request with the same content as a draft, or a rejection of what git still wants. */
export function answeredBy(
  requests: readonly ChangeRequest[],
  { mark }: RequestDraft,
): ChangeRequest | undefined {
  return (
    requests.filter(({ is }) => is === 'open').find((each) => isSameMark(each.mark, mark)) ??
    requests.find((each) => each.is === 'rejected' && each.mark?.wanted === mark.wanted)
  );
}

/** A clause with text of the service, and with the age at `nowMs`; without that, the time of the submission. */
export function requestText(request: ChangeRequest, nowMs?: number): string {
  const { id, is, by, since } = request;
  const author = by === null ? '' : ` by ${by}`;
  if (is === 'rejected') return `change request ${id}${author} was rejected`;
  const time = since === null ? '' : `, ${nowMs === undefined ? since : ageOf(since, nowMs)}`;
  return `waits for approval: change request ${id}${author}${time}`;
}

/** The members that plans show, and no others. */
export function requestFacts(request: Frozen<ChangeRequestFacts>): Frozen<ChangeRequestFacts> {
  const { id, is, by, since, approvers } = request;
  return { id, is, by, since, approvers };
}

export function decidersText({ approvers }: Pick<ChangeRequest, 'approvers'>): string {
  return approvers.length === 0 ? 'another key or person than its author' : approvers.join(' or ');
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** In the largest unit that fits, rounded down: `3 h`. */
function ageOf(since: string, nowMs: number): string {
  const ms = Math.max(0, nowMs - Date.parse(since));
  const [unit, size] = UNITS.find(([, least]) => ms >= least) ?? (['min', 60_000] as const);
  return `${String(Math.floor(ms / size))} ${unit}`;
}
