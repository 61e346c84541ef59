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

/**
 * The one document of a foreign file. Refuses aliases, tags and duplicate keys, as in specs: their result would differ
 * from the written text.
 *
 * @param refusal makes the error for the first problem that prevents reading it.
 * @throws only such an error because of the content.
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
