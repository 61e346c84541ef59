import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../../src/compose/settings.js';
import { combinedExitCode } from '../../../src/cli/directories.js';
import { EXIT, FlagkeelError, type ErrorCode, type ExitCode } from '../../../src/errors.js';
import { bare, projectText, rowsOf, sectionOf } from './page.js';

const PAGE = projectText('docs/operations.md');
const exitCodes = rowsOf(sectionOf(PAGE, '## Exit codes'));
const errors = rowsOf(sectionOf(PAGE, '## Errors'));

describe('docs/operations.md', () => {
  it('explains exactly the exit codes that there are', () => {
    expect(exitCodes.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });

  it('says which exit code wins over several directories', () => {
    const [, order = ''] = /code is the first of\s+([\d,\s]+?) that occurs/.exec(PAGE) ?? [];
    const codes = order.split(/,\s*/).map(Number) as ExitCode[];

    expect(codes.toSorted()).toEqual(Object.values(EXIT).toSorted());
    codes.forEach((code, i) => {
      expect(combinedExitCode(codes.slice(i).toReversed())).toBe(code);
    });
  });

  it('explains exactly the error codes that there are', () => {
    const source = projectText('src/errors.ts');
    const table = /const EXIT_OF_CODE = \{([^}]*)\}/.exec(source)?.[1] ?? '';
    const codes = [...table.matchAll(/^ {2}([A-Z_]+): EXIT\./gm)].map(([, code]) => code);

    expect(codes.length).toBeGreaterThan(0);
    expect(errors.map(([code]) => bare(code)).toSorted()).toEqual(codes.toSorted());
  });

  it.each(errors)('says how a run with %s ends, and what to do', (code, exit, meaning, wayOut) => {
    expect(new FlagkeelError(bare(code) as ErrorCode, '').exitCode).toBe(Number(exit));
    expect(meaning).not.toBe('');
    expect(wayOut).not.toBe('');
  });

  it('lists every environment variable that is read', () => {
    const listed = rowsOf(sectionOf(PAGE, '## Environment variables')).map(([name]) => bare(name));

    expect(listed.toSorted()).toEqual(Object.keys(VARIABLES).toSorted());
  });
});
