import { isMap, isScalar, isSeq, type Scalar, type YAMLSeq } from 'yaml';
import { byCodeUnits, sortedSet } from '../../model/json.js';
import type { FileKind } from '../../model/ref.js';
import type { SchemaName } from '../parse/schemas.js';
import { typedValue } from '../parse/typed-value.js';
import { parseYaml } from '../parse/yaml-file.js';
import { needsQuotes } from './yaml-text.js';

/** @param text a valid file of the kind. */
export function formattedText(kind: FileKind, text: string): string {
  if (kind === 'identities-csv') return text;
  return kind === 'keys' ? formattedKeys(text) : formattedSpec(kind, text);
}

/**
 * A valid spec in the format of `fmt`: quotes around texts that other YAML tools would take for a number, a boolean, a
 * date or null; sets sorted; no white space at the ends of lines. Only these places of the text are replaced, so no
 * comment is lost, and the spec keeps its meaning. Doing it twice changes nothing more.
 */
export function formattedSpec(kind: SchemaName, text: string): string {
  const quoted = patched(text, quotes(kind, text));
  return withoutLooseEnds(patched(quoted, sortings(kind, quoted)));
}

/** A list with comments or blank lines among its keys was ordered on purpose, and keeps its order. */
export function formattedKeys(text: string): string {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const first = lines.findIndex((line) => isKey(line));
  if (first === -1 || !lines.slice(first).every(isKey)) return text;
  const keys = sortedSet(lines.slice(first).map((line) => line.trim()));
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  return [...lines.slice(0, first), ...keys].map((line) => `${line}${end}`).join('');
}

function isKey(line: string): boolean {
  return line.trim() !== '' && !line.trim().startsWith('#');
}

