import type { Reminder } from '../../model/plan.js';
import { clean } from '../sanitize.js';

/** What somebody wanted looked at again, and that it stays as it is until somebody does; one sentence. */
export function reminderText({ id, what, due, reason, by }: Reminder): string {
  if (what === 'expiry')
    return `${clean(id)} was to be gone by ${clean(due)}; it stays until a commit removes it.`;
  const why = reason === undefined ? '' : `: ${clean(reason)}`;
  const who = by === undefined ? '' : `, by ${clean(by)}`;
  return `The kill of ${clean(id)} was to be reviewed by ${clean(due)}; it stays until a commit takes it back${why}${who}.`;
}
