import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Schema as YamlSchema,
  type Document,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { schemaNameOf, schemaOf, type Schema, type SchemaName } from './schemas.js';
import { problemAt, type Problem, type Span } from './source-text.js';
import { keptIn } from '../../model/collections.js';
import type { SpecPath } from '../../model/diagnostic.js';
import { isContainer, isRecord, memberOf, partsOf, valueAt } from '../../model/json.js';

/** The key is missing for elements of lists and for the whole file. */
export interface Place {
  readonly key?: Span;
  readonly value: Span;
}

/**
 * The positions of all values of a file, in its order, a value before those inside it. Four offsets each: beginning and
 * end of its key (both 0 without one), beginning and end of the value. Ten thousand files keep theirs.
 */
export type Spans = Uint16Array | Uint32Array;

const OFFSETS = 4;

/**
 * The value of a document, each plain scalar typed by the schema's expectation at its place: a number where a number
 * belongs, otherwise the text in the file. Without an expectation the core schema of YAML 1.2 decides.
 */
export function typedValue(document: Document, name: SchemaName) {
  const walk = new Walk();
  const value = walk.visit(document.contents, expectedOf(name), null);
  return { value, spans: packed(walk.offsets), problems: walk.problems };
}

/** The offsets in the smallest type of array that holds them. */
function packed(offsets: readonly number[]): Spans {
  // The first value contains all others, so its end is the largest offset.
  const end = offsets[OFFSETS - 1] ?? 0;
  return end < 2 ** 16 ? new Uint16Array(offsets) : new Uint32Array(offsets);
}

/** The place of a value of a file; undefined if there is no such value. @param root the value of the file. */
export function placeIn(spans: Spans, root: unknown, path: SpecPath): Place | undefined {
  let index = 0;
  let value = root;
  let isMember = false;
  for (const part of path) {
    const position = isContainer(value) ? fileKeys(value).indexOf(String(part)) : -1;
    if (position === -1) return undefined;
    isMember = isRecord(value);
    index += OFFSETS;
    for (let left = position; left > 0; left -= 1) index = nextSibling(spans, index);
    value = memberOf(value, part);
  }
  const span = (at: number): Span => ({ from: spans[at] ?? 0, to: spans[at + 1] ?? 0 });
  return { ...(isMember && { key: span(index) }), value: span(index + 2) };
}

/** Values inside a value begin before its end or, if empty, at it; its neighbour begins behind a separator. */
function nextSibling(spans: Spans, index: number): number {
  const end = spans[index + 3] ?? 0;
  let next = index + OFFSETS;
  while (next < spans.length && (spans[next + 2] ?? 0) <= end) next += OFFSETS;
  return next;
}

/** Keys that JavaScript objects sort before all others. */
const LIKE_A_NUMBER = /^(?:0|[1-9]\d*)$/;

/** Mappings that do not have their keys in the order of the file, because some of these look like numbers. */
const REORDERED = new WeakMap<object, readonly string[]>();

/** The keys of a mapping in the order of the file, or the positions of a list. */
export function fileKeys(value: object): readonly string[] {
  return REORDERED.get(value) ?? Object.keys(value);
}

/**
 * A mapping of a file. It inherits nothing, so that a key such as __proto__ is an ordinary key. `Object.create(null)`
 * would serve too, but V8 keeps such objects as tables, at several times the size.
 */
class Mapping {
  readonly [name: string]: unknown;
}
Reflect.deleteProperty(Mapping.prototype, 'constructor');
Object.setPrototypeOf(Mapping.prototype, null);

class Walk {
  readonly offsets: number[] = [];
  readonly problems: Problem[] = [];

