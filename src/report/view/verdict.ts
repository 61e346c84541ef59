import { grouped } from '../../model/collections.js';
import type { Plan } from '../../model/plan.js';
import type { ObjectId } from '../../model/ref.js';
import { UNASKED } from '../../model/change-request.js';
import {
  countsOf,
  type Standing,
  type StandingName,
  those,
  type WaitsFor,
} from '../../model/verdict.js';
import { byEnvironment, type PlanReport, shownEnvironments } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { namesText, plural } from '../values.js';
import { commonWay } from './remedy.js';

/**
 * What became of the whole, as a sentence without a full stop: `In sync: 43 objects equal`, or the parts that are not, the worst
 * first, with their objects. Nothing else may say that something is in sync.
 */
export function wholeText(report: PlanReport): string {
  const { verdict, plan } = report;
  const { live } = countsOf(verdict);
  const limit = asFarAsCompared(plan);
  if (verdict.whole === 'live') return `In sync${limit}: ${plural(live, 'object')} equal`;
  const places = shownEnvironments(report);
  const parts = WORST_FIRST.flatMap((name) =>
    partText(byEnvironment(those(verdict, name), places)),
  );
  const rest = live === 0 ? [] : [`${plural(live, 'other object')} in sync${limit}`];
  const title = verdict.whole === 'waits' ? 'Waiting' : 'Not in sync';
  return `${title}: ${[...parts, ...rest].join('; ')}`;
}

/** The one word for each standing, for labels and short lines. */
export const STANDING_WORDS: Readonly<Record<StandingName, string>> = {
  live: 'in sync',
  waits: 'waiting',
  held: 'held for a person',
  unknown: 'unknown',
  failed: 'failed',
};

/** The whole in one short line without names: `1 object failed, 2 objects waiting, 40 in sync`. */
export function headlineText({
  whole,
  counts,
}: {
  readonly whole: StandingName;
  readonly counts: Readonly<Record<StandingName, number>>;
}): string {
  if (whole === 'live') return `In sync: ${plural(counts.live, 'object')} equal`;
  const parts = WORST_FIRST.flatMap((name) =>
    counts[name] === 0 ? [] : [`${plural(counts[name], 'object')} ${STANDING_WORDS[name]}`],
  );
  const rest = counts.live === 0 ? [] : [`${String(counts.live)} ${STANDING_WORDS.live}`];
  return [...parts, ...rest].join(', ');
}

const WORST_FIRST = ['failed', 'unknown', 'held', 'waits'] as const;

/** A clause for each cause of one standing, with the objects in the given order. */
function partText(found: readonly (NotLive & { readonly id: ObjectId })[]): string[] {
  return [...grouped(found, whyText)].map(
    ([why, all]) =>
      `${namesText(
        all.map(({ id }) => id),
        MAX_NAMED,
      )} ${why}${outText(all)}`,
  );
}

type NotLive = Exclude<Standing, { is: 'live' }>;

/** The way out of objects that need a person, to be appended to their clause; empty if they have none in common. */
function outText(all: readonly NotLive[]): string {
  const remedies = all
    .slice(0, MAX_NAMED)
    .flatMap((each) => (each.is === 'held' || each.is === 'failed' ? [each.remedy] : []));
  const way = commonWay(remedies);
  return way === undefined ? '' : `: ${clean(way)}`;
}

const WAITS: Readonly<Record<Extract<Standing, { is: 'waits' }>['why'], string>> = {
  apply: 'not applied yet',
  window: 'waiting for a window',
  ramp: 'waiting for a step of a ramp',
  suspended: 'suspended',
  'live-kill': 'killed on the service',
  removal: 'kept on the service after its removal from git',
  'drift-reported': 'changed on the service, which the config leaves so',
  'another-object': 'waiting for another object',
};

const HELD: Readonly<Record<Extract<Standing, { is: 'held' }>['why'], string>> = {
  conflict: 'held for a person (changed in git and on the service)',
  adoption: 'held for a person (no run remembers it)',
  approval: UNASKED.held,
  review: 'held for a person (no reviewed plan shows it)',
  guard: 'refused by a guard',
  'ramp-changed': 'held for a person (its ramp was changed on the service)',
  'check-failed': 'held for a person (a failed check took its ramp back)',
  contested: 'held for a person (another writer keeps changing it)',
  'another-object': 'held by another object',
};

const UNKNOWN: Readonly<Record<Extract<Standing, { is: 'unknown' }>['why'], string>> = {
  'invalid-file': 'unknown (invalid file)',
  unanswered: 'unknown (no answer shows the write)',
  'checkout-away': 'unknown (the checkout is away)',
  'remote-away': 'unknown (the remote does not answer)',
  'service-away': 'unknown (the service does not answer)',
  'key-refused': 'unknown (the service refuses the key)',
  'key-missing': 'unknown (no key)',
  'place-missing': 'unknown (the service lacks the workspace or environment)',
  'not-confirmed': 'unknown (not confirmed for too long)',
};

const FAILED: Readonly<Record<Extract<Standing, { is: 'failed' }>['why'], string>> = {
  refused: 'failed',
  'not-sent': 'not sent',
  'not-as-written': 'written, but different on the service',
};

export function whyText(standing: NotLive): string {
  switch (standing.is) {
    case 'waits':
      return standing.until === null
        ? WAITS[standing.why]
        : `${WAITS[standing.why]} until ${clean(standing.until)}`;
    case 'held':
      return HELD[standing.why];
    case 'unknown':
      return UNKNOWN[standing.why];
    case 'failed':
      return FAILED[standing.why];
  }
}

const MAX_NAMED = 3;

/** What became of the kills that git orders, of which so many could not be sent; without a full stop. */
export function killsText(failed: number): string {
  return failed === 0 ? 'All kills that git orders are live' : `${String(failed)} not live`;
}

/** The words to append to a claim if not everything was compared. */
export function asFarAsCompared({ notCompared }: Pick<Plan, 'notCompared'>): string {
  return notCompared.length === 0 ? '' : ' as far as was compared';
}

/** A status of an applied commit; the words contain no names, numbers of commits or untrusted text. */
interface AppliedStatus {
  readonly state: 'pending' | 'success' | 'failure';
  readonly description: string;
}

const STATES: Readonly<Record<StandingName, AppliedStatus['state']>> = {
  live: 'success',
  waits: 'success',
  // The commit is not on the service as written, though nothing broke.
  held: 'failure',
  unknown: 'failure',
  failed: 'failure',
};

/** Waits that end with a run of this commit. The others may last as long as people like, and leave a commit a success. */
const PENDING: ReadonlySet<WaitsFor> = new Set(['apply', 'window', 'suspended', 'another-object']);

/** The status for one environment, or for the whole, by what became of its objects. */
export function appliedStatus(
  place: {
    readonly whole: StandingName;
    readonly counts: Readonly<Record<StandingName, number>>;
  },
  standings: Iterable<Standing>,
): AppliedStatus {
  const isPending = [...standings].some(
    (standing) => standing.is === 'waits' && PENDING.has(standing.why),
  );
  const state = STATES[place.whole];
  return {
    state: state === 'success' && isPending ? 'pending' : state,
    description: headlineText(place),
  };
}