interface Patch {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function patched(text: string, patches: readonly Patch[]): string {
  let end = text.length;
  let result = '';
  for (const patch of patches.toSorted((a, b) => b.from - a.from)) {
    result = `${patch.text}${text.slice(patch.to, end)}${result}`;
    end = patch.from;
  }
  return `${text.slice(0, end)}${result}`;
}

/** A value of a document, with the names that lead to it and its parsed value. */
interface Visited {
  readonly node: unknown;
  readonly value: unknown;
  readonly path: readonly string[];
  readonly isKey: boolean;
}

function* visited(kind: SchemaName, text: string): Generator<Visited> {
  const yaml = parseYaml(text);
  if (!yaml.ok) throw new Error('bug: a spec to be formatted is no YAML');
  const { value } = typedValue(yaml.document, kind);
  yield* below({ node: yaml.document.contents, value, path: [], isKey: false });
}

function* below(at: Visited): Generator<Visited> {
  yield at;
  const { node, value, path } = at;
  const members = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (isMap(node)) {
    for (const { key, value: member } of node.items) {
      const name = isScalar(key) ? (key.source ?? '') : '';
      yield { node: key, value: name, path, isKey: true };
      yield* below({ node: member, value: members[name], path: [...path, name], isKey: false });
    }
  } else if (isSeq(node)) {
    for (const [position, item] of node.items.entries()) {
      const name = String(position);
      yield* below({ node: item, value: members[name], path: [...path, name], isKey: false });
    }
  }
}

function quotes(kind: SchemaName, text: string): Patch[] {
  const patches: Patch[] = [];
  for (const { node, value } of visited(kind, text)) {
    if (!isPlain(node) || typeof value !== 'string' || value === '') continue;
    const [from, to] = node.range ?? [0, 0];
    if (!text.slice(from, to).includes('\n') && needsQuotes(value)) {
      patches.push({ from, to, text: JSON.stringify(value) });
    }
  }
  return patches;
}

function isPlain(node: unknown): node is Scalar {
  return isScalar(node) && node.type === 'PLAIN';
}

/** Lists whose order means nothing, by the member that holds them. */
const SETS: ReadonlySet<string> = new Set([
  'tags',
  'keys',
  'treatments',
  'unmanaged',
  'segments',
  'flags',
  'in',
  'startsWith',
  'endsWith',
  'contains',
  'setEquals',
  'setAnyOf',
  'setAllOf',
  'setPartOf',
]);

/** Whether the order of a list is meaningless. Where no schema applies, a member of that name may be anything. */
function isSet(path: readonly string[]): boolean {
  const isForeign = ['configuration', 'configurationSchema', 'matcher', 'attributes', 'lint'].some(
    (name) => path.includes(name),
  );
  const isTargets = path.at(-2) === 'targets' && (path.length === 2 || path[0] === 'environments');
  return !isForeign && (isTargets || SETS.has(path.at(-1) ?? ''));
}

/** Reorders the elements of sets; comments behind them move along. */
function sortings(kind: SchemaName, text: string): Patch[] {
  const patches: Patch[] = [];
  for (const { node, path, isKey: isName } of visited(kind, text)) {
    if (isName || !isSeq(node) || !isSet(path)) continue;
    const slots = slotsOf(node, text);
    if (!slots) continue;
    const sorted = slots.toSorted((a, b) => byCodeUnits(a.value, b.value));
    for (const [position, { from, to }] of slots.entries()) {
      const next = sorted[position];
      if (next) patches.push({ from, to, text: text.slice(next.from, next.to) });
    }
  }
  return patches;
}

interface Slot {
  readonly from: number;
  readonly to: number;
  readonly value: string;
}

/**
 * The elements of a list, in a block each with the rest of its line, which may be a comment. Null if one takes several
 * lines, or anything else separates them: comments and blank lines group elements.
 */
function slotsOf({ items, flow }: YAMLSeq, text: string): Slot[] | null {
  const between = flow === true ? /^\s*,\s*$/ : /^[ \t]*\r?\n[ \t]*-[ \t]+$/;
  const slots: Slot[] = [];
  for (const item of items) {
    const slot = slotOf(item, text);
    const before = slots.at(-1);
    if (!slot || (before && !between.test(text.slice(before.to, slot.from)))) return null;
    const rest = flow === true ? '' : REST_OF_LINE.exec(text.slice(slot.to))?.[0];
    if (rest === undefined) return null;
    slots.push({ ...slot, to: slot.to + rest.trimEnd().length });
  }
  return slots;
}

/** Nothing but white space and a comment. */
const REST_OF_LINE = /^[ \t]*(?:#[^\r\n]*)?(?=\r?\n|$)/;

function slotOf(item: unknown, text: string): Slot | null {
  if (!isScalar(item) || !item.range) return null;
  const [from, to] = item.range;
  return text.slice(from, to).includes('\n') ? null : { from, to, value: item.source ?? '' };
}

/** Removes white space at the ends of lines, except inside multi-line texts; ends the text with a line feed. */
function withoutLooseEnds(text: string): string {
  const inside = textSpans(text);
  const isInside = (at: number): boolean => inside.some(({ from, to }) => at >= from && at < to);
  const trimmed = text.replace(/(?<![ \t])[ \t]+(?=\r?\n|$)/g, (space, at: number) => {
    return isInside(at) ? space : '';
  });
  return trimmed.endsWith('\n') || isInside(text.length - 1) ? trimmed : `${trimmed}\n`;
}

/** Scalars that take several lines, up to the end of the last line. */
function textSpans(text: string): { from: number; to: number }[] {
  const yaml = parseYaml(text);
  const root = yaml.ok ? yaml.document.contents : null;
  const spans: { from: number; to: number }[] = [];
  for (const { node } of below({ node: root, value: null, path: [], isKey: false })) {
    if (!isScalar(node) || !node.range) continue;
    const [from, valueEnd, nodeEnd] = node.range;
    const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
    const to = isBlock ? nodeEnd : valueEnd;
    if (text.slice(from, to).includes('\n')) spans.push({ from, to });
  }
  return spans;
}
