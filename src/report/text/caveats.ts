import type { NotCompared } from '../../model/plan.js';
import { type PlanReport, TOUCHED_TEXT } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { plural } from '../values.js';
import { rampsToTell, rampText } from './ramps.js';
import { reminderText } from './reminders.js';
import { closedText, suspendedText } from './summary.js';

/** Flags that a sentence names; a service that shows none has hundreds. */
const MAX_UNSEEN = 5;

/** What a reader has to know about how much a report can say; each one sentence of cleaned text. */
export interface Caveats {
  /** What makes the plan itself another one than the specs ask for. */
  readonly serious: readonly string[];
  /** How far ramps have come. */
  readonly ramps: readonly string[];
  /** What was to be looked at again by now. */
  readonly reminders: readonly string[];
  /** What was not looked at, or not looked at closely. */
  readonly limits: readonly string[];
}

export function caveatsOf(report: PlanReport): Caveats {
  const { plan, stateless, suspended = null, closed = [], held = [] } = report;
  return {
    serious: [
      ...(suspended === null ? [] : [suspendedText(suspended)]),
      ...closed.map(closedText),
      ...approvalTexts(report),
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
    reminders: (report.reminders ?? []).map(reminderText),
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

/** How what windows hold back passes at once. What guards refuse says so beside them. */
function approvalTexts({ heldHash, guardFindings = [] }: PlanReport): string[] {
  if (heldHash === undefined || guardFindings.length > 0) return [];
  return [`Once reviewed, what waits for a window passes with --approve ${clean(heldHash)}.`];
}

/** What nobody compared, and how to have it done where that is possible. */
export function notComparedTexts(missing: readonly NotCompared[]): string[] {
  const counted = missing.filter(({ what }) => what === 'keys').map(({ id }) => clean(id));
  const unseen = missing.filter(({ what }) => what === 'fields').map(({ id }) => clean(id));
  const shown = unseen.slice(0, MAX_UNSEEN).join(', ');
  const more = unseen.length > MAX_UNSEEN ? ` and ${unseen.length - MAX_UNSEEN} more` : '';
  return [
    ...(counted.length > 0
      ? [`Keys were counted and not compared: ${counted.join(', ')} (--every-key compares them).`]
      : []),
    ...(unseen.length > 0
      ? [
          `This service does not show flags by themselves, so what their files say at the top was not compared: ${shown}${more}.`,
        ]
      : []),
  ];
}
