import type { Mutant } from './service-mutants.js';

/** Mutants that change nothing that anybody could see, with the reason. */
const REASONS: readonly {
  readonly file: string;
  /** Part of the line on which it begins. */
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
  readonly why: string;
}[] = [
  ...[
    'access',
    'archive',
    'change-requests',
    'definition-changes',
    'segment-keys',
    'segments',
    'flags',
  ].map((name) => ({
    file: `routes/${name}.ts`,
    line: "'both'",
    original: "'both'",
    replacement: '""',
    why: 'what is needed is compared with the two other words alone: any third is `both`',
  })),
  {
    file: 'routes/definition-changes.ts',
    line: "note: 'both'",
    original: "{ note: 'both' }",
    replacement: '{}',
    why: 'any third word is `both`, and so is none',
  },
  ...['{ ws', 'const { env', 'params['].map((line) => ({
    file: '',
    line,
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'the router gives every parameter that stands in the path',
  })),
  {
    file: 'routes/definitions.ts',
    line: 'lookUpDefinitions(lookUp, [ws, env], page)',
    original: '[ws, env]',
    replacement: '[]',
    why: 'the shorter way finds nothing, and the longer one answers the same',
  },
  {
    file: 'rules/admin-key.ts',
    line: 'byte < fair',
    original: 'byte < fair',
    replacement: 'true',
    why: 'some characters of a random key would be drawn a little more often',
  },
  {
    file: 'rules/definition.ts',
    line: 'NEW_KEY_PATH =',
    original: '',
    replacement: '/^\\/treatments\\/\\d+\\/keys\\/[-0]/',
    why: 'no longer path leads anywhere: it ends in a text, or is no index',
  },
  {
    file: 'routes/identities.ts',
    line: 'keepOthers: true',
    original: '{ keepOthers: true }',
    replacement: '{}',
    why: 'what is not said is the same by default',
  },
];

/** Why a mutant cannot be noticed; undefined: it could be. */
export const EQUIVALENT = (mutant: Mutant): string | undefined =>
  REASONS.find(
    ({ file, line, original, replacement }) =>
      mutant.file.endsWith(file) &&
      mutant.begin.includes(line) &&
      (original === '' || mutant.original === original) &&
      mutant.replacement === replacement,
  )?.why;
