import { reminderText } from '../../report/view/sentences.js';
import type { RunRecord, SourceView } from '../view.js';
import type { Message } from './message.js';

/** Decides when to remind: once on each day, by UTC, on which a run finds something that was to be looked at again. */
export class ReminderDays {
  /** Source → the day on which it was reminded last. */
  readonly #reminded = new Map<string, string>();

  /** @returns undefined: there is nothing, or today somebody was reminded already. */
  messageFor(source: SourceView, run: RunRecord): Message | undefined {
    const day = run.startedAt.slice(0, 10);
    const due = run.plan?.reminders ?? [];
    if (due.length === 0 || this.#reminded.get(source.name) === day) return undefined;
    this.#reminded.set(source.name, day);
    const objects = due.map((each) => ({ id: each.id, says: reminderText(each) }));
    return { kind: 'reminder', source, run, objects };
  }
}
