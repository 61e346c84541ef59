import type { RampStanding } from '../../model/flag/ramp.js';
import { clean } from '../sanitize.js';

/** Ramps that there is something to tell of: those that are over are not. */
export function rampsToTell(ramps: readonly RampStanding[] = []): readonly RampStanding[] {
  return ramps.filter(
    ({ steps, step, held, checks }) => step < steps.length - 1 || held !== null || checks,
  );
}

/** A ladder in one line: what is done, what is now, what comes next and when, and why it waits where it does. */
export function rampText(standing: RampStanding): string {
  const { id, rule, treatment, steps, step, held, served, checks = [] } = standing;
  const where = rule === null ? '' : `, rule ${rule + 1}`;
  const rungs = steps.map(({ percent, dueText }, at) => {
    // A step that waits may be due, and is not served.
    if (at <= step && held !== null && percent > (served ?? 0)) return `${percent} % due`;
    if (at < step) return `${percent} % done`;
    if (at === step) return `${percent} % now`;
    const when = dueText === null ? '' : ` at ${clean(dueText)}`;
    return at === step + 1 && held === null
      ? `${percent} % next${when}`
      : `${percent} %${held === null ? when : ''}`;
  });
  const waits = held === null ? '' : ` It waits: ${clean(held)}.`;
  const unasked = checks.filter(({ result }) => result === 'not-asked');
  const names = unasked.map(({ name }) => `"${clean(name)}"`).join(', ');
  const asked =
    unasked.length === 0 ? '' : ` Not asked here, and asked before it is written: check ${names}.`;
  return `Ramp of ${clean(treatment)} in ${clean(id)}${where}: ${rungs.join(', ')}.${waits}${asked}`;
}
