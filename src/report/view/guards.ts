import { FORCED_GUARDS, type GuardFinding, type GuardName } from '../../model/plan.js';
import { clean } from '../sanitize.js';
import { cut } from '../text/layout.js';
import type { PlanReport } from '../plan-report.js';

/** Columns for the reason of an allowance in the specs. */
const REASON_COLUMNS = 200;

/** The findings of guards about a plan, cleaned. */
export interface GuardTexts {
  /** The findings that refuse the plan, each with its figures. */
  readonly refusals: readonly string[];
  /** The options that let this one plan pass. */
  readonly remedy: string;
  /** The findings that the specs allow, with their reasons. */
  readonly allowed: readonly string[];
}

export function guardTexts(report: PlanReport): GuardTexts {
  const { guardFindings = [], allowed = [], planHash } = report;
  const isForced = guardFindings.some(({ guard }) => FORCED_GUARDS.has(guard));
  const options = `${isForced ? '--force ' : ''}--approve ${planHash}`;
  return {
    refusals: guardFindings.map((finding) => findingText(finding, report) + spentText(finding)),
    remedy: `once reviewed, this plan and no other passes with ${options}`,
    allowed: allowed.map((finding) => {
      const reason = cut(clean(finding.reason), REASON_COLUMNS);
      return `${findingText(finding, report)}, allowed: ${reason}`;
    }),
  };
}

type GuardPhrases = (found: string, limit: string, finding: GuardFinding, at: PlanReport) => string;

/** The words for each guard's finding, and for its limit, by the name in flagkeel.yaml. */
const GUARD_WORDS: Readonly<Record<GuardName, GuardPhrases>> = {
  maxDeletes: (found, limit) => `${found} deletions, the limit is ${limit} (maxDeletes)`,
  maxDeletePercent: (found, limit) =>
    `${found} % of our objects would be deleted, the limit is ${limit} % (maxDeletePercent)`,
  maxKeyRemovals: (found, limit) =>
    `${found} keys would be removed, the limit is ${limit} (maxKeyRemovals)`,
  maxKeyRemovalPercent: (found, limit) =>
    `${found} % of the keys would be removed, the limit is ${limit} % (maxKeyRemovalPercent)`,
  fullFlip: (found) => `${found} % of the traffic gets another treatment at once`,
  maxShift: (found, limit) =>
    `up to ${found} % of the traffic gets another treatment, the limit is ${limit} % (maxShift)`,
  emptyRepository: (found) =>
    `the specs hold no flag and no segment, the inventory holds ${found} objects`,
  anotherWorkspace: (found, _, { workspace = '' }, { workspace: here }) =>
    `the specs were applied to workspace ${clean(workspace)} so far (${found} objects), and never to ${clean(here.name)} (${clean(here.id)})`,
};

/**
 * Explains why a used allowance does not help: an allowance in the specs is valid only for the change with which it
 * came.
 */
function spentText({ spentAllow }: GuardFinding): string {
  return spentAllow ? '; its allow came with an earlier change, and holds for that one only' : '';
}

/** The object or the environment of a finding, and the finding itself. */
function findingText(finding: GuardFinding, report: PlanReport): string {
  const { guard, environment, id, found, limit } = finding;
  const where = id ?? environment;
  const place = where === null ? '' : `${clean(where)}: `;
  return place + GUARD_WORDS[guard](String(found), String(limit), finding, report);
}
