import { originRefusal } from '../../admin-api/origin.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import { ownMember } from '../../model/collections.js';
import type { RampCheck } from '../../model/desired.js';
import type { CheckStanding, Ladder } from '../../model/flag/ramp.js';
import { partsOf } from '../../model/json.js';
import { keyOfId, refOfId, type ObjectId } from '../../model/ref.js';
import { flagEntry, type State } from '../../model/state.js';
import { HttpClient, NoAnswerError, type Answer } from '../../platform/http-client.js';
import { isKillOrdered } from '../../plan/kills/orders.js';
import type { PlanPolicy } from '../../plan/policy.js';
import { shareIn, type Ladders } from '../../plan/ramps.js';
import type { AskCheck, RunContext } from '../context.js';

/** Longest answer that is read; enough for any number. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Options for the requests of checks. */
export interface AskingCheck {
  /** `FLAGKEEL_ORIGINS`, see `parseOrigins`: a repository must not probe the network of the operator. */
  readonly allowedOrigins: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Runs a check: one request, limited in time and size, without redirects, and only to an origin that the operator
 * allowed.
 *
 * @returns see `AskCheck`; it shows only numbers of the answer.
 */
export async function askCheck(
  check: RampCheck,
  { allowedOrigins, signal }: AskingCheck,
): Promise<string | null> {
  const { url, timeoutMs } = check;
  const refusal = originRefusal(url, allowedOrigins);
  if (refusal !== null) return `it was not asked: ${refusal}`;
  const { pathname, search } = new URL(url);
  const times = {
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
  };
  const client = new HttpClient({
    url,
    connections: 1,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    ...times,
  });
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { accept: 'application/json', 'user-agent': 'flagkeel' };
    const request = { method: 'GET', path: pathname + search, headers, body: null } as const;
    const answer = await client.send({ ...request, signal: AbortSignal.any([signal, late]) });
    return checkFault(check, answer);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return late.aborted ? `no answer within ${timeoutMs / 1_000} s` : `no answer: ${error.message}`;
  } finally {
    await client.close();
  }
}

/** Why an answer fails a check; null if it passes. */
export function checkFault(check: RampCheck, { status, text }: Answer): string | null {
  if (status < 200 || status > 299) return `it answered ${status}`;
  if (check.value === undefined) return null;
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return 'its answer is no JSON';
  }
  if (check.value === 'prometheus') return queryFault(check, answer);
  const { pointer } = check.value;
  const value = valueAt(answer, pointer);
  return value === undefined ? `its answer has no ${pointer}` : valueFault(check, value);
}

/** @param pointer JSON Pointer. */
function valueAt(answer: unknown, pointer: string): unknown {
  let value = answer;
  for (const member of partsOf(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = ownMember(value as Readonly<Record<string, unknown>>, member);
  }
  return value;
}

/** A query must return exactly one number, because none or several cannot be compared with a bound. */
function queryFault(check: RampCheck, answer: unknown): string | null {
  const result = valueAt(answer, '/data/result');
  const isScalar = valueAt(answer, '/data/resultType') === 'scalar';
  if (!Array.isArray(result)) return 'its answer is not that of a Prometheus';
  if (isScalar) return valueFault(check, numberIn(result[1]));
  if (result.length !== 1) return `the query has ${result.length} results, and one is expected`;
  return valueFault(check, numberIn(valueAt(result[0], '/value/1')));
}

function numberIn(sample: unknown): unknown {
  return typeof sample === 'string' && sample.trim() !== '' ? Number(sample) : sample;
}

/** Shows only numbers, because text of an answer can be a secret that authors of specs may not read. */
function valueFault({ equals, atMost, atLeast }: RampCheck, value: unknown): string | null {
  const isNumber = typeof value === 'number' && !Number.isNaN(value);
  if (equals !== undefined && value !== equals) {
    return `${isNumber ? String(value) : 'its value'} is not ${JSON.stringify(equals)}`;
  }
  if (atMost === undefined && atLeast === undefined) return null;
  if (!isNumber) return 'its value is no number';
  if (atMost !== undefined && value > atMost) return `${value} is more than ${atMost}`;
  if (atLeast !== undefined && value < atLeast) return `${value} is less than ${atLeast}`;
  return null;
}

/** Input for running checks. */
interface Known {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: Pick<PlanPolicy, 'environments' | 'only'>;
}

/**
 * The ladders with the results of their checks for the step that is due and not taken yet. Each check runs once, all
 * side by side; a run that writes nothing runs none.
 */
export async function checkedLadders(
  { askCheck: ask, now }: Pick<RunContext, 'askCheck' | 'now'>,
  ladders: Ladders,
  known: Known,
): Promise<Ladders> {
  const due = [...ladders].flatMap(([id, own]) => laddersToAsk(id, own, known));
  const names = new Set(due.flatMap(({ ramp }) => ramp.checks ?? []));
  if (names.size === 0) return ladders;
  const checks = (known.desired.config.checks ?? []).filter(({ name }) => names.has(name));
  const asked = checks.map(async (check) => [check.name, await standingOf(check, ask)] as const);
  const answers = new Map(await Promise.all(asked));
  return withAnswers(ladders, new Set(due), { answers, nowMs: now() });
}

/** The ladders with the answers; a ladder with a failed check is held. */
export function withAnswers(
  ladders: Ladders,
  asking: ReadonlySet<Ladder>,
  {
    answers,
    nowMs,
  }: { readonly answers: ReadonlyMap<string, CheckStanding>; readonly nowMs: number },
): Ladders {
  return new Map(
    [...ladders].map(([id, own]) => [
      id,
      own.map((each) => (asking.has(each) ? checkedBy(each, answers, nowMs) : each)),
    ]),
  );
}

async function standingOf(check: RampCheck, ask: AskCheck | undefined): Promise<CheckStanding> {
  const { name } = check;
  if (ask === undefined) return { name, result: 'not-asked', why: null };
  const why = await ask(check);
  return { name, result: why === null ? 'passed' : 'failed', why };
}

/** The ladders that would take a step now, and so need their checks. */
export function laddersToAsk(
  id: ObjectId,
  own: readonly Ladder[],
  { desired, state, policy }: Known,
): readonly Ladder[] {
  const { name = '', environment = '' } = refOfId(id) ?? {};
  const place = policy.environments.find((each) => each.name === environment);
  const isFiltered = policy.only?.has(keyOfId(id)) === false || place?.selected !== true;
  if (isFiltered || isKillOrdered(desired, name, place.name)) return [];
  const base = flagEntry(state, name)?.environments[place.id]?.spec;
  return own.filter(({ ramp, step, held }) => {
    const due = ramp.steps[step]?.percent;
    if (ramp.checks === undefined || held !== null || due === undefined) return false;
    return (base && shareIn(base, ramp)) !== due;
  });
}

/** Time after which a daemon repeats a failed check. */
const AGAIN_MS = 300_000;

function checkedBy(
  ladder: Ladder,
  answers: ReadonlyMap<string, CheckStanding>,
  nowMs: number,
): Ladder {
  const checks = (ladder.ramp.checks ?? []).flatMap((name) => answers.get(name) ?? []);
  const failed = checks.filter(({ result }) => result === 'failed');
  if (failed.length === 0) return { ...ladder, checks };
  const why = failed.map((each) => `check "${each.name}" failed: ${each.why ?? ''}`).join('; ');
  return { ...ladder, checks, held: why, againMs: nowMs + AGAIN_MS };
}
