import { RISKS } from '../../model/impact.js';
import type { Change } from '../../model/plan.js';
import { clean } from '../clean.js';
import { allowedLines, guardLines } from '../guard-lines.js';
import { impactOf, riskWord } from '../impact-lines.js';
import type { PlanReport } from '../plan-report.js';
import { cut } from '../text-width.js';
import { plural } from '../value-words.js';
import type { Block } from './blocks.js';
import { code, joined, type Markup, ours } from './markup.js';

/** Named of each risk; the others are counted here, and marked in the tables. */
const SHOWN_OBJECTS = 8;
const SHOWN_GUARDS = 12;
const NAME_COLUMNS = 80;
const GUARD_COLUMNS = 240;

/**
 * What a reviewer should not overlook: what refuses the plan, deletions, risks of the impact, what could not be known.
 * Always shown and never folded: each is a line, however many objects it is about.
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
    ...(report.unknowns ?? []).map(
      ({ message }) => ours`- ⚠️ ${cut(clean(message), GUARD_COLUMNS)}`,
    ),
    ...(report.stateless
      ? [ours`- ⚠️ stateless: drift cannot be told from a change in git, and nothing is pruned`]
      : []),
  ];
  return lines.length === 0
    ? []
    : [{ rank: 'head', what: 'list of risks', markup: () => joined(lines, '\n') }];
}

/** How many lines of risks there are that come from the changes themselves. */
export function countRisks(report: PlanReport): number {
  return impactItems(report).length;
}

function guardItems(report: PlanReport): Markup[] {
  const texts = guardLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  // The last one is the way out.
  const findings = texts.slice(0, -1);
  const more = findings.length - SHOWN_GUARDS;
  return [
    ...findings
      .slice(0, SHOWN_GUARDS)
      .map((text) => ours`- ⛔ ${cut(text.replace(/^✗ /, ''), GUARD_COLUMNS)}`),
    ...(more > 0 ? [ours`- ⛔ … and ${plural(more, 'more refusal')} by guards`] : []),
  ];
}

function allowedItems(report: PlanReport): Markup[] {
  const texts = allowedLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  const more = texts.length - SHOWN_GUARDS;
  return [
    ...texts
      .slice(0, SHOWN_GUARDS)
      .map((text) => ours`- ⚠️ ${cut(text.replace(/^! /, ''), GUARD_COLUMNS)}`),
    ...(more > 0 ? [ours`- ⚠️ … and ${plural(more, 'more shift')} that the specs allow`] : []),
  ];
}

function impactItems(report: PlanReport): Markup[] {
  return RISKS.flatMap((risk) => {
    const found = report.plan.changes.filter(({ id }) =>
      impactOf(report, id)?.risks.includes(risk),
    );
    const words = new Set(found.map(({ ref }) => riskWord(risk, ref.environment)));
    return [...words].flatMap((word) =>
      items(
        word,
        found.filter(({ ref }) => riskWord(risk, ref.environment) === word),
      ),
    );
  });
}

function items(word: string, changes: readonly Change[]): Markup[] {
  if (changes.length === 0) return [];
  const names = changes.slice(0, SHOWN_OBJECTS).map(({ id }) => code(cut(clean(id), NAME_COLUMNS)));
  const more = changes.length - names.length;
  const rest = more > 0 ? ours` and ${more} more` : ours``;
  return [ours`- ⚠️ **${cut(word, NAME_COLUMNS)}**: ${joined(names, ', ')}${rest}`];
}
