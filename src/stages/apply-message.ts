import { applyMessage } from '../git/state-log.js';
import type { Outcomes } from '../model/run.js';
import type { Planned } from './run.js';

/**
 * The message of the state's commit: what `flaghoist history` shows of this run.
 *
 * @param outcomes absent: the run only begins.
 */
export function applyMessageFor(
  verb: 'Begin' | 'Apply',
  { plan: { changes }, words }: Planned,
  head: string | null,
  outcomes?: Outcomes,
): string {
  const objects = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  const lines = changes.map(({ id, action }) => ({
    outcome: outcomes ? (outcomes.get(id)?.status ?? 'skipped') : 'planned',
    action,
    id,
    title: words.get(id)?.title ?? '',
  }));
  const subject = `${verb} ${head?.slice(0, 8) ?? 'a directory without commits'}: ${objects}`;
  return applyMessage(subject, head, lines);
}
