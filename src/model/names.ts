/**
 * Valid names. The product's guide gives the rules for flags and the reserved words of treatments; the contract gives
 * none. Where no source is known, the pattern only excludes what a path or a file name could not hold.
 */
export const FLAG_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
export const SEGMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
export const TREATMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

export const RESERVED_FLAG_NAMES: ReadonlySet<string> = new Set(
  'datetime string set integer'.split(' '),
);

/** The product's editor refuses these names, and names that do not begin with a letter. */
export const RESERVED_TREATMENT_NAMES: ReadonlySet<string> = new Set(
  (
    'all and between contain contains control datetime does end ends false has have if in is match matches not ' +
    'number set split start starts string then treatment true with'
  ).split(' '),
);

/** Limits for the number of treatments of a flag. */
export const TREATMENT_COUNT = { least: 2, most: 20 } as const;
