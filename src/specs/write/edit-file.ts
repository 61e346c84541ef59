import {
  isMap,
  isScalar,
  isSeq,
  Pair,
  parseDocument,
  type Document,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { withOldLines } from './old-lines.js';
import { DOCUMENT_OPTIONS, nodeOf, TEXT_OPTIONS, type Written } from './yaml-text.js';

/** One edit of a YAML file, at a path of member names. What it does not name stays as it is, comments included. */
export type Edit =
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: Written }
  | { readonly kind: 'unset'; readonly path: readonly string[] }
  | {
      readonly kind: 'texts';
      /** A list of texts, seen as a set. */
      readonly path: readonly string[];
      readonly add: readonly string[];
      readonly remove: ReadonlySet<string>;
    }
  | {
      readonly kind: 'rules';
      readonly path: readonly string[];
      readonly rules: readonly EditedRule[];
    };

/** A rule of the new list: one of the old list, that one with one member replaced, or a new one. */
export interface EditedRule {
  readonly value: Written;
  readonly from?: number;
  readonly replace?: { readonly member: 'if' | 'serve'; readonly value: Written };
}

/** Where members stand that are new in a mapping. */
const MEMBER_ORDER = [
  'flag',
  'environment',
  'description',
  'trafficType',
  'rolloutStatus',
  'tags',
  'treatments',
  'defaultTreatment',
  'baselineTreatment',
  'killed',
  'trafficAllocation',
  'targets',
  'rules',
  'defaultRule',
  'unmanaged',
] as const;

/** @param text a valid spec. */
export function editedText(text: string, edits: readonly Edit[]): string {
  return edits.reduce(editedOnce, text);
}

/** Whether the file has anything at the path. */
export function hasMember(text: string, path: readonly string[]): boolean {
  return memberAt(parsed(text), path) !== undefined;
}

function editedOnce(text: string, edit: Edit): string {
  const document = parsed(text);
  const options = { ...TEXT_OPTIONS, ...styleOf(text) };
  const before = document.toString(options);
  apply(document, edit);
  return withOldLines(text, before, document.toString(options));
}

function parsed(text: string): Document {
  return parseDocument(text, DOCUMENT_OPTIONS);
}

/** The file's own indentation, read off its first indented lines. */
function styleOf(text: string): { indent: number; indentSeq: boolean } {
  const indent = /^( +)[^ #\-\n]/m.exec(text)?.[1]?.length ?? 2;
  return { indent: Math.min(indent, 8), indentSeq: !/^( *)[^ #\-\n][^\n]*:\r?\n\1- /m.test(text) };
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
  if (pair) pair.value = withComments(value, held);
  else parent.items.splice(placeOf(parent, name), 0, new Pair(nodeOf(name), value) as never);
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
    case 'rules': {
      const old = isSeq(held) ? [...held.items] : [];
      const rules = nodeOf(edit.rules.map(({ value }) => value));
      const list = isSeq(held) ? held : rules;
      if (!isSeq(list)) throw new Error('bug: rules are no list');
      list.items = edit.rules.map((rule) => ruleNode(rule, old));
      moveFirstComment(list, old[0]);
      return list;
    }
  }
}

function ruleNode({ value, from, replace }: EditedRule, old: readonly unknown[]): Node {
  const held = from === undefined ? undefined : old[from];
  if (!isMap(held)) return nodeOf(value);
  const pair = replace && pairOf(held, replace.member);
  if (pair) pair.value = withComments(nodeOf(replace.value), pair.value as Node | null);
  return held;
}

/** A comment above the first item is the list's own to the library; it moves along with that item. */
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

function mapAt(document: Document, path: readonly string[]): YAMLMap {
  let map = document.contents as unknown;
  for (const name of path) {
    if (!isMap(map)) break;
    const known = pairOf(map, name);
    const next = isMap(known?.value) ? known.value : nodeOf(new Map());
    if (!known) map.items.splice(placeOf(map, name), 0, new Pair(nodeOf(name), next) as never);
    else if (known.value !== next) known.value = next;
    // An empty mapping is written on one line; this one is about to be filled.
    if (isMap(next) && next.items.length === 0 && !map.flow) next.flow = false;
    map = next;
  }
  if (!isMap(map)) throw new Error(`bug: no mapping at ${path.join('/')}`);
  return map;
}

function memberAt(document: Document, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) => (isMap(at) ? pairOf(at, name)?.value : undefined),
    document.contents,
  );
}

/** Keys are the text that stands in the file. */
function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => textOf(key) === name);
}

function textOf(node: unknown): string {
  if (!isScalar(node)) return '';
  const { source, value } = node;
  return source ?? String(value);
}

/** Behind the last member that comes before it in the usual order; at the end where there is no such order. */
function placeOf(map: YAMLMap, name: string): number {
  const rank = (member: string): number => MEMBER_ORDER.indexOf(member as never);
  if (rank(name) === -1) return map.items.length;
  const ranks = map.items.map(({ key }) => rank(textOf(key)));
  const before = ranks.map((each) => each !== -1 && each < rank(name));
  return before.lastIndexOf(true) + 1;
}
