import { reminderText } from '../../report/view/sentences.js';
import type { RunRecord, SourceView } from '../view.js';
import type { Message } from './message.js';

/** Sends a reminder at most once per UTC day, if a run finds something that is due for another look. */
export class ReminderDays {
  /** Source → day of its last reminder. */
  readonly #reminded = new Map<string, string>();

  /** @returns undefined if nothing is due, or if today's reminder was sent already. */
  messageFor(source: SourceView, run: RunRecord): Message | undefined {
    const day = run.startedAt.slice(0, 10);
    const due = run.plan?.reminders ?? [];
    if (due.length === 0 || this.#reminded.get(source.name) === day) return undefined;
    this.#reminded.set(source.name, day);
    const objects = due.map((each) => ({ id: each.id, says: reminderText(each) }));
    return { kind: 'reminder', source, run, objects };
  }
}
