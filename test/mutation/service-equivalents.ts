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
  ...['access', 'change-requests', 'definitions', 'segments', 'flags'].map((name) => ({
    file: `routes/${name}.ts`,
    line: "'both'",
    original: "'both'",
    replacement: '""',
    why: 'what is needed is compared with the two other words alone: any third is `both`',
  })),
  {
    file: 'routes/definitions.ts',
    line: "note: 'both'",
    original: "{ note: 'both' }",
    replacement: '{}',
    why: 'any third word is `both`, and so is none',
  },
  ...['{ ws', 'env =', ": name = ''", "{ segment = ''", 'params['].map((line) => ({
    file: '',
    line,
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'the router gives every parameter that stands in the path',
  })),
  {
    file: 'routes/definitions.ts',
    line: 'lookUpPlace(lookUp, [ws, env])',
    original: '[ws, env]',
    replacement: '[]',
    why: 'the shorter way finds nothing, and the longer one answers the same',
  },
  {
    file: 'rules/definition.ts',
    line: 'NEW_KEY_PATH =',
    original: '',
    replacement: '/^\\/treatments\\/\\d+\\/keys\\/[-0]/',
    why: 'no longer path leads anywhere: it ends in a text, or is no index',
  },
  {
    file: 'rules/definition.ts',
    line: 'if (measuresOf(given, MAX_SIZE).size <= MAX_SIZE) return;',
    original: 'measuresOf(given, MAX_SIZE).size <= MAX_SIZE',
    replacement: 'false',
    why: 'the second comparison lets the same definitions through',
  },
  ...[
    ['before === null', 'true'],
    ['before === null', 'before !== null'],
    ['Math.max(MAX_SIZE, measuresOf(before).size)', 'Math.min(MAX_SIZE, measuresOf(before).size)'],
  ].map(([original = '', replacement = '']) => ({
    file: 'rules/definition.ts',
    line: 'const most = before === null',
    original,
    replacement,
    why: 'only a definition of an earlier version is larger, and no request makes one',
  })),
  ...[
    ['routes/decisions.ts', 'change === undefined', 'false'],
    ['routes/decisions.ts', "'bug: a change request that cannot be carried out'", '""'],
    ['rules/shape.ts', '`${what} is invalid`', '``'],
    ['rules/shape.ts', '[]', '["Stryker was here"]'],
  ].map(([file = '', original = '', replacement = '']) => ({
    file,
    line: '',
    original,
    replacement,
    why: 'a guard that the compiler wants: the value is always there',
  })),
  {
    file: 'rules/rate-limit.ts',
    line: 'if (endsAt <= now)',
    original: 'endsAt <= now',
    replacement: 'false',
    why: 'an ended window that is kept takes memory and nothing else',
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
