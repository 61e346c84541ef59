import { Composer, isMap, isScalar, isSeq, Lexer, Parser, type CST, type Document } from 'yaml';
import { problemAt, SourceText, type Problem, type Span } from './source-text.js';

/** Depth limit of the parser. One level of nesting takes about two of its states. */
const MAX_STACK = 128;

type ParsedYaml =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly problem: Problem };

/** The one document of a YAML 1.2 file, or its first problem: later ones mostly follow from it. */
export function parseYaml(text: string): ParsedYaml {
  const tokens = tokensOf(text);
  if (!Array.isArray(tokens)) return { ok: false, problem: tokens };
  const directive = tokens.find(({ type }) => type === 'directive');
  if (directive !== undefined) return feature(directive.offset, 'a directive');
  const documents = [
    ...new Composer({
      version: '1.2',
      // Leaves plain scalars as text: the walk types them by what the schema expects.
      schema: 'failsafe',
      uniqueKeys: false,
      logLevel: 'silent',
    }).compose(tokens, true, text.length),
  ];
  const [document, second] = documents;
  if (document === undefined) throw new Error('bug: no document composed');
  const [error] = document.errors;
  if (error !== undefined) {
    const [from, to] = error.pos;
    return failed('yaml-syntax', { from, to }, `not YAML: ${error.message}`);
  }
  if (second !== undefined) return feature(second.range[0], 'a second document');
  if (document.contents === null) {
    return failed('yaml-syntax', { from: 0, to: 0 }, 'the file is empty');
  }
  return { ok: true, document };
}

/** Limits the depth: the composer is recursive, and a malicious file would exhaust the stack. */
function tokensOf(text: string): CST.Token[] | Problem {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_STACK) {
      const { offset } = parser;
      const span = { from: offset, to: offset + 1 };
      return problemAt('nested-too-deeply', span, 'nested too deeply');
    }
  }
  tokens.push(...parser.end());
  return tokens;
}

function feature(from: number, what: string): ParsedYaml {
  return failed('yaml-feature', { from, to: from + 1 }, `${what} is not allowed in a spec`);
}

function failed(code: Problem['code'], span: Span, message: string): ParsedYaml {
  return { ok: false, problem: problemAt(code, span, message) };
}

/** A value of a YAML file that is not one of our specs. A scalar is its text in the file, whatever it looks like. */
export interface ForeignNode {
  /** Counts from 1. */
  readonly line: number;
  /** For a scalar; empty without a text, as in `key:`. */
  readonly text?: string;
  /** For a list. */
  readonly items?: readonly ForeignNode[];
  /** For a mapping, in the order of the file. */
  readonly members?: ReadonlyMap<string, ForeignNode>;
}

/**
 * Refuses aliases, tags and duplicate keys, as in specs: their result would differ from the written text.
 * @param refusal makes the error for the first problem that prevents reading it.
 */
export function parseForeignYaml(
  text: string,
  refusal: (line: number, why: string) => Error,
): ForeignNode {
  const source = new SourceText(text);
  const lineOf = (offset: number): number => source.location('', offset).line;
  const nodeOf = (node: unknown): ForeignNode => {
    const from = (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0;
    const line = lineOf(from);
    if (isScalar(node)) return { line, text: node.source ?? '' };
    if (isSeq(node)) return { line, items: node.items.map(nodeOf) };
    if (!isMap(node)) throw refusal(line, 'aliases are not read');
    const members = new Map<string, ForeignNode>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) throw refusal(line, 'a key is a text');
      const name = key.source ?? '';
      const at = lineOf(key.range?.[0] ?? from);
      if (members.has(name)) throw refusal(at, `"${name}" stands twice in one mapping`);
      members.set(name, value === null ? { line: at, text: '' } : nodeOf(value));
    }
    return { line, members };
  };
  const parsed = parseYaml(text);
  if (parsed.ok) return nodeOf(parsed.document.contents);
  throw refusal(lineOf(parsed.problem.span.from), parsed.problem.message);
}
