import { distance } from 'fastest-levenshtein';

/** `; did you mean "…"?` with the nearest candidate, or nothing where none is near. */
export function didYouMean(written: string, candidates: Iterable<string>): string {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const candidate of candidates) {
    const far = distance(written.toLowerCase(), candidate.toLowerCase());
    if (far < bestDistance) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best === undefined ? '' : `; did you mean "${best}"?`;
}
