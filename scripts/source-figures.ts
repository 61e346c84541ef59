import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

/** What stands in a figure's place where nothing was counted, such as the longest of no functions. */
const NOTHING = 0;

/** The rooms that speak of one feature: two lines of a file name it. */
export interface FeatureRooms {
  readonly feature: string;
  readonly rooms: number;
}

const FEATURES: Readonly<Record<string, RegExp>> = {
  ramps: /\b[Rr]amps?\b|[a-z]Ramp|ramp[A-Z]/g,
  approvals: /[Aa]pprov/g,
  kills: /\b[Kk]ills?\b|[a-z]Kill|kill[A-Z]/g,
  identities: /[Ii]dentit(?:y|ies)/g,
};

/** Words of sentences without a subject that acts, and of half sentences. */
const RIDDLES =
  /\b(?:[Tt]old|[Ww]hoever|[Nn]obody|[Ss]omebody)\b|\b(?:Null|Undefined|Absent): |\* The same\b/g;

/** Lines and lengths are counted in lines, the share goes from 0 to 1, percentiles are the next length above. */
export interface SourceFigures {
  readonly files: number;
  readonly lines: number;
  /** Pairs of files of which one imports the other, types included. */
  readonly importEdges: number;
  readonly largestFolder: { readonly name: string; readonly files: number };
  readonly looseFiles: number;
  readonly pipeline: { readonly imports: number; readonly longestFunction: number };
  /** Comparisons of a kind with one of the three. */
  readonly kindBranches: number;
  readonly configName: number;
  /** Files that exactly one other file imports. */
  readonly singleReaders: { readonly files: number; readonly share: number };
  readonly riddles: number;
  readonly features: readonly FeatureRooms[];
  readonly functions: { readonly median: number; readonly p90: number; readonly max: number };
  readonly largestFile: { readonly name: string; readonly lines: number };
}

interface SourceFile {
  /** Below `src/`, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  /** Files of `src/` that it imports, each once. */
  readonly imports: readonly string[];
  readonly importStatements: number;
  readonly functionLengths: readonly number[];
}

/**
 * Counts the TypeScript below a directory. What is generated is no work of a reader, and left out.
 *
 * @param source `src/` of a checkout.
 */
export function sourceFigures(source: string): SourceFigures {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.split('/').includes('generated'))
    .sort()
    .map((path) => readSource(source, path));
  const readers = readersOf(files);
  const single = files.filter(({ path }) => readers.get(path)?.length === 1).length;
  const text = files.map((file) => file.text).join('\n');
  const largest = files.toSorted((a, b) => b.lines - a.lines)[0];
  return {
    files: files.length,
    lines: sum(files.map(({ lines }) => lines)),
    importEdges: sum([...readers.values()].map(({ length }) => length)),
    largestFolder: largestFolder(files),
    looseFiles: files.filter(({ path }) => !path.includes('/')).length,
    pipeline: pipelineOf(files),
    kindBranches: text.match(/kind (?:===|!==) '(?:flag|segment|identities)'/g)?.length ?? NOTHING,
    configName: text.match(/configName/g)?.length ?? NOTHING,
    singleReaders: { files: single, share: files.length === 0 ? NOTHING : single / files.length },
    riddles: text.match(RIDDLES)?.length ?? NOTHING,
    features: Object.entries(FEATURES).map(([feature, word]) => ({
      feature,
      rooms: roomsThatSay(files, word),
    })),
    functions: lengths(files.flatMap(({ functionLengths }) => functionLengths)),
    largestFile: { name: largest?.path ?? '', lines: largest?.lines ?? NOTHING },
  };
}

function readSource(source: string, path: string): SourceFile {
  const text = readFileSync(join(source, path), 'utf8');
  const parsed = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.replace(/\n$/, '').split('\n');
  const statements = parsed.statements.filter(ts.isImportDeclaration);
  return {
    path,
    text,
    lines: lines.length,
    imports: importsOf(path, parsed),
    importStatements: statements.length,
    functionLengths: functionLengths(parsed),
  };
}

function lineSpan(parsed: ts.SourceFile, node: ts.Node): readonly [first: number, last: number] {
  const lineAt = (position: number): number => parsed.getLineAndCharacterOfPosition(position).line;
  return [lineAt(node.getStart(parsed)), lineAt(node.getEnd())];
}

function importsOf(path: string, parsed: ts.SourceFile): string[] {
  const targets = parsed.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return [];
    if (!moduleSpecifier.text.startsWith('.')) return [];
    const target = posix.join(posix.dirname(path), moduleSpecifier.text);
    return [target.replace(/\.js$/, '.ts')];
  });
  return [...new Set(targets)];
}

/** Of functions that have a name: their own, or that of the variable or the member which holds them. */
function functionLengths(parsed: ts.SourceFile): number[] {
  const found: number[] = [];
  const visit = (node: ts.Node): void => {
    if (isNamedFunction(node)) {
      const [first, last] = lineSpan(parsed, node);
      found.push(last - first + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

function isNamedFunction(node: ts.Node): boolean {
  if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return false;
  if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return true;
  const { parent } = node;
  return (
    ts.isVariableDeclaration(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent)
  );
}

/** File → the files that import it; only files that were counted. */
function readersOf(files: readonly SourceFile[]): Map<string, string[]> {
  const readers = new Map(files.map(({ path }) => [path, [] as string[]]));
  for (const { path, imports } of files)
    for (const target of imports) readers.get(target)?.push(path);
  return readers;
}

function largestFolder(files: readonly SourceFile[]): SourceFigures['largestFolder'] {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const [name, count] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? ['', NOTHING];
  return { name, files: count };
}

/** Of the one function that a run reads as. */
function pipelineOf(files: readonly SourceFile[]): SourceFigures['pipeline'] {
  const file = files.find(({ path }) => path === 'reconcile/reconcile.ts');
  return {
    imports: file?.importStatements ?? NOTHING,
    longestFunction: Math.max(NOTHING, ...(file?.functionLengths ?? [])),
  };
}

function roomsThatSay(files: readonly SourceFile[], word: RegExp): number {
  const saying = files.filter(({ text }) => (text.match(word)?.length ?? NOTHING) > 1);
  return new Set(saying.map(({ path }) => path.split('/')[0])).size;
}

function lengths(found: readonly number[]): SourceFigures['functions'] {
  const sorted = found.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(part * sorted.length)] ?? NOTHING;
  return { median: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? NOTHING };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
