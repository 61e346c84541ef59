import { LIVE_KILLS_TITLE, rampText, sinceText } from '../../report/view/sentences.js';
import { WHY_WORDS } from '../../report/view/words.js';
import { isApplied, isDrift } from '../health.js';
import type { RunRecord, SourceView } from '../view.js';
import type { Message, NoticeKind, ToldObject } from './message.js';

/** What stands so after a run, object by object; a line for each, of which the last clause may be untrusted text. */
type Found = (run: RunRecord) => readonly ToldObject[];

const NOTICES: Readonly<Record<NoticeKind, Found>> = {
  drift: ({ plan }) => {
    const left = plan?.changes.filter((change) => !isApplied(change)) ?? [];
    return [
      ...left
        .filter(isDrift)
        .map(({ id }) => ({ id, says: 'changed outside git, and not put back' })),
      ...(plan?.withheld ?? []).flatMap((each) =>
        // A ramp that somebody changed by hand is told as what it is.
        isDrift(each) && each.why !== 'ramp-held'
          ? [{ id: each.id, says: WHY_WORDS[each.why] }]
          : [],
      ),
    ];
  },
  'live-kill': ({ plan }) =>
    (plan?.liveKills ?? []).map((kill) => ({
      id: kill.id,
      says: `${LIVE_KILLS_TITLE}: ${sinceText(kill)}`,
    })),
  'held-ramp': ({ plan }) =>
    (plan?.ramps ?? []).flatMap((ramp) =>
      // Before its beginning nobody expects a step.
      ramp.held === null ? [] : [{ id: ramp.id, says: rampText(ramp) }],
    ),
};

/** Tells what began to stand so, object by object, once for each time that it begins. */
export class NoticeMemory {
  /** Source and kind → ids that were told and still stand so. */
  readonly #told = new Map<string, ReadonlySet<string>>();

  /** One message for each kind that has news. A run without a plan knows nothing of objects. */
  noticesFor(source: SourceView, run: RunRecord): Message[] {
    if (run.plan === null) return [];
    const isFull = run.plan.observed === 'full';
    return Object.entries(NOTICES).flatMap(([name, found]): Message[] => {
      const kind = name as NoticeKind;
      const all = found(run);
      const before = this.#told.get(`${source.name} ${kind}`) ?? new Set<string>();
      const now = new Set(all.map(({ id }) => id));
      // A run that looked at a part alone does not say that the rest is well again.
      this.#told.set(`${source.name} ${kind}`, isFull ? now : new Set([...before, ...now]));
      const objects = all.filter(({ id }) => !before.has(id));
      return objects.length === 0 ? [] : [{ kind, source, run, objects }];
    });
  }
}
