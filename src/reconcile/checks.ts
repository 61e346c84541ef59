import { originRefusal } from '../admin-api/origin.js';
import { ownMember } from '../model/collections.js';
import type { RampCheck } from '../model/desired.js';
import { partsOf } from '../model/json.js';
import { HttpClient, NoAnswerError, type Answer } from '../platform/http-client.js';

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
