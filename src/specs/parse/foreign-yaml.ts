import { isMap, isScalar, isSeq, type Scalar } from 'yaml';
import { SourceText } from './source-text.js';
import { parseYaml } from './yaml-file.js';

/** A value of a YAML file that is no spec of ours. A scalar is the text that stands in the file, whatever it looks like. */
export interface ForeignNode {
  /** Counts from 1. */
  readonly line: number;
  /** Of a scalar. One without a text, as in `key:`, is empty. */
  readonly text?: string;
  /** Of a list. */
  readonly items?: readonly ForeignNode[];
  /** Of a mapping, in the order of the file. */
  readonly members?: ReadonlyMap<string, ForeignNode>;
}

export type ForeignYaml =
  | { readonly ok: true; readonly root: ForeignNode }
  | { readonly ok: false; readonly line: number; readonly message: string };

/**
 * The one document of a foreign file, or the first thing that stops it from being read. Never throws on account of its
 * content. Aliases, tags and doubled keys are refused, as in specs: they would be read as something that nobody wrote.
 */
export function parseForeignYaml(text: string): ForeignYaml {
  const source = new SourceText(text);
  const lineOf = (offset: number): number => source.location('', offset).line;
  const parsed = parseYaml(text);
  if (!parsed.ok) {
    const { span, message } = parsed.problem;
    return { ok: false, line: lineOf(span.from), message };
  }
  try {
    return { ok: true, root: nodeOf(parsed.document.contents, lineOf) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, line: error.line, message: error.message };
  }
}

class Refusal extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

function nodeOf(node: unknown, lineOf: (offset: number) => number): ForeignNode {
  const from = (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0;
  const line = lineOf(from);
  if (isScalar(node)) return { line, text: textOf(node) };
  if (isSeq(node)) return { line, items: node.items.map((item) => nodeOf(item, lineOf)) };
  if (!isMap(node)) throw new Refusal(line, 'aliases are not read');
  const members = new Map<string, ForeignNode>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) throw new Refusal(line, 'a key is a text');
    const name = textOf(key);
    const at = lineOf(key.range?.[0] ?? from);
    if (members.has(name)) throw new Refusal(at, `"${name}" stands twice in one mapping`);
    members.set(name, value === null ? { line: at, text: '' } : nodeOf(value, lineOf));
  }
  return { line, members };
}

/** The spelling of the file; only without one, as of an empty value, is there nothing. */
function textOf({ source }: Scalar): string {
  return source ?? '';
}
