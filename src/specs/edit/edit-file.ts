import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Pair,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { FLAG_FIELDS_IN_FILE } from '../../model/flag/fields.js';
import { DEFINITION_FIELDS_IN_FILE } from '../../model/flag/flag.js';
import { commonPositions } from '../../model/collections.js';
import { sameJson } from '../../model/json.js';
import { DOCUMENT_OPTIONS, nodeOf, TEXT_OPTIONS, type Written, mapping } from './yaml-text.js';

/** At a path of member names. Everything else stays as it is, comments and spelling included. */
export type Edit =
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: Written }
  | { readonly kind: 'unset'; readonly path: readonly string[] }
  | {
      readonly kind: 'texts';
      /** A list of texts whose order does not matter. */
      readonly path: readonly string[];
      readonly add: readonly string[];
      readonly remove: ReadonlySet<string>;
    }
  | {
      readonly kind: 'rules';
      readonly path: readonly string[];
      readonly rules: readonly EditedRule[];
    };

/** A rule of the new list: one of the old list (`from` is its position there), or a new one. */
export interface EditedRule {
  readonly value: Written;
  readonly from?: number;
  readonly replace?: {
    readonly member: 'if' | 'serve';
    readonly value: Written;
    readonly dropsSteps?: boolean;
  };
}

const MEMBER_ORDER = [
  'flag',
  'environment',
  'description',
  'trafficType',
  ...FLAG_FIELDS_IN_FILE.filter((field) => field !== 'description'),
  ...DEFINITION_FIELDS_IN_FILE,
  'unmanaged',
] as const;

/** A spec after the edits, made one after the other. @param text a valid spec. */
export function editedText(text: string, edits: readonly Edit[]): string {
  // A byte order mark would count as a column, and the library drops it.
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return mark + edits.reduce(editedOnce, text.slice(mark.length));
}

/** Even one without a value. */
export function hasMember(text: string, path: readonly string[]): boolean {
  return parsed(text).hasIn(path);
}

function editedOnce(text: string, edit: Edit): string {
  const document = parsed(text);
  const options = { ...TEXT_OPTIONS, ...styleOf(document, text) };
  const before = document.toString(options);
  apply(document, edit);
  const after = document.toString(options);
  const edited = withOldLines(text, before, after);
  // Where a file indents its parts unlike each other, old lines do not fit beside new ones.
  const read = parsed(edited);
  const isWhole = read.errors.length === 0 && sameJson(read.toJS(), document.toJS());
  return isWhole ? edited : after.replaceAll('\n', text.includes('\r\n') ? '\r\n' : '\n');
}

function parsed(text: string): Document {
  return parseDocument(text, DOCUMENT_OPTIONS);
}

/** The indentation of the file's first mapping and list, so that new lines look like the old ones. */
function styleOf(document: Document, text: string): { indent?: number; indentSeq?: boolean } {
  const style: { indent?: number; indentSeq?: boolean } = {};
  const columnOf = ({ range }: Node): number => {
    const [at = 0] = range ?? [];
    return at - text.lastIndexOf('\n', at - 1);
  };
  visit(document, (_, pair) => {
    if (!isPair(pair) || !isNode(pair.key) || !isCollection(pair.value)) return;
    if (pair.value.flow === true || pair.value.items.length === 0) return;
    const indent = columnOf(pair.value) - columnOf(pair.key);
    if (isSeq(pair.value)) style.indentSeq ??= indent > 0;
    else style.indent ??= Math.min(indent, 8);
  });
  return style;
}

function apply(document: Document, edit: Edit): void {
  const [name, ...above] = [...edit.path].reverse();
  if (name === undefined) throw new Error('bug: an edit without a path');
  const parent = mapAt(document, above.reverse());
  const pair = pairOf(parent, name);
  if (edit.kind === 'unset') {
    parent.items = parent.items.filter((each) => each !== pair);
    return;
  }
  const held = pair?.value as Node | null | undefined;
  const value = edited(held, edit);
  if (isSeq(value) && isNode(value.items[0])) value.items[0].spaceBefore = false;
  if (pair) pair.value = withComments(value, held);
  else insert(parent, name, value);
}

function insert(map: YAMLMap, name: string, value: Node): void {
  const { items, commentBefore } = map;
  const place = placeOf(map, name);
  const key = items[0]?.key;
  // To the library a comment above the first member belongs to the mapping.
  if (place === 0 && commentBefore && isNode(key)) {
    key.commentBefore = commentBefore;
    delete map.commentBefore;
  }
  items.splice(place, 0, new Pair(nodeOf(name), value) as never);
}

function edited(held: Node | null | undefined, edit: Exclude<Edit, { kind: 'unset' }>): Node {
  switch (edit.kind) {
    case 'set':
      return nodeOf(edit.value);
    case 'texts':
      if (!isSeq(held)) return nodeOf(edit.add);
      held.items = [
        ...held.items.filter((item) => !edit.remove.has(textOf(item))),
        ...edit.add.map((text) => nodeOf(text)),
      ];
      return held;
    case 'rules':
      return editedRules(held, edit.rules);
  }
}

function editedRules(held: Node | null | undefined, rules: readonly EditedRule[]): Node {
  if (!isSeq(held)) return nodeOf(rules.map(({ value }) => value));
  const old = [...held.items];
  held.items = rules.map((rule) => ruleNode(rule, old));
  moveFirstComment(held, old[0]);
  return held;
}

function ruleNode({ value, from, replace }: EditedRule, old: readonly unknown[]): Node {
  const held = from === undefined ? undefined : old[from];
  if (!isMap(held)) return nodeOf(value);
  const pair = replace && pairOf(held, replace.member);
  if (pair) pair.value = withComments(nodeOf(replace.value), pair.value as Node | null);
  if (replace?.dropsSteps === true) held.delete('ramp');
  return held;
}

