import type { Kind } from '../../model/ref.js';

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
