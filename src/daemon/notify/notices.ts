import { LIVE_KILLS_TITLE, rampText, sinceText } from '../../report/view/sentences.js';
import { WHY_WORDS } from '../../report/view/words.js';
import { isApplied, isDrift } from '../health.js';
import type { RunRecord, SourceView } from '../view.js';
import type { Message, NoticeKind, ToldObject } from './message.js';

/** Finds the objects in a notable state after a run, with one line each, whose last clause may be untrusted text. */
type Found = (run: RunRecord) => readonly ToldObject[];

const NOTICES: Readonly<Record<NoticeKind, Found>> = {
  drift: ({ plan }) => {
    const left = plan?.changes.filter((change) => !isApplied(change)) ?? [];
    return [
      ...left
        .filter(isDrift)
        .map(({ id }) => ({ id, says: 'changed outside git, and not put back' })),
      ...(plan?.withheld ?? []).flatMap((each) =>
        // A ramp changed by hand is reported as a held ramp, not as drift.
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
      // `held` is null before a ramp begins, because no step is due then.
      ramp.held === null ? [] : [{ id: ramp.id, says: rampText(ramp) }],
    ),
};

/** Reports objects that have entered a notable state, once each time. */
export class NoticeMemory {
  /** Source and kind → ids already reported and still in that state. */
  readonly #told = new Map<string, ReadonlySet<string>>();

  /** One message for each kind with news, and none after a run without a plan, which found no objects. */
  noticesFor(source: SourceView, run: RunRecord): Message[] {
    if (run.plan === null) return [];
    const isFull = run.plan.observed === 'full';
    return Object.entries(NOTICES).flatMap(([name, found]): Message[] => {
      const kind = name as NoticeKind;
      const all = found(run);
      const before = this.#told.get(`${source.name} ${kind}`) ?? new Set<string>();
      const now = new Set(all.map(({ id }) => id));
      // A partial run does not show that the other objects have recovered.
      this.#told.set(`${source.name} ${kind}`, isFull ? now : new Set([...before, ...now]));
      const objects = all.filter(({ id }) => !before.has(id));
      return objects.length === 0 ? [] : [{ kind, source, run, objects }];
    });
  }
}
