import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

/** What stands in a figure's place where nothing was counted, such as the longest of no functions. */
const NOTHING = 0;

/** Comment lines by (code + comment lines), and what they are of. */
export interface CommentShare {
  readonly room: string;
  readonly share: number;
}

/** Lines and lengths are counted in lines, shares go from 0 to 1, percentiles are the next length above. */
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
  readonly commentShare: number;
  /** Of every folder of `src/`, the lowest first. */
  readonly roomComments: readonly CommentShare[];
  readonly functions: { readonly median: number; readonly p90: number; readonly max: number };
  readonly largestFile: { readonly name: string; readonly lines: number };
}

interface SourceFile {
  /** Below `src/`, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly codeLines: number;
  readonly commentLines: number;
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
    commentShare: commentShare(files),
    roomComments: roomComments(files),
    functions: lengths(files.flatMap(({ functionLengths }) => functionLengths)),
    largestFile: { name: largest?.path ?? '', lines: largest?.lines ?? NOTHING },
  };
}

function readSource(source: string, path: string): SourceFile {
  const text = readFileSync(join(source, path), 'utf8');
  const parsed = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.replace(/\n$/, '').split('\n');
  const code = linesOfCode(parsed);
  const filled = lines.filter((line) => line.trim() !== '').length;
  const statements = parsed.statements.filter(ts.isImportDeclaration);
  return {
    path,
    text,
    lines: lines.length,
    codeLines: code.size,
    // Whatever is neither empty nor touched by a word of the language is a comment.
    commentLines: Math.max(filled - code.size, 0),
    imports: importsOf(path, parsed),
    importStatements: statements.length,
    functionLengths: functionLengths(parsed),
  };
}

/** The lines, counted from 0, on which a word of the language stands; empty ones inside a text are none. */
function linesOfCode(parsed: ts.SourceFile): Set<number> {
  const texts = parsed.text.split('\n');
  const lines = new Set<number>(parsed.text.startsWith('#!') ? [0] : []);
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(parsed).filter((child) => !ts.isJSDoc(child));
    if (children.length > 0) {
      for (const child of children) visit(child);
      return;
    }
    if (node.getWidth(parsed) === 0) return;
    const [first, last] = lineSpan(parsed, node);
    for (let line = first; line <= last; line += 1) if (texts[line]?.trim() !== '') lines.add(line);
  };
  visit(parsed);
  return lines;
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

/** Of the one function that a run reads as, wherever the checkout keeps it. */
function pipelineOf(files: readonly SourceFile[]): SourceFigures['pipeline'] {
  const at = (path: string): SourceFile | undefined => files.find((file) => file.path === path);
  const file = at('reconcile/reconcile.ts') ?? at('reconcile.ts');
  return {
    imports: file?.importStatements ?? NOTHING,
    longestFunction: Math.max(NOTHING, ...(file?.functionLengths ?? [])),
  };
}

function commentShare(files: readonly SourceFile[]): number {
  const comments = sum(files.map(({ commentLines }) => commentLines));
  const all = comments + sum(files.map(({ codeLines }) => codeLines));
  return all === 0 ? NOTHING : comments / all;
}

function roomComments(files: readonly SourceFile[]): CommentShare[] {
  const rooms = new Map<string, SourceFile[]>();
  for (const file of files) {
    const [room = '', inside] = file.path.split('/');
    if (inside !== undefined) rooms.set(room, [...(rooms.get(room) ?? []), file]);
  }
  return [...rooms]
    .map(([room, inside]) => ({ room, share: commentShare(inside) }))
    .toSorted((a, b) => a.share - b.share);
}

function lengths(found: readonly number[]): SourceFigures['functions'] {
  const sorted = found.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(part * sorted.length)] ?? NOTHING;
  return { median: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? NOTHING };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
