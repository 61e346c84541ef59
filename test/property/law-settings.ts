import process from 'node:process';
import { vi } from 'vitest';

export interface LawSettings {
  readonly numRuns: number;
  readonly seed: number;
  readonly interruptAfterTimeLimit: number;
  readonly markInterruptAsFailure: true;
}

/**
 * How many cases each law is tried with, and from which seed they are drawn. `FLAGKEEL_LAW_RUNS` says the number, or
 * `whole` for all that the law names, of which an ordinary run tries a third. `FLAGKEEL_LAW_SEED` repeats a run; without
 * it every run draws anew, and prints the seed that would repeat it.
 */
export function lawSettings(what: string, whole: number): LawSettings {
  const wanted = process.env['FLAGKEEL_LAW_RUNS'] ?? Math.ceil(whole / 3);
  const numRuns = wanted === 'whole' ? whole : Number(wanted);
  const given = process.env['FLAGKEEL_LAW_SEED'];
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  process.stdout.write(`${what}: FLAGKEEL_LAW_SEED=${seed}, ${numRuns} cases each\n`);
  // Large draws shrink slowly: what was found by then is told.
  const limitMs = 60_000 + numRuns * 1_000;
  vi.setConfig({ testTimeout: limitMs + 60_000 });
  return { numRuns, seed, interruptAfterTimeLimit: limitMs, markInterruptAsFailure: true };
}
