import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.js';
import { diagnosticsText } from '../../../../src/report/text/diagnostics.js';

/** A problem with `marked` in `line`; without `line` there is no excerpt. */
function aProblem(
  members: Partial<Diagnostic>,
  line?: string,
  marked: string | RegExp = '',
): Diagnostic {
  const from = line === undefined ? 0 : line.search(marked);
  const length = line === undefined ? 0 : (line.match(marked)?.[0].length ?? 0);
  return {
    severity: 'error',
    code: 'unknown-field',
    location: { file: 'flags/new-checkout.yaml', line: 12, column: from + 1 },
    message: 'unknown field "kiled"',
    ...(line === undefined ? {} : { excerpt: { text: line, from, to: from + length } }),
    ...members,
  };
}

const text = (...diagnostics: Diagnostic[]): string =>
  diagnosticsText(diagnostics, { color: false });

it('shows each problem with its line, in the order given, and ends with totals', () => {
  const printed = text(
    aProblem(
      { message: 'unknown field "kiled"; did you mean "killed"?' },
      '    kiled: true',
      'kiled',
    ),
    aProblem({
      severity: 'warning',
      code: 'stale-kill',
      location: { file: 'kills/production.yaml', line: 2, column: 3 },
      message: 'review of the kill was due',
    }),
    aProblem(
      {
        code: 'size-sum',
        location: { file: 'flags/a.yaml', line: 7, column: 14 },
        message: 'sum is 90',
      },
      'defaultRule: { on: 40, off: 50 }',
      '{ on: 40, off: 50 }',
    ),
  );

  expect(printed).toBe(
    [
      'flags/new-checkout.yaml:12:5: error[unknown-field] unknown field "kiled"; did you mean "killed"?',
      '  12 |     kiled: true',
      '     |     ^^^^^',
      '',
      'kills/production.yaml:2:3: warning[stale-kill] review of the kill was due',
      '',
      'flags/a.yaml:7:14: error[size-sum] sum is 90',
      '  7 | defaultRule: { on: 40, off: 50 }',
      '    |              ^^^^^^^^^^^^^^^^^^^',
      '',
      '2 errors, 1 warning in 3 files; more by `flagkeel explain unknown-field`',
      '',
    ].join('\n'),
  );
});

it('keeps tabs in the line of the mark, so that it stands below what it marks', () => {
  expect(text(aProblem({}, '\ta:\tkiled', 'kiled'))).toContain(
    ['  12 | \ta:\tkiled', '     | \t  \t^^^^^'].join('\n'),
  );
});

it('counts wide characters as two columns, and combining ones as none', () => {
  expect(text(aProblem({}, '名前e\u0301: 値', '値'))).toContain(
    ['  12 | 名前e\u0301: 値', '     |        ^^'].join('\n'),
  );
});

it('marks one column where the problem is at the end of the line', () => {
  expect(text(aProblem({}, 'flag:', /$/))).toContain(['  12 | flag:', '     |      ^'].join('\n'));
});

it('shows of a very long line what lies around the problem', () => {
  const printed = text(aProblem({}, `${'a'.repeat(5000)}X${'b'.repeat(5000)}`, 'X'));
  const [, line = '', mark = ''] = printed.split('\n');

  expect(line).toHaveLength('  12 | '.length + 1 + 60 + 1 + 60 + 1);
  expect(mark.indexOf('^')).toBe(line.indexOf('X'));
});

it('spells out what a file would do to the terminal, and marks the right place all the same', () => {
  const printed = text(
    aProblem({ message: 'bad \u001b[31mvalue\nsecond' }, 'a\u001b[2J: \u202eX', 'X'),
  );

  expect(printed).toContain('bad <U+001B>[31mvalue second\n');
  expect(printed).toContain(
    ['  12 | a<U+001B>[2J: <U+202E>X', '     |                       ^'].join('\n'),
  );
});

it('says in colour what it says without', () => {
  const problem = aProblem({}, '    kiled: true', 'kiled');
  const colored = diagnosticsText([problem], { color: true });

  expect(colored).not.toBe(text(problem));
  expect(stripVTControlCharacters(colored)).toBe(text(problem));
});

it('is empty where nothing is wrong', () => {
  expect(text()).toBe('');
});
