import { isMap, isScalar, isSeq } from 'yaml';
import { SourceText } from './source-text.js';
import { parseYaml } from './yaml-file.js';

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

type ForeignYaml =
  | { readonly ok: true; readonly root: ForeignNode }
  | { readonly ok: false; readonly line: number; readonly message: string };

/**
 * The one document of a foreign file, or the first problem that prevents reading it. Never throws because of the
 * content. Refuses aliases, tags and duplicate keys, as in specs: their result would differ from the written text.
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
  if (isScalar(node)) return { line, text: node.source ?? '' };
  if (isSeq(node)) return { line, items: node.items.map((item) => nodeOf(item, lineOf)) };
  if (!isMap(node)) throw new Refusal(line, 'aliases are not read');
  const members = new Map<string, ForeignNode>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) throw new Refusal(line, 'a key is a text');
    const name = key.source ?? '';
    const at = lineOf(key.range?.[0] ?? from);
    if (members.has(name)) throw new Refusal(at, `"${name}" stands twice in one mapping`);
    members.set(name, value === null ? { line: at, text: '' } : nodeOf(value, lineOf));
  }
  return { line, members };
}
