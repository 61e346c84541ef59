import {
  answeredBy,
  isSameMark,
  requestText,
  type ChangeRequest,
  type RequestDraft,
  type RequestMark,
} from '../model/change-request.js';
import type { WireBucket, WireDefinition, WirePatchOperation } from '../admin-api/wire.js';
import { objectsOf } from '../model/desired.js';
import { definitionFromWire, patched } from '../model/flag/wire.js';
import { byCodeUnits, canonicalJson, sha256 } from '../model/json.js';
import type { Change, StepRequest, Withdrawal, Withheld } from '../model/plan.js';
import { keyOf, keyOfId, refOfId, type ObjectId } from '../model/ref.js';
import { keyDifference, keyList } from '../model/segment-keys.js';
import type { State } from '../model/state.js';
import type { PlanInput } from './input.js';
import { baseIn } from './place.js';
import { strongest, type ObjectPlan, type PlannedChange } from './planned-change.js';
import {
  isCovered,
  environmentNamed,
  isPlanned,
  isSelectedHere,
  type PlanPolicy,
  type WithheldReason,
} from './policy.js';

/** The environments where requests of ours may be open: the config wants them there, or a run remembers one. */
export function requestsWanted(
  state: State,
  { environments }: Pick<PlanPolicy, 'environments'>,
): ReadonlySet<string> {
  const entries = [...state.values()];
  const wanted = environments.filter(
    ({ selected, id, submitsRequests }) =>
      selected &&
      (submitsRequests === true || entries.some((each) => baseIn(each, { id })?.request)),
  );
  return new Set(wanted.map(({ name }) => name));
}

export function requestHold(
  { openChangeRequestId: id }: { readonly openChangeRequestId?: string | null },
  known: readonly ChangeRequest[] | undefined,
): WithheldReason | undefined {
  const open = known?.find((each) => each.id === id);
  if (id === undefined || id === null || open?.mark) return undefined;
  return heldFor(`change request ${id} is open on the service`, open);
}

function heldFor(because: string, request: ChangeRequest | undefined): WithheldReason {
  return { why: 'approval-needed', because, ...(request && { request }) };
}

/** A change with a draft for each write that the service may refuse, where the config wants change requests. */
export function withDrafts(planned: PlannedChange, input: PlanInput): PlannedChange {
  const { change, requests } = planned;
  if (!isAsked(change.id, input)) return planned;
  return {
    ...planned,
    requests: requests.flatMap(restoreApart).map((request) => {
      const ask = draftOf(change, request, input);
      return ask ? { ...request, ask } : request;
    }),
  };
}

const KILLED = '/killed';

/** Restores have change requests of their own, and a service may let them go without one. */
function restoreApart(request: StepRequest): StepRequest[] {
  if (request.action !== 'patch-definition') return [request];
  const { operations, expected } = request;
  const restore = operations.filter(({ path }) => path === KILLED);
  const others = operations.filter(({ path }) => path !== KILLED);
  if (restore.length === 0 || others.length === 0) return [request];
  const [first, last] = narrows(others, expected) ? [others, restore] : [restore, others];
  return [
    { ...request, operations: first },
    { ...request, operations: last, expected: patched(expected, first) },
  ];
}

/** Whether the live flag may serve a treatment to more keys than git wants. Only shares can tell that it does not. */
function narrows(operations: readonly WirePatchOperation[], live: WireDefinition): boolean {
  const { defaultRule } = patched(live, operations);
  const isLess = ({ treatment, size }: WireBucket): boolean =>
    defaultRule.every((each) => each.treatment !== treatment || each.size < size);
  const served = live.defaultRule.filter(({ treatment }) => treatment !== live.defaultTreatment);
  return operations.some(({ path }) => path !== '/defaultRule') || served.some(isLess);
}

/** Undefined for a write that every service takes without a change request. */
function draftOf(
  change: Omit<Change, 'dependsOn'>,
  request: StepRequest,
  { actual }: PlanInput,
): RequestDraft | undefined {
  const { id, location } = change;
  const draft = (
    operation: RequestDraft['operation'],
    content: Pick<RequestDraft, 'body' | 'keys' | 'keysAfter'> = {},
    hashed: unknown = null,
  ): RequestDraft => {
    const wanted = isKill({ operation }) ? hashOf([id, operation]) : wantedHash(change);
    const file = location && `${location.file}:${String(location.line)}`;
    return { operation, ...content, file, mark: { wanted, content: hashOf(hashed) } };
  };
  const keysIn = ({ segment, environment }: { segment: string; environment: string }) =>
    actual.segments.get(segment)?.environments.get(environment)?.keys?.keys ?? [];
  switch (request.action) {
    case 'create-definition':
      return draft('CREATE', { body: request.body }, request.body);
    case 'patch-definition': {
      const after = patched(request.expected, request.operations);
      if (request.operations.every(({ path }) => path === KILLED)) {
        return draft(after.killed ? 'KILL' : 'RESTORE');
      }
      // In the canonical form, because services may answer sets in any order.
      const { killed: _, ...hashed } = definitionFromWire(after);
      return draft('UPDATE', { body: after }, hashed);
    }
    case 'kill-flag':
      return draft('KILL');
    case 'delete-definition':
      return draft('ARCHIVE');
    case 'upload-keys': {
      const keys = keyDifference(request.keys, request.before ?? []).added;
      const keysAfter = keyList([...keysIn(request), ...keys]).digest;
      return draft('CREATE', { keys, keysAfter }, ['add', keys]);
    }
    case 'remove-keys': {
      const { keys } = request;
      const keysAfter = keyList(keyDifference(keysIn(request), keys).added).digest;
      return draft('ARCHIVE', { keys, keysAfter }, ['remove', keys]);
    }
    default:
      return undefined;
  }
}

