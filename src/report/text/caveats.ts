import type { NotCompared } from '../../model/plan.js';
import { type PlanReport, TOUCHED_TEXT } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plural } from '../values.js';
import { rampsToTell, rampText } from './ramps.js';
import { closedText, suspendedText } from './summary.js';

/** What a reader has to know about how much a report can say; each one sentence of cleaned text. */
export interface Caveats {
  /** What makes the plan itself another one than the specs ask for. */
  readonly serious: readonly string[];
  /** How far ramps have come. */
  readonly ramps: readonly string[];
  /** What was not looked at, or not looked at closely. */
  readonly limits: readonly string[];
}

export function caveatsOf(report: PlanReport): Caveats {
  const { plan, stateless, suspended = null, closed = [], held = [] } = report;
  return {
    serious: [
      ...(suspended === null ? [] : [suspendedText(suspended)]),
      ...closed.map(closedText),
      ...(held.length > 0
        ? [
            `Left as they are, because their specs or what they name are invalid: ${held.map(clean).join(', ')}.`,
          ]
        : []),
      ...(stateless
        ? ['Stateless: drift cannot be told from a change in git, and nothing is pruned.']
        : []),
    ],
    ramps: rampsToTell(report.ramps).map(rampText),
    limits: [
      ...(plan.observed === 'touched' ? [TOUCHED_TEXT] : []),
      ...notComparedTexts(plan.notCompared),
      ...(plan.unmanaged && plan.unmanaged.flags + plan.unmanaged.segments > 0
        ? [
            `Not managed here: ${plural(plan.unmanaged.flags, 'flag')}, ${plural(plan.unmanaged.segments, 'segment')}.`,
          ]
        : []),
    ],
  };
}

/** Which keys nobody compared, and how to have it done. */
function notComparedTexts(missing: readonly NotCompared[]): string[] {
  if (missing.length === 0) return [];
  const ids = missing.map(({ id }) => clean(id)).join(', ');
  return [`Keys were counted and not compared: ${ids} (--every-key compares them).`];
}
