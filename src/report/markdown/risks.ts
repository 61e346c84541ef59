import { RISKS } from '../../model/impact.js';
import type { Change, LiveKill } from '../../model/plan.js';
import { clean } from '../sanitize.js';
import { allowedLines, guardLines } from '../text/guards.js';
import { impactOf, riskWord } from '../text/impact.js';
import type { PlanReport } from '../plan-report.js';
import { cut } from '../text/layout.js';
import { suspendedText } from '../text/summary.js';
import { plural } from '../values.js';
import type { Block } from './blocks.js';
import { code, joined, type Markup, trusted } from './markup.js';

/**
 * The objects that are named for each risk. The others are counted, and each is marked in the
 * tables.
 */
const SHOWN_OBJECTS = 8;
const SHOWN_GUARDS = 12;
const NAME_COLUMNS = 80;
const GUARD_COLUMNS = 240;

/**
 * What a reviewer should not overlook: what refuses the plan, deletions, risks of the impact, what
 * could not be known. The list is always shown and never folded, so each risk is one line, however
 * many objects it is about.
 */
export function riskBlocks(report: PlanReport): Block[] {
  const lines = [
    ...guardItems(report),
    ...allowedItems(report),
    ...items(
      'deleted',
      report.plan.changes.filter(({ action }) => action === 'delete'),
    ),
    ...impactItems(report),
    ...items(
      'left killed, though git no longer orders it',
      report.plan.liveKills.filter(isReleased),
    ),
    ...items(
      'killed on the service, not ordered by git',
      report.plan.liveKills.filter((kill) => !isReleased(kill)),
    ),
    ...(report.unknowns ?? []).map(
      ({ message }) => trusted`- ⚠️ ${cut(clean(message), GUARD_COLUMNS)}`,
    ),
    ...(report.suspended
      ? [trusted`- ⚠️ ${cut(clean(suspendedText(report.suspended)), GUARD_COLUMNS)}`]
      : []),
    ...(report.stateless
      ? [trusted`- ⚠️ stateless: drift cannot be told from a change in git, and nothing is pruned`]
      : []),
  ];
  return lines.length === 0
    ? []
    : [{ rank: 'head', what: 'list of risks', markup: () => joined(lines, '\n') }];
}

function isReleased({ wasOrdered }: LiveKill): boolean {
  return wasOrdered === true;
}

/** The number of lines that come from the impact of the changes. */
export function countRisks(report: PlanReport): number {
  return impactItems(report).length;
}

/** Refusals by guards, in the words of the text report. */
function guardItems(report: PlanReport): Markup[] {
  const texts = guardLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  // The last line of the text report is the way out, which is no finding.
  const findings = texts.slice(0, -1);
  const more = findings.length - SHOWN_GUARDS;
  return [
    ...findings
      .slice(0, SHOWN_GUARDS)
      .map((text) => trusted`- ⛔ ${cut(text.replace(/^✗ /, ''), GUARD_COLUMNS)}`),
    ...(more > 0 ? [trusted`- ⛔ … and ${plural(more, 'more refusal')} by guards`] : []),
  ];
}

/** Shifts that a guard would have refused and the specs allow. */
function allowedItems(report: PlanReport): Markup[] {
  const texts = allowedLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  const more = texts.length - SHOWN_GUARDS;
  return [
    ...texts
      .slice(0, SHOWN_GUARDS)
      .map((text) => trusted`- ⚠️ ${cut(text.replace(/^! /, ''), GUARD_COLUMNS)}`),
    ...(more > 0 ? [trusted`- ⚠️ … and ${plural(more, 'more shift')} that the specs allow`] : []),
  ];
}

/**
 * One line for each risk. A risk whose words name the environment has a line for each environment.
 */
function impactItems(report: PlanReport): Markup[] {
  return RISKS.flatMap((risk) => {
    const found = report.plan.changes.filter(({ id }) =>
      impactOf(report, id)?.risks.includes(risk),
    );
    const text = new Set(found.map(({ ref }) => riskWord(risk, ref.environment)));
    return [...text].flatMap((word) =>
      items(
        word,
        found.filter(({ ref }) => riskWord(risk, ref.environment) === word),
      ),
    );
  });
}

/** A line that names the first objects and counts the others. */
function items(word: string, changes: readonly Pick<Change, 'id'>[]): Markup[] {
  if (changes.length === 0) return [];
  const names = changes.slice(0, SHOWN_OBJECTS).map(({ id }) => code(cut(clean(id), NAME_COLUMNS)));
  const more = changes.length - names.length;
  const rest = more > 0 ? trusted` and ${more} more` : trusted``;
  return [trusted`- ⚠️ **${cut(word, NAME_COLUMNS)}**: ${joined(names, ', ')}${rest}`];
}