  /**
   * The JSON value of a node. Reports YAML features that specs do not have as problems, and continues.
   *
   * @param key the key's node; null if the value has no key.
   */
  visit(node: unknown, expected: Expected, key: unknown): unknown {
    const span = spanOf(node) ?? spanOf(key) ?? NOWHERE;
    const own = key === null ? NOWHERE : (spanOf(key) ?? span);
    this.offsets.push(own.from, own.to, span.from, span.to);
    if (isAlias(node)) {
      this.#refuse(span, 'an alias (*name)');
      return undefined;
    }
    this.#refuseProperties(node, span);
    // First, because most values are scalars.
    if (isScalar(node)) return this.#scalar(node, expected, span);
    if (isMap(node)) return this.#map(node, expected, span);
    if (!isSeq(node)) return null;
    const items = expected.item();
    return node.items.map((item) => this.visit(item, items, null));
  }

  /** The members of a mapping. The first value of a duplicate key counts. */
  #map(node: YAMLMap, expected: Expected, span: Span): unknown {
    const mapping: Record<string, unknown> = new Mapping();
    const names: string[] = [];
    for (const { key, value } of node.items) {
      const keySpan = spanOf(key) ?? span;
      const name = this.#keyText(key, keySpan);
      if (name === undefined) continue;
      if (Object.hasOwn(mapping, name)) {
        this.#add('duplicate-key', keySpan, `"${name}" stands here twice`);
        continue;
      }
      names.push(name);
      mapping[name] = this.visit(value, expected.member(name), key);
    }
    if (names.some((name) => LIKE_A_NUMBER.test(name))) REORDERED.set(mapping, names);
    return mapping;
  }

  /** The text of a key; undefined, with a problem, for a key that is not plain text. */
  #keyText(key: unknown, span: Span): string | undefined {
    if (!isScalar(key)) {
      this.#refuse(span, isAlias(key) ? 'an alias (*name)' : 'a key that is no text');
      return undefined;
    }
    this.#refuseProperties(key, span);
    const text = this.#text(key, span);
    if (key.type === 'PLAIN' && text === '<<') {
      this.#refuse(span, 'a merge key (<<)');
      return undefined;
    }
    return text;
  }

  /** Reports what the service refuses in any text. A half pair comes from an escape alone, since files are UTF-8. */
  #text({ source = '' }: Scalar, span: Span): string {
    if (source.includes('\0') || !source.isWellFormed()) {
      const what = 'a null character or half of a surrogate pair, which the service cannot store';
      this.#add('wrong-value', span, `the text holds ${what} (remove it)`);
    }
    return source;
  }

  #scalar(node: Scalar, { scalarTypes: types }: Expected, span: Span): unknown {
    const text = this.#text(node, span);
    if (node.type !== 'PLAIN') return text;
    // An empty plain scalar is null, not a text.
    if (text === '') return null;
    // A scalar that can only be text is not tested for other types.
    const mayBe = (type: string): boolean => types.size === 0 || types.has(type);
    const mayBeNumber = mayBe('number') || mayBe('integer');
    if (!mayBeNumber && !mayBe('boolean')) return text;
    const value = coreValue(text);
    if (typeof value === 'number' && mayBeNumber) {
      if (!isExactNumber(value)) {
        this.#add('number-precision', span, `${text} is no number that JSON can carry exactly`);
      }
      return value;
    }
    if (typeof value === 'boolean' && mayBe('boolean')) return value;
    return value === null && types.size === 0 ? null : text;
  }

  #refuseProperties(node: unknown, span: Span): void {
    const { anchor, tag } = (node ?? {}) as { readonly anchor?: string; readonly tag?: string };
    if (anchor !== undefined) this.#refuse(span, 'an anchor (&name)');
    if (tag !== undefined) this.#refuse(span, 'a tag (!name)');
  }

  #refuse(span: Span, what: string): void {
    this.#add('yaml-feature', span, `${what} is not allowed in a spec`);
  }

  #add(code: Problem['code'], span: Span, message: string): void {
    this.problems.push(problemAt(code, span, message));
  }
}

