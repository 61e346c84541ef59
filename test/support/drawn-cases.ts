import fc from 'fast-check';
import process from 'node:process';

/** Draws the cases of every property from one seed, where one is given: a gate judges a change and not a day's luck. */
const given = process.env['FLAGKEEL_LAW_SEED'];
if (given !== undefined) fc.configureGlobal({ seed: Number(given) });
