import { isMove, pairOf, WHOLE, type Shares } from './serving.js';

/** What the keys of one group get of one flag, before and after: parts of `WHOLE`, between bounds. */
export interface Outlook {
  /** By `pairKey`; a pair that is not in here cannot occur. */
  readonly pairs: ReadonlyMap<string, Parts>;
  /** Of all moves together: the bounds of the pairs need not occur at the same time. */
  readonly moved: Parts;
  /** False: there were too many cases, and nothing is said but that anything may be. */
  readonly whole: boolean;
}

export interface Parts {
  readonly least: number;
  readonly most: number;
}

const NOTHING: Parts = { least: 0, most: 0 };

export const ANYTHING: Outlook = {
  pairs: new Map(),
  moved: { least: 0, most: WHOLE },
  whole: false,
};

export function certainOutlook(shares: Shares): Outlook {
  const moves = [...shares].filter(([key]) => isMove(pairOf(key)));
  return {
    pairs: new Map([...shares].map(([key, parts]) => [key, exactly(parts)])),
    moved: exactly(moves.reduce((sum, [, parts]) => sum + parts, 0)),
    whole: true,
  };
}

/** Of cases of which nobody knows how many keys are in which. */
export function anyOf(outlooks: readonly Outlook[]): Outlook {
  const widest = (all: readonly Parts[]): Parts => ({
    least: Math.min(...all.map(({ least }) => least)),
    most: Math.max(...all.map(({ most }) => most)),
  });
  return combined(outlooks, widest);
}

/** Of cases into which so large shares of the keys fall, by hashing; the shares sum to one. */
export function mixed(outlooks: readonly Outlook[], shares: readonly number[]): Outlook {
  const mean = (all: readonly Parts[]): Parts => ({
    least: all.reduce((sum, { least }, index) => sum + least * (shares[index] ?? 0), 0),
    most: all.reduce((sum, { most }, index) => sum + most * (shares[index] ?? 0), 0),
  });
  return combined(outlooks, mean);
}

function combined(outlooks: readonly Outlook[], join: (all: readonly Parts[]) => Parts): Outlook {
  if (outlooks.some(({ whole }) => !whole)) return ANYTHING;
  const keys = new Set(outlooks.flatMap(({ pairs }) => [...pairs.keys()]));
  const pairs = [...keys].map((key) => {
    return [key, join(outlooks.map((each) => each.pairs.get(key) ?? NOTHING))] as const;
  });
  return { pairs: new Map(pairs), moved: join(outlooks.map(({ moved }) => moved)), whole: true };
}

export function isExact({ least, most }: Parts): boolean {
  return least === most;
}

function exactly(parts: number): Parts {
  return { least: parts, most: parts };
}
