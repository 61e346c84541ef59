import { FlagkeelError, messageOf } from '../../errors.js';
import { isDeeperThan } from '../../model/json.js';
import { quoted } from '../sanitize.js';
import type { PlanDocument } from './plan.js';

const FORMAT_VERSION = 1;
const HASH = /^sha256:[0-9a-f]{64}$/;
/** The most levels in an untrusted file, whose values could be nested without limit. */
const MAX_DEPTH = 64;

/**
 * The plans in the JSON of an earlier dry run: one document, or an array of them.
 *
 * @param text untrusted; the caller has limited its size.
 * @throws FlagkeelError `USAGE` if the text is not such a file.
 */
export async function parseReviewedPlans(
  text: string,
  file: string,
): Promise<readonly PlanDocument[]> {
  const { plan } = await import('../../generated/plan-validator.js');
  const isPlan = plan as PlanValidator;
  return [parsed(text, file)].flat().map((document) => {
    if (!isPlan(document)) throw noPlan(file, faultOf(document, isPlan.errors?.[0]));
    return document;
  });
}

interface PlanValidator {
  (value: unknown): value is PlanDocument;
  readonly errors?: readonly Fault[] | null;
}

interface Fault {
  readonly instancePath: string;
  readonly params: { readonly missingProperty?: string };
}

function faultOf(document: unknown, fault: Fault | undefined): string {
  const { formatVersion } = { ...(document as { readonly formatVersion?: unknown } | null) };
  if (typeof formatVersion === 'number' && formatVersion > FORMAT_VERSION) {
    return `it has format ${formatVersion}, which a newer flagkeel wrote; this version reads ${FORMAT_VERSION}`;
  }
  const pointer = `${fault?.instancePath ?? ''}/${fault?.params.missingProperty ?? ''}`;
  const member = pointer.replace(/^\/|\/$/g, '');
  return member === '' ? 'it is no plan document' : `${JSON.stringify(member)} is absent or wrong`;
}

/** @throws FlagkeelError `USAGE` if the text is no hash of a plan. */
export function reviewedHash(hash: string): string {
  if (HASH.test(hash)) return hash;
  throw new FlagkeelError(
    'USAGE',
    `cannot compare with plan hash ${quoted(hash)}: it is not "sha256:" and 64 hex digits`,
  );
}

function parsed(text: string, file: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeperThan(value, MAX_DEPTH)) throw new Error('it is nested too deeply');
    return value;
  } catch (error) {
    throw noPlan(file, messageOf(error), error);
  }
}

function noPlan(file: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    `cannot read ${quoted(file)} as a plan: ${why} (make one with reconcile --dry-run --format json)`,
    { cause },
  );
}
