import type { LiveKill } from '../../model/plan.js';
import { clean } from '../sanitize.js';
import { span, type Line } from './layout.js';
import { plural } from '../values.js';

/** What every report says of live kills. */
export const LIVE_KILLS_TITLE = 'Killed on the service, not ordered by git; they stay so';

const SHORT_SHA = 7;

/** Since when a live kill is known, as far as runs remember it; a clause that follows its id. */
export function sinceText({
  seen,
  commit,
  wasOrdered,
}: Pick<LiveKill, 'seen' | 'commit' | 'wasOrdered'>): string {
  if (wasOrdered) {
    return 'git ordered it until now; only `flagkeel restore`, or `killed: false` in a later commit, brings it back';
  }
  const moment = seen === null ? undefined : `${seen.slice(0, 16).replace('T', ' ')} UTC`;
  const at = commit === null ? undefined : `commit ${commit.slice(0, SHORT_SHA)}`;
  const known = [moment, at].filter((each) => each !== undefined).map((each) => clean(each));
  return known.length === 0 ? 'since when no run remembers' : `seen since ${known.join(', ')}`;
}

/** One line for each live kill. */
export function liveKillLines(kills: readonly LiveKill[]): Line[] {
  return kills.map((kill) => ({
    indent: 2,
    spans: [
      span('! ', 'alarm'),
      span(clean(kill.id), 'strong'),
      span(` ${sinceText(kill)}`, 'faint'),
    ],
  }));
}

/** How a sentence that says all is equal goes on; empty where there is no live kill. */
export function butForKills(kills: readonly unknown[]): string {
  return kills.length === 0 ? '' : ` but for ${plural(kills.length, 'live kill')}`;
}
