import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeEntries, entriesOf } from '../../../src/cli/code-entries.js';
import { CHANGE_CODES } from '../../../src/model/outcome.js';
import { WHY_WORDS } from '../../../src/report/plan-report.js';
import { RISKS } from '../../../src/model/impact.js';
import { LINT_RULES } from '../../../src/lint/lint.js';
import { DIAGNOSTIC_CODES } from '../../../src/specs/codes.js';
import { cliRun } from '../../support/terminal.js';
import { projectText } from '../docs/page.js';

const SOURCES = join(import.meta.dirname, '../../../src');
/** The lists of codes by the section of a page that explains them, and how often each stands in tables of `src`. */
const EXPLAINED: Readonly<Record<string, { codes: readonly string[]; listed: number }>> = {
  'docs/diagnostics.md': { codes: DIAGNOSTIC_CODES, listed: 0 },
  'docs/lint.md': { codes: LINT_RULES.map(({ code }) => code), listed: 0 },
  'docs/operations.md#errors': { codes: errorCodes(), listed: 1 },
  'docs/operations.md#errors-of-one-write': { codes: CHANGE_CODES, listed: 1 },
  'docs/plan.md#what-is-withheld': { codes: Object.keys(WHY_WORDS), listed: 2 },
  'docs/impact.md#risks': { codes: RISKS, listed: 2 },
};

/** The codes of errors that end a run; a list of them is nowhere needed but here. */
function errorCodes(): string[] {
  const [, table = ''] =
    /const EXIT_OF_CODE = \{([^}]*)\}/.exec(projectText('src/errors.ts')) ?? [];
  return [...table.matchAll(/^ {2}([A-Z_]+): EXIT\./gm)].map(([, code = '']) => code);
}

/** All of `src`, but for the files that list codes. */
function sourceText(): string {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.ts') && !/^(?:specs\/codes|model\/diagnostic|generated\/)/.test(file),
    )
    .map((file) => readFileSync(join(SOURCES, file), 'utf8'))
    .join('\n');
}

describe('explain CODE', () => {
  it('offers no code that shares no letter with what was written', async () => {
    const { stderr } = await cliRun(['explain', 'a']);
    expect(stderr).toBe('cannot explain a: it is no code, and no object as flag/NAME\n');
  });

  it.each([
    [
      'bucket-sum',
      `bucket-sum · docs/diagnostics.md#flags
  means: Sizes do not sum to 100, or more than one is \`rest\`.
  way out: Correct the sizes, or write \`rest\` for one of them.
`,
    ],
    [
      'zero-bucket',
      `zero-bucket · docs/lint.md#rules-and-buckets
  level: warning
  why: A bucket of 0 % serves no key, and reads as if some got the treatment.
  way out: Leave the bucket out.
`,
    ],
  ])('says of %s what the page says, and which page that is', async (code, text) => {
    expect(await cliRun(['explain', code])).toEqual({ exitCode: 0, stderr: '', stdout: text });
  });

  it.each([
    ...['UNREACHABLE', 'unreachable', '6', 'CHANGED_MEANWHILE', 'drift-reported'],
    ...['maxShift', 'fullFlip', 'emptyRepository', 'anotherWorkspace', 'state-not-shared'],
  ])('knows %s, however it is written', async (code) => {
    const [entry] = await entriesOf(code);

    expect(entry?.code.toLowerCase()).toBe(code.toLowerCase());
    expect(Object.keys(entry?.said ?? {}).length).toBeGreaterThan(0);
  });

  it('puts what a link leads to behind its words', () => {
    const page = '# A page\n\n| code | way out |\n| --- | --- |\n| `x` | [see](#y), [or](z.md) |\n';

    expect(codeEntries(page, 'docs/p.md')).toEqual([
      {
        code: 'x',
        page: 'docs/p.md#a-page',
        said: { 'way out': 'see (docs/p.md#y), or (docs/z.md)' },
      },
    ]);
  });

  it('prints the same as JSON, and asks what was meant by another word', async () => {
    const { stdout } = await cliRun(['explain', 'OLDER_HEAD', '--format', 'json']);

    expect(JSON.parse(stdout)).toMatchObject({
      formatVersion: 1,
      entries: [{ code: 'OLDER_HEAD', page: 'docs/operations.md#errors', said: { exit: '7' } }],
    });
    const { exitCode, stderr } = await cliRun(['explain', 'bucket-sun']);

    expect(exitCode).toBe(64);
    expect(stderr).toContain('did you mean "bucket-sum"?');
  });
});

describe('a code', () => {
  it.each(Object.entries(EXPLAINED))(
    'that %s explains is one that there is, and is used',
    (place, { codes, listed }) => {
      const [page = ''] = place.split('#');
      const entries = codeEntries(projectText(page), page).filter((entry) =>
        place.includes('#') ? entry.page === place : true,
      );

      expect(entries.map(({ code }) => code).toSorted()).toEqual([...codes].toSorted());
      const text = sourceText();
      const timesOf = (code: string): number =>
        [...text.matchAll(new RegExp(`(?<=^|[\\s'(])${code}(?=[':,)])`, 'gm'))].length;
      expect(codes.filter((code) => timesOf(code) <= listed)).toEqual([]);
    },
  );

  it('has a way out wherever the page has a column for it', () => {
    const pages = ['diagnostics', 'lint', 'operations', 'plan'].flatMap((name) =>
      codeEntries(projectText(`docs/${name}.md`), `docs/${name}.md`),
    );
    const without = pages.filter(
      ({ page, said }) =>
        /diagnostics|lint|#errors|withheld/.test(page) && !said['way out'] && !said['what to do'],
    );

    expect(pages.length).toBeGreaterThan(80);
    expect(without).toEqual([]);
  });
});
