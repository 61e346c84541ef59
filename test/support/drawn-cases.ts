import fc from 'fast-check';
import process from 'node:process';

/** As `lawSettings` has it for laws: a third of the library's hundred in an ordinary run. */
const { FLAGKEEL_LAW_RUNS: runs, FLAGKEEL_LAW_SEED: given } = process.env;
fc.configureGlobal({
  ...(runs === 'whole' ? {} : { numRuns: 34 }),
  // Draws the cases of every property from one seed, where one is given: a gate judges a change and not a day's luck.
  ...(given === undefined ? {} : { seed: Number(given) }),
});
