import type { Action, Change, Reason, WithheldWhy } from '../../model/plan.js';
import type { Kind } from '../../model/ref.js';
import type { Tone } from '../text/layout.js';

/** How an action is shown. The symbol says as much as the colour. */
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

/** Why a change is made. A commit is the usual reason, and is not said. */
export const REASON_WORDS: Readonly<Record<Exclude<Reason, 'commit' | 'unknown'>, string>> = {
  kill: 'kill: ordered in git',
  restore: 'restore: the kill was taken back in git',
  conflict: 'conflict: changed in git and outside git',
  prune: 'prune: no longer in git',
  ramp: 'ramp: a planned step of the rollout',
  drift: 'drift: changed outside git',
  adopt: 'adopt: exists, and no run remembers it here',
};

/** Why a change is held back. */
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
  'window-closed': 'changes go here at another time',
  'needs-withheld': 'needs something that is withheld',
  'not-reviewed': 'not in the reviewed plan',
  'not-remembered': 'nothing is remembered that would tell whether it was written',
  'stays-on-service': 'no longer in git, and stays on the service',
};

/** What reports say of the objects of one kind, where kinds differ. */
export interface KindText {
  /** `fields`: each with its two values. `identities`: how many are written, and which the service refused. */
  readonly details: 'fields' | 'identities';
  /** Why its values are written where nothing is remembered of it. */
  readonly unknown: string;
  /** What it costs that the service knows no rename. */
  readonly renameCost: string;
  /** Said of a change that reaches no flag. */
  readonly reachesNobody: string;
  /** Whether a base holds keys in clear text, which are shown on demand alone. */
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
    hasKeysInBase: false,
  },
  segment: {
    details: 'fields',
    unknown: NOTHING_REMEMBERED,
    renameCost: 'to the service another segment, so rules have to name it',
    reachesNobody: NOBODY_KNOWN,
    hasKeysInBase: false,
  },
  identities: {
    details: 'identities',
    unknown: 'unknown: --identities asks for all of them',
    renameCost: 'to the service another traffic type',
    reachesNobody: NOBODY_KNOWN,
    hasKeysInBase: true,
  },
};
