import { messageOf } from '../errors.js';
import { clean } from '../report/clean.js';
import type { KillResult } from '../stages/kill-lane.js';

/** One line for people about a kill that went out, or did not. */
export function killLine(id: string, result: KillResult): string {
  switch (result.status) {
    case 'killed':
      return `killed ${clean(id)}: ${clean(result.words.title)}`;
    case 'absent':
      return `warning: nothing to kill: ${clean(id)} has no definition`;
    case 'failed':
      return `error: ${clean(id)} is not killed: ${clean(messageOf(result.error))}`;
  }
}