/** To the library a comment above the first rule belongs to the list. */
function moveFirstComment(list: YAMLSeq, first: unknown): void {
  const { commentBefore } = list;
  if (!commentBefore || !isMap(first) || list.items.indexOf(first) <= 0) return;
  first.commentBefore = [commentBefore, first.commentBefore].filter(Boolean).join('\n');
  delete list.commentBefore;
}

function withComments(fresh: Node, old: Node | null | undefined): Node {
  if (!old || fresh === old) return fresh;
  const { comment, commentBefore, spaceBefore } = old;
  if (comment) fresh.comment = comment;
  if (commentBefore) fresh.commentBefore = commentBefore;
  if (spaceBefore === true) fresh.spaceBefore = true;
  return fresh;
}

/** The mapping at a path, created if it is missing. */
function mapAt(document: Document, path: readonly string[]): YAMLMap {
  let map = document.contents as unknown;
  for (const name of path) {
    if (!isMap(map)) break;
    const known = pairOf(map, name);
    const next = isMap(known?.value) ? known.value : nodeOf(new Map());
    if (!known) insert(map, name, next);
    else if (known.value !== next) known.value = next;
    // Empty mappings are written on one line, but this one will be filled.
    if (isMap(next) && next.items.length === 0 && !map.flow) next.flow = false;
    map = next;
  }
  if (!isMap(map)) throw new Error(`bug: no mapping at ${path.join('/')}`);
  return map;
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => textOf(key) === name);
}

/** The text of a scalar as the file spells it; empty for everything else. */
function textOf(node: unknown): string {
  return isScalar(node) ? (node.source ?? String(node.value)) : '';
}

/** After the last member that precedes it in the usual order; at the end if that order does not contain it. */
function placeOf(map: YAMLMap, name: string): number {
  const rank = (member: string): number => MEMBER_ORDER.indexOf(member as never);
  if (rank(name) === -1) return map.items.length;
  const ranks = map.items.map(({ key }) => rank(textOf(key)));
  const before = ranks.map((each) => each !== -1 && each < rank(name));
  return before.lastIndexOf(true) + 1;
}

/**
 * The library rewrites a whole file in its own style. Takes the lines that an edit did not touch from the old text, if
 * the library changed only their white space. @param before and `after`: old and edited text as the library writes them.
 */
function withOldLines(old: string, before: string, after: string): string {
  const [was, is] = [before.split('\n'), after.split('\n')];
  const stood = spelling(old.split('\n'), was);
  const end = old.includes('\r\n') ? '\r' : '';
  const kept = commonPositions(was, is);
  return is
    .flatMap((line, position) => {
      const from = kept.get(position);
      const spelled = from === undefined ? undefined : stood[from];
      if (spelled !== undefined) return [spelled];
      // The library puts a blank line above a comment at the end.
      if (from !== undefined && line === '' && was[from + 1]?.startsWith('#') === true) return [];
      return [line + (line === '' ? '' : end)];
    })
    .join('\n');
}

/** Each line of `was` in the old text, with the empty lines after it; undefined where the library changed more. */
function spelling(old: readonly string[], was: readonly string[]): (string | undefined)[] {
  if (old.length === was.length) return [...old];
  const bare = (line: string): string => line.replaceAll(/\s/g, '');
  const from = commonPositions(old.map(bare), was.map(bare));
  const used = new Set(from.values());
  return was.map((_, position) => {
    const start = from.get(position);
    if (start === undefined) return undefined;
    let end = start + 1;
    while (end < old.length && !used.has(end) && old[end]?.trim() === '') end += 1;
    return old.slice(start, end).join('\n');
  });
}

/** An entry of a break-glass list; `since` is a moment as specs write it. */
export interface KillEntry {
  readonly reason: string;
  readonly since: string;
}

/** Undefined if the text is no break-glass list. @param text undefined for a new file. */
export function withKillEntry(
  text: string | undefined,
  flag: string,
  { reason, since }: KillEntry,
): string | undefined {
  const list = text ?? 'kills: {}\n';
  if (!isList(list)) return undefined;
  const value = mapping(['reason', reason], ['since', since]);
  return editedText(list, [{ kind: 'set', path: ['kills', flag], value }]);
}

/** Undefined if the text is no break-glass list. */
export function withoutKillEntry(text: string, flag: string): string | undefined {
  if (!isList(text)) return undefined;
  const path = ['kills', flag];
  return hasMember(text, path) ? editedText(text, [{ kind: 'unset', path }]) : text;
}

/** Whether the text can be edited as a list of kills; broken YAML cannot. */
function isList(text: string): boolean {
  const document = parsed(text);
  return document.errors.length === 0 && isMap(document.get('kills'));
}

export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** Counts from 1, in the new text; for a removed line, the position that it would have. */
  readonly line: number;
}

const CONTEXT = 2;

/** The lines in which two texts differ, with two lines around each difference; empty for equal texts. */
export function differentLines(before: string, after: string): DiffLine[] {
  const [was, is] = [before.split('\n'), after.split('\n')];
  const kept = commonPositions(was, is);
  const all: DiffLine[] = [];
  let old = 0;
  for (const [position, text] of [...is, undefined].entries()) {
    const from = text === undefined ? was.length : kept.get(position);
    const line = position + 1;
    if (from !== undefined) {
      for (; old < from; old += 1) all.push({ sign: '-', text: was[old] ?? '', line });
      old = from + 1;
    }
    if (text !== undefined) all.push({ sign: from === undefined ? '+' : ' ', text, line });
  }
  const isShown = (at: number): boolean =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' ');
  return all.filter((_, at) => isShown(at));
}
