import { isRemoval, type Change, type GuardFinding, type GuardName } from '../../model/plan.js';
import { definitionId } from '../../model/ref.js';
import { guardRemedy } from '../../model/remedy.js';
import { clean } from '../sanitize.js';
import { cut } from '../text/layout.js';
import { refusingFindings, type PlanReport } from '../plan-report.js';
import { firstOf, moreText, shortSha } from '../values.js';
import { briefOf } from './brief.js';
import { remedyText } from './verdict.js';

const REASON_COLUMNS = 200;

export interface GuardTexts {
  /** What goes out of a refused plan: kills pass every guard. */
  readonly sent: 'nothing' | 'nothing but kills';
  readonly refusals: readonly string[];
  readonly remedy: string;
  /** The findings that an approval let pass. */
  readonly passed: readonly string[];
  readonly allowed: readonly string[];
}

export function guardTexts(report: PlanReport): GuardTexts {
  const { guardFindings: findings = [], allowed = [], planOptions = [] } = report;
  const { heldHash: planHash = report.planHash } = report;
  const texts = findings.map((finding) => {
    const spent = finding.spentAllow ? SPENT : '';
    return findingText(finding, report) + evidenceText(finding, report) + spent;
  });
  const isRefused = refusingFindings(report).length > 0;
  const hasKills =
    findings.length > 0 &&
    report.plan.changes.some(({ fields }) => fields.some(({ reason }) => reason === 'kill'));
  return {
    sent: hasKills ? 'nothing but kills' : 'nothing',
    refusals: isRefused ? texts : [],
    passed: isRefused ? [] : texts,
    remedy: clean(remedyText(guardRemedy({ planHash, findings, options: planOptions }))),
    allowed: allowed.map((finding) => {
      const reason = cut(clean(finding.reason), REASON_COLUMNS);
      return `${findingText(finding, report)}, allowed: ${reason}`;
    }),
  };
}

type GuardPhrases = (found: string, limit: string, finding: GuardFinding, at: PlanReport) => string;

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

/** An allowance in the specs is valid only for the change with which it came. */
const SPENT = '; its allow came with an earlier change, and holds for that one only';

function findingText(finding: GuardFinding, report: PlanReport): string {
  const { guard, environment, id, found, limit } = finding;
  const where = id ?? environment;
  const place = where === null ? '' : `${clean(where)}: `;
  return place + GUARD_WORDS[guard](String(found), String(limit), finding, report);
}

const SHOWN_CHANGES = 3;
const EVIDENCE_COLUMNS = 200;
function evidenceText(finding: GuardFinding, report: PlanReport): string {
  const changes = changesOf(finding, report);
  if (changes.length === 0) return '';
  const evidenceOf = (change: Change): string => {
    const { fact, reach } = briefOf(change, report);
    const { commit } = report.revision;
    const parts = [
      change.id === finding.id ? fact : `${change.id} ${fact}`,
      ...(reach === undefined ? [] : [`reaches ${reach}`]),
      ...(commit === null ? [] : [`commit ${shortSha(commit)}`]),
    ];
    return cut(clean(parts.join(', ')), EVIDENCE_COLUMNS);
  };
  return `; ${firstOf(changes, SHOWN_CHANGES, evidenceOf, moreText).join('; ')}`;
}

function changesOf({ guard, id, environment }: GuardFinding, report: PlanReport): Change[] {
  const { changes } = report.plan;
  const own = changes.filter((change) => change.id === id);
  if (own.length > 0) return own;
  if (id !== undefined) {
    return changes.filter((change) => {
      const felt = report.impacts?.get(change.id)?.flags ?? [];
      return felt.some((each) => definitionId(each) === id);
    });
  }
  const here = changes.filter(({ ref }) => environment === null || ref.environment === environment);
  if (guard.startsWith('maxDelete')) return here.filter(isRemoval);
  if (!guard.startsWith('maxKeyRemoval')) return [];
  return here.filter(({ keys, fields }) => {
    return [keys, ...fields.map((field) => field.keys)].some((each) => each?.removed.length);
  });
}
