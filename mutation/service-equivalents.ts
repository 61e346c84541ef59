import type { Mutant } from './service-mutants.js';

/** Mutants that change nothing that anybody could see, with the reason. */
const REASONS: readonly (readonly [
  file: string,
  original: string,
  replacement: string,
  why: string,
])[] = [];

/** Why a mutant cannot be noticed; undefined: it could be. */
export const EQUIVALENT = ({ file, original, replacement }: Mutant): string | undefined =>
  REASONS.find(
    ([name, from, to]) =>
      file.endsWith(name) && original.includes(from) && (to === '' || replacement === to),
  )?.[3];
