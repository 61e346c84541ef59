import type { Range } from '../../src/model/impact.js';

/**
 * By how many keys a sample may miss what is expected: with this bound (Bernstein's) less than one check in 10 billion
 * fails by chance, also where few keys are expected and the normal approximation is far too narrow.
 */
function sampling(expected: number, size: number): number {
  const LOG = Math.log(1e10);
  const variance = expected * (1 - Math.min(1, expected / size));
  if (variance === 0) return 0;
  return LOG / 3 + Math.sqrt((LOG / 3) ** 2 + 2 * LOG * variance);
}

/** Whether a count in a sample of this size can be a share of the range, in per cent. */
export function liesIn(count: number, { atLeast, atMost }: Range, size: number): boolean {
  const [least, most] = [(atLeast / 100) * size, (atMost / 100) * size];
  // Shares of other flags are rounded to a hundredth of a per cent.
  const rounding = 0.00005 * size;
  return (
    count >= least - sampling(least, size) - rounding &&
    count <= most + sampling(most, size) + rounding
  );
}
