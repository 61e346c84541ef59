import type { Action, Change, Reason, WithheldWhy } from '../../model/plan.js';
import type { Kind } from '../../model/ref.js';
import type { Tone } from '../text/layout.js';
import { plural } from '../values.js';

/** The words and the symbol of an action. The symbol says as much as the colour. */
interface ActionPhrases {
  readonly symbol: string;
  readonly tone: Tone;
  readonly done: string;
}

export const ACTIONS: Readonly<Record<Action, ActionPhrases>> = {
  create: { symbol: '+', tone: 'add', done: 'created' },
  activate: { symbol: '+', tone: 'add', done: 'activated' },
  update: { symbol: '~', tone: 'change', done: 'updated' },
  delete: { symbol: '-', tone: 'remove', done: 'deleted' },
  deactivate: { symbol: '-', tone: 'remove', done: 'deactivated' },
};

export function phrasesOf({ action, archive }: Pick<Change, 'action' | 'archive'>): ActionPhrases {
  return archive ? { ...ACTIONS[action], done: 'archived' } : ACTIONS[action];
}

/** The reason of a change. A commit is the usual reason and is not mentioned. */
export const REASON_WORDS: Readonly<Record<Exclude<Reason, 'commit' | 'unknown'>, string>> = {
  kill: 'kill: ordered in git',
  restore: 'restore: the kill was taken back in git',
  conflict: 'conflict: changed in git and outside git',
  prune: 'prune: no longer in git',
  ramp: 'ramp: a planned step of the rollout',
  drift: 'drift: changed outside git',
  adopt: 'adopt: exists, and no run remembers it here',
};

/** The reason why a change is withheld. */
export const WHY_WORDS: Readonly<Record<WithheldWhy, string>> = {
  'prune-off': 'no longer in git, and pruning is off',
  protected: 'no longer in git, and protected from deletion',
  'no-witness': 'no longer in git, but no ancestor of HEAD is seen to have declared it',
  'not-ours': 'no longer in git, and what has its name now was made by somebody else',
  'still-in-use': 'no longer in git, but still in use',
  'drift-reported': 'changed outside git, which is reported here and not reverted',
  contested: 'corrected three times within an hour, and somebody else keeps writing it',
  'conflict-held': 'changed in git and outside git, which is held here',
  'adopt-needed': 'exists and differs, and no run remembers it here',
  immutable: 'the service sets this at creation only',
  'live-kill': 'killed on the service, and git did not order it',
  'approval-needed': 'the service wants an approval first',
  suspended: 'nothing is written while the run is suspended',
  'ramp-held': 'the share was changed on the service, and the ramp waits',
  'check-failed': 'a failed check took the ramp back',
  'window-closed': 'changes go here at another time',
  'needs-withheld': 'needs something that is withheld',
  'not-reviewed': 'not in the reviewed plan',
  'not-remembered': 'nothing is remembered that would tell whether it was written',
  'stays-on-service': 'no longer in git, and stays on the service',
};

/** The words that differ between kinds of objects. */
interface KindText {
  /** `fields` shows both values of each field. `identities` shows the number of writes, and the service's refusals. */
  readonly details: 'fields' | 'identities';
  /** The reason to write values without a remembered state. */
  readonly unknown: string;
  /** The cost of the missing rename on the service. */
  readonly renameCost: string;
  /** The words for a change that reaches no flag. */
  readonly reachesNobody: string;
  /** A number of objects: `3 flags`. */
  readonly counted: (count: number) => string;
  /** A number of new objects: `3 new flags`. */
  readonly countedNew: (count: number) => string;
  /** Whether a base contains keys in clear text, which are shown on demand only. */
  readonly hasKeysInBase: boolean;
}

const NOTHING_REMEMBERED = 'unknown: nothing is remembered that would tell why';
const NOBODY_KNOWN = 'nobody, by the flags that are known here';

export const KIND_TEXTS: Readonly<Record<Kind, KindText>> = {
  flag: {
    details: 'fields',
    unknown: NOTHING_REMEMBERED,
    renameCost: 'to the service another flag, so users are distributed anew',
    reachesNobody: 'nobody',
    counted: (count) => plural(count, 'flag'),
    countedNew: (count) => plural(count, 'new flag'),
    hasKeysInBase: false,
  },
  segment: {
    details: 'fields',
    unknown: NOTHING_REMEMBERED,
    renameCost: 'to the service another segment, so rules have to name it',
    reachesNobody: NOBODY_KNOWN,
    counted: (count) => plural(count, 'segment'),
    countedNew: (count) => plural(count, 'new segment'),
    hasKeysInBase: false,
  },
  identities: {
    details: 'identities',
    unknown: 'unknown: --identities asks for all of them',
    renameCost: 'to the service another traffic type',
    reachesNobody: NOBODY_KNOWN,
    counted: (count) => `${String(count)} identities`,
    countedNew: (count) => `identities of ${plural(count, 'traffic type')}`,
    hasKeysInBase: true,
  },
};