/** By the core schema of YAML 1.2: null, boolean, number, or the text itself. */
function coreValue(text: string): unknown {
  const tag = CORE_TAGS.find((each) => each.test?.test(text) === true);
  const value = tag?.resolve(text, () => undefined, {}) ?? text;
  return isScalar(value) ? value.value : value;
}

const CORE_TAGS = new YamlSchema({ schema: 'core' }).tags.filter((tag) => !tag.collection);

const NOWHERE: Span = { from: 0, to: 0 };

/** Undefined for a value or a key that is empty. */
function spanOf(node: unknown): Span | undefined {
  const range = (node as { range?: readonly number[] | null } | null)?.range;
  return range ? { from: range[0] ?? 0, to: range[1] ?? 0 } : undefined;
}

/** A schema, and the document that its own references start from. */
interface Candidate {
  readonly schema: Schema;
  readonly root: SchemaName;
}

const NO_SCHEMA: readonly Candidate[] = [];

/**
 * The schemas' expectations for a place: references followed, alternatives side by side. Every file of a kind asks
 * about the same places, so results are kept; there are as many as schemas name members.
 */
class Expected {
  /** JSON types that a scalar may have here; empty without an expectation. */
  readonly scalarTypes: ReadonlySet<string>;
  readonly #candidates: readonly Candidate[];
  readonly #members = new Map<string, Expected>();
  #others: Expected | undefined;
  #items: Expected | undefined;

  constructor(candidates: readonly Candidate[]) {
    this.#candidates = candidates;
    this.scalarTypes = new Set(candidates.flatMap(({ schema }) => typesOf(schema)));
  }

  member(name: string): Expected {
    if (!this.#candidates.some(({ schema }) => isNamed(schema, name))) {
      this.#others ??= this.#memberFrom(({ additionalProperties }) => additionalProperties);
      return this.#others;
    }
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const found = this.#memberFrom((schema) =>
      isNamed(schema, name) ? schema.properties?.[name] : schema.additionalProperties,
    );
    this.#members.set(name, found);
    return found;
  }

  item(): Expected {
    return (this.#items ??= this.#memberFrom(({ items }) => items));
  }

  /** Follows all alternatives at once. */
  #memberFrom(pick: (schema: Schema) => Schema | boolean | undefined): Expected {
    const found = this.#candidates.flatMap(({ schema, root }) => {
      const member = pick(schema);
      return typeof member === 'object' ? expand({ schema: member, root }) : [];
    });
    return found.length === 0 ? ANYTHING : new Expected(found);
  }
}

const ANYTHING = new Expected(NO_SCHEMA);

const roots = new Map<SchemaName, Expected>();

function expectedOf(name: SchemaName): Expected {
  return keptIn(roots, name, () => new Expected(expand({ schema: schemaOf(name), root: name })));
}

/** Names the member, instead of just allowing it. */
function isNamed({ properties }: Schema, name: string): boolean {
  return properties !== undefined && Object.hasOwn(properties, name);
}

function typesOf({ type, const: only, enum: several }: Schema): string[] {
  return [
    ...[type ?? []].flat(),
    ...(only === undefined ? [] : [typeof only]),
    ...(several ?? []).map((each) => typeof each),
  ];
}

/** The alternatives of a schema, with references followed. */
function expand({ schema, root }: Candidate): Candidate[] {
  const { $ref, anyOf } = schema;
  if ($ref !== undefined) return expand(follow($ref, root));
  return anyOf?.flatMap((each) => expand({ schema: each, root })) ?? [{ schema, root }];
}

/** The target of a reference, in the same document or in that of another kind. */
function follow(ref: string, root: SchemaName): Candidate {
  const [document = '', fragment = ''] = ref.split('#');
  const name = document === '' ? root : schemaNameOf(document);
  const found = name && valueAt(schemaOf(name), partsOf(fragment));
  if (name === undefined || found === undefined) throw new Error(`bug: no schema at ${ref}`);
  return { schema: found as Schema, root: name };
}

/** Whole numbers beyond 2^53, and those too large for a number, change on their way through JSON. */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}
