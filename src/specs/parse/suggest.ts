import { distance } from 'fastest-levenshtein';

/** `; did you mean "…"?` with the nearest candidate; empty if none is near. */
export function didYouMean(written: string, candidates: Iterable<string>): string {
  const best = nearest(written, candidates);
  return best === undefined ? '' : `; did you mean "${best}"?`;
}

/** The most likely candidate: a few typing errors away, though not every letter, or a continuation. Ignores case. */
export function nearest(written: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(Math.ceil(written.length / 3) + 1, written.length);
  for (const candidate of candidates) {
    const far = farness(written.toLowerCase(), candidate.toLowerCase());
    if (far < bestDistance) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best;
}

/** A beginning of the candidate ranks before any typing error. */
function farness(written: string, candidate: string): number {
  const isBeginning = written.length >= 2 && candidate.startsWith(written);
  return isBeginning ? 0.5 : distance(written, candidate);
}

export function quotedList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