function wantedHash({ id, fields, keys }: Pick<Change, 'id' | 'fields' | 'keys'>): string {
  const values = fields
    .filter(({ path }) => path !== KILLED)
    .map(({ path, after = null, keys: targets }) => [path, after, targets?.sha256 ?? null]);
  return hashOf([id, values, keys ? [keys.added, keys.removed] : null]);
}

function hashOf(value: unknown): string {
  return sha256(canonicalJson(value)).slice(0, 16);
}

/**
 * Adds drafts of change requests, and holds back changes that the service has answered: an open request of ours has the
 * same content, or it was rejected and git still wants it. Kills are tried all the same, and so are restores that bring
 * nothing back that git does not want.
 */
export function withRequests(objects: readonly ObjectPlan[], input: PlanInput): ObjectPlan[] {
  if (!input.policy.environments.some(({ submitsRequests }) => submitsRequests))
    return [...objects];
  return objects.map((each) => {
    if (!each.change) return each;
    const change = withDrafts(each.change, input);
    const draft = change.requests.find(({ ask }) => ask && !isKill(ask))?.ask;
    const answer = draft && answerTo(change.change, draft, input);
    if (!answer) return { ...each, change };
    const rest = killOnly(change);
    const fields = change.change.fields.filter(({ path }) => !rest || path !== KILLED);
    const hold = heldFor(requestText(answer), answer);
    const held: Withheld = { ...change.change, fields, dependsOn: [], ...hold };
    return { id: each.id, withheld: [...each.withheld, held], ...(rest && { change: rest }) };
  });
}

function isKill({ operation }: Pick<RequestDraft, 'operation'>): boolean {
  return operation === 'KILL' || operation === 'RESTORE';
}

/** Undefined for a restore that has to wait for the rest. */
function killOnly(planned: PlannedChange): PlannedChange | undefined {
  const [first] = planned.requests;
  if (!first?.ask || !isKill(first.ask)) return undefined;
  const fields = planned.change.fields.filter(({ path }) => path === KILLED);
  const reason = strongest(fields.map((field) => field.reason));
  return { ...planned, change: { ...planned.change, fields, reason }, requests: [first] };
}

function answerTo(
  { id, ref }: Pick<Change, 'id' | 'ref'>,
  draft: RequestDraft,
  { actual, state, policy }: PlanInput,
): ChangeRequest | undefined {
  const answer = answeredBy(actual.requests?.get(id) ?? [], draft);
  const place = environmentNamed(policy, ref.environment);
  const known = place && baseIn(state.get(keyOfId(id)), place)?.request;
  return answer ?? (known?.is === 'rejected' ? answeredBy([known], draft) : undefined);
}

/**
 * The open requests of ours that bring nothing of what git wants: it wants something else, or the same with another
 * content, or no request at all. Of two with the same content the older one stays.
 */
export function withdrawalsIn(
  planned: readonly PlannedChange[],
  withheld: readonly Withheld[],
  input: PlanInput,
): Withdrawal[] {
  const { actual, policy } = input;
  if (policy.suspended !== null || !actual.requests) return [];
  const drafts = planned.flatMap((each) => each.requests.flatMap(({ ask }) => ask ?? []));
  const held = new Set(withheld.map((each) => each.request?.mark ?? wantedHash(each)));
  const isKept = (mark: RequestMark): boolean =>
    held.has(mark) || held.has(mark.wanted) || drafts.some((each) => isSameMark(mark, each.mark));
  return [...actual.requests]
    .filter(([id]) => isOurs(id, input))
    .sort(([a], [b]) => byCodeUnits(a, b))
    .flatMap(([id, requests]) => {
      const seen = new Set<string>();
      return requests
        .filter(({ is, mark }) => {
          if (is !== 'open' || !mark) return false;
          const key = canonicalJson(mark);
          const isNeeded = isAsked(id, input) && isKept(mark) && !seen.has(key);
          seen.add(key);
          return !isNeeded;
        })
        .map((request) => ({ id, request }));
    });
}

/** Whether this repository has the object, and the run covers it; requests of other repositories are theirs. */
function isOurs(id: ObjectId, { desired, state, policy }: PlanInput): boolean {
  const ref = refOfId(id);
  if (!ref || !isSelectedHere(policy, id) || !isCovered(policy, id)) return false;
  const { kind, name } = ref;
  const isKnown = objectsOf(desired, kind).has(name) || state.has(keyOf(kind, name));
  return isPlanned(policy, kind, name) && isKnown;
}

function isAsked(id: ObjectId, { policy }: PlanInput): boolean {
  return environmentNamed(policy, refOfId(id)?.environment)?.submitsRequests === true;
}
