import type { Standing, StandingName, WaitsFor } from '../../model/verdict.js';
import { headlineText } from './verdict.js';

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
