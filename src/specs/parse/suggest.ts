import { distance } from 'fastest-levenshtein';

/** `; did you mean "…"?` with the nearest candidate, or nothing where none is near. */
export function didYouMean(written: string, candidates: Iterable<string>): string {
  const best = nearest(written, candidates);
  return best === undefined ? '' : `; did you mean "${best}"?`;
}

/**
 * The candidate that was most likely meant: one that is a few typing errors away, or that the text
 * is the beginning of. Upper and lower case do not matter.
 */
export function nearest(written: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.ceil(written.length / 3) + 1;
  for (const candidate of candidates) {
    const far = farness(written.toLowerCase(), candidate.toLowerCase());
    if (far < bestDistance) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best;
}

/** The beginning of a candidate is nearer to it than any typing error. */
function farness(written: string, candidate: string): number {
  const isBeginning = written.length >= 2 && candidate.startsWith(written);
  return isBeginning ? 0.5 : distance(written, candidate);
}
