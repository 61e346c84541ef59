import type { FlagImpact, Impact, Move, Risk } from '../model/impact.js';

export interface ImpactMembers {
  /** Absent where a change serves nobody anything by itself; likewise `risks`. */
  readonly impact?: readonly FlagImpactDocument[];
  readonly risks?: readonly Risk[];
}

export interface FlagImpactDocument extends Omit<FlagImpact, 'environment' | 'moves'> {
  readonly moves: readonly MoveDocument[];
}

/** `names` only where keys are to be shown. */
export type MoveDocument = Omit<Move, 'names'> & Partial<Pick<Move, 'names'>>;

export function impactMembers(
  impact: Impact | undefined,
  { showKeys }: { readonly showKeys: boolean },
): ImpactMembers {
  if (!impact) return {};
  return {
    impact: impact.flags.map(({ flag, traffic, keys, listed, moves, bounded }) => ({
      flag,
      traffic,
      keys,
      listed,
      moves: moves.map(({ names, ...move }) => ({ ...move, ...(showKeys && { names }) })),
      bounded,
    })),
    risks: impact.risks,
  };
}
