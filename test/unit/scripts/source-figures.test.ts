import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { figureRows } from '../../../scripts/house-bounds.js';
import { sourceFigures } from '../../../scripts/source-figures.js';
import { makeDirectory } from '../../support/git.js';

const MAIN = `#!/usr/bin/env node
import { plan } from './reconcile/reconcile.js';

plan();
`;

const RECONCILE = `import { NAMES } from '../model/names.js';
import type { Ref } from '../model/ref.js';

/** What a run does. */
export function plan(): void {
  for (const name of NAMES) console.log(name);
}

export const isFlag = (ref: Ref): boolean => ref.kind === 'flag';
`;

const NAMES = `/*
 * Names of environments, one a line.
 */
export const NAMES = [
  'configName', // As the config says it: configName.
  \`two

lines\`,
];
`;

const REF = `import { NAMES } from './names.js';

export interface Ref {
  readonly kind: string;
}
export const later = async (): Promise<unknown> => {
  if (NAMES.length !== 0) return import('./names.js');
  return [].map(() => 1);
};
`;

describe('the figures of a source tree', () => {
  let source: string;

  beforeEach(() => {
    source = makeDirectory();
    write({
      'main.ts': MAIN,
      'reconcile/reconcile.ts': RECONCILE,
      'model/names.ts': NAMES,
      'model/ref.ts': REF,
      'generated/types.ts': '// Long.\n'.repeat(500),
    });
  });

  function write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(source, path)), { recursive: true });
      writeFileSync(join(source, path), text);
    }
  }

  it('count files, functions, branches on a kind and a name, and leave out what is generated', () => {
    expect(sourceFigures(source)).toMatchObject({
      files: 4,
      lines: 4 + 9 + 9 + 9,
      looseFiles: 1,
      largestFolder: { name: 'model', files: 2 },
      largestFile: { name: 'model/names.ts', lines: 9 },
      ...{ kindBranches: 1, configName: 2 },
      // isFlag, plan and later; no function that is handed to another.
      functions: { median: 3, p90: 4, max: 4 },
    });
  });

  it('count an import once for each pair of files, types included, and none that waits for a call', () => {
    write({ 'model/both.ts': "import './ref.js';\nexport { later } from './ref.js';\n" });

    // main → reconcile, reconcile → names and ref, ref → names, both → ref.
    expect(sourceFigures(source)).toMatchObject({
      importEdges: 5,
      pipeline: { imports: 2, longestFunction: 3 },
      singleReaders: { files: 1, share: 1 / 5 },
    });
  });

  it('count riddles, and the rooms that speak of a feature in more than one word', () => {
    write({
      'model/kill.ts': '// Whoever killed it. A kill is a kill.\n',
      'plan/kill.ts': '// Kills, killed; nobody is told.\nexport const isKill = true;\n',
      'plan/once.ts': '// One ramp.\n',
    });
    const { riddles, features } = sourceFigures(source);

    expect(riddles).toBe(3);
    expect(features.filter(({ rooms }) => rooms > 0)).toEqual([{ feature: 'kills', rooms: 2 }]);
  });

  it('are nothing where there is nothing', () => {
    rmSync(source, { recursive: true });
    mkdirSync(source);

    const nothing = { files: 0, riddles: 0, functions: { max: 0 } };
    expect(sourceFigures(source)).toMatchObject(nothing);
  });

  it('are held to their bounds, each with its own', () => {
    const broken = (): string[] =>
      figureRows(sourceFigures(source)).flatMap(({ name, isBroken }) => (isBroken ? [name] : []));
    expect(broken()).toEqual(['files with one reader']);

    write({
      ...Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`many/${i}.ts`, 'export {};\n'])),
      'one.ts': '',
      'two.ts': '',
      'model/long.ts': `// A.\nfunction long() {\n${'  // b\n  c();\n'.repeat(10)}}\n`,
    });

    expect(broken()).toEqual(['largest flat folder', 'loose files', 'functions: p90']);
  });
});
