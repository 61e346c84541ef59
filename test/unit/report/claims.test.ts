import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The only places that may claim that something is as git orders. */
const SPEAKERS: ReadonlySet<string> = new Set([
  'src/model/verdict.ts',
  'src/report/view/verdict.ts',
]);

/** "What is live" names the side of the service and claims nothing of it. */
const CLAIM =
  /\b(in sync|in line|up to date|up-to-date|all (good|well)|as git (says|orders) now)\b|(?<!\bwhat )\b(is|are|was|were) (all )?(live|fine|well)\b/i;

/** The texts in the code of a file, comments left out. */
function textsOf(path: string, code: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true));
  return texts;
}

function claimsIn(path: string, code: string): string[] {
  // Most files have no such words at all, and to parse all of them takes seconds.
  if (!CLAIM.test(code)) return [];
  return textsOf(path, code)
    .filter((text) => CLAIM.test(text))
    .map((text) => `${path}: ${text}`);
}

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path}`)
  .filter((path) => path.endsWith('.ts') && !path.startsWith('src/generated/'));

describe('a claim that something is in sync', () => {
  it('is made by the verdict alone', () => {
    const others = files.filter((path) => !SPEAKERS.has(path));

    expect(
      others.flatMap((path) => claimsIn(path, readFileSync(join(ROOT, path), 'utf8'))),
    ).toEqual([]);
  });

  it.each([
    "const text = 'In sync.';",
    'const text = `Everything is up to date: ${String(3)} objects`;',
    "const text = 'all flags are live';",
    'const text = html`<p>${name} is fine</p>`;',
  ])('is found in %s', (code) => {
    expect(claimsIn('src/some.ts', code)).toHaveLength(1);
  });

  it.each(["const text = 'what is live and not in git';", '// It is in sync here.\nf();'])(
    'is not seen in %s',
    (code) => {
      expect(claimsIn('src/some.ts', code)).toEqual([]);
    },
  );
});
