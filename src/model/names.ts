/**
 * What may be a name.
 *
 * For flags and the reserved words of treatments the product's guide says so. The contract says nothing: where no
 * source is known, the pattern only keeps out what could not stand in a path or a file name.
 */
export const FLAG_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
export const SEGMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
export const TREATMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

export const RESERVED_FLAG_NAMES: ReadonlySet<string> = new Set(
  'datetime string set integer'.split(' '),
);

/** The product's editor refuses these, and names that do not begin with a letter. */
export const RESERVED_TREATMENT_NAMES: ReadonlySet<string> = new Set(
  (
    'all and between contain contains control datetime does end ends false has have if in is match matches not ' +
    'number set split start starts string then treatment true with'
  ).split(' '),
);

/** Treatments that a flag can have. */
export const TREATMENT_COUNT = { least: 2, most: 20 } as const;
