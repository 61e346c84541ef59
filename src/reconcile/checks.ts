import { originRefusal } from '../admin-api/origin.js';
import type { RampCheck } from '../model/desired.js';
import { partsOf, valueAt } from '../model/json.js';
import { HttpClient, NoAnswerError, type Answer } from '../platform/http-client.js';

/** Enough for any number. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface AskingCheck {
  /** `FLAGKEEL_ORIGINS`, see `parseOrigins`: a repository must not probe the network of the operator. */
  readonly allowedOrigins: readonly string[];
  readonly signal: AbortSignal;
}

/** One request, without redirects, and only to an origin that the operator allowed. @returns null if it passed. */
export async function askCheck(
  check: RampCheck,
  { allowedOrigins, signal }: AskingCheck,
): Promise<CheckFault | null> {
  const { url, timeoutMs } = check;
  const refusal = originRefusal(url, allowedOrigins);
  if (refusal !== null) return { why: `it was not asked: ${refusal}` };
  const { pathname, search } = new URL(url);
  const client = new HttpClient({
    url,
    connections: 1,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
  });
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { accept: 'application/json', 'user-agent': 'flagkeel' };
    const request = { method: 'GET', path: pathname + search, headers, body: null } as const;
    const answer = await client.send({ ...request, signal: AbortSignal.any([signal, late]) });
    return checkFault(check, answer);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    const why = late.aborted ? ` within ${timeoutMs / 1_000} s` : `: ${error.message}`;
    return { why: `no answer${why}` };
  } finally {
    await client.close();
  }
}

export interface CheckFault {
  /** A clause. */
  readonly why: string;
  /** The answer has the value, and it is wrong; of a check without a value, that its address answered. */
  readonly isMeasured?: true;
}

export function checkFault(check: RampCheck, { status, text }: Answer): CheckFault | null {
  if (status < 200 || status > 299) {
    return { why: `it answered ${status}`, ...(check.value === undefined && MEASURED) };
  }
  if (check.value === undefined) return null;
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return { why: 'its answer is no JSON' };
  }
  if (check.value === 'prometheus') return queryFault(check, answer);
  const { pointer } = check.value;
  const value = valueAt(answer, partsOf(pointer));
  return value === undefined ? { why: `its answer has no ${pointer}` } : valueFault(check, value);
}

const MEASURED = { isMeasured: true } as const;

/** A query must return exactly one number, because none or several cannot be compared with a bound. */
function queryFault(check: RampCheck, answer: unknown): CheckFault | null {
  const result = valueAt(answer, ['data', 'result']);
  const isScalar = valueAt(answer, ['data', 'resultType']) === 'scalar';
  if (!Array.isArray(result)) return { why: 'its answer is not that of a Prometheus' };
  if (isScalar) return valueFault(check, numberIn(result[1]));
  if (result.length !== 1) {
    return { why: `the query has ${result.length} results, and one is expected` };
  }
  return valueFault(check, numberIn(valueAt(result[0], ['value', 1])));
}

function numberIn(sample: unknown): unknown {
  return typeof sample === 'string' && sample.trim() !== '' ? Number(sample) : sample;
}

/** Shows only numbers, because text of an answer can be a secret that authors of specs may not read. */
function valueFault({ equals, atMost, atLeast }: RampCheck, value: unknown): CheckFault | null {
  const isNumber = typeof value === 'number' && !Number.isNaN(value);
  if (equals !== undefined && value !== equals) {
    const shown = isNumber ? String(value) : 'its value';
    return { why: `${shown} is not ${JSON.stringify(equals)}`, ...MEASURED };
  }
  if (atMost === undefined && atLeast === undefined) return null;
  if (!isNumber) return { why: 'its value is no number' };
  if (atMost !== undefined && value > atMost) {
    return { why: `${value} is more than ${atMost}`, ...MEASURED };
  }
  if (atLeast !== undefined && value < atLeast) {
    return { why: `${value} is less than ${atLeast}`, ...MEASURED };
  }
  return null;
}
