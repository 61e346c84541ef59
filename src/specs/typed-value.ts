import { isAlias, isMap, isScalar, isSeq, type Document, type Pair, type Scalar } from 'yaml';
import {
  expand,
  itemCandidates,
  memberCandidates,
  scalarTypes,
  schemaOf,
  type Candidate,
  type SchemaName,
} from './schemas.js';
import type { Problem, Span } from './source-text.js';

/** Where a value stands, and its key if it is a member. */
export interface Place {
  readonly key?: Span;
  readonly value: Span;
  /** Keys of a mapping in the order of the file: an object would put those that look like numbers first. */
  readonly keys?: readonly string[];
}

export interface TypedValue {
  readonly value: unknown;
  /** JSON Pointer → place. */
  readonly places: ReadonlyMap<string, Place>;
  readonly problems: readonly Problem[];
}

/**
 * The value of a document, each plain scalar typed by what the schema expects at its place: a number where a number
 * belongs, otherwise the text that stands in the file. Where the schema says nothing the core schema of YAML 1.2
 * decides. Quoted scalars and mapping keys are always text.
 */
export function typedValue(document: Document, name: SchemaName): TypedValue {
  const walk = new Walk();
  const candidates = expand({ schema: schemaOf(name), root: name });
  const value = walk.visit(document.contents, candidates, { pointer: '' });
  return { value, places: walk.places, problems: walk.problems };
}

export function pointerOf(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

class Walk {
  readonly places = new Map<string, Place>();
  readonly problems: Problem[] = [];

  visit(
    node: unknown,
    candidates: readonly Candidate[],
    at: { pointer: string; key?: Span },
  ): unknown {
    const value = spanOf(node) ?? at.key ?? { from: 0, to: 0 };
    const place: Place = { ...(at.key !== undefined && { key: at.key }), value };
    this.places.set(at.pointer, place);
    if (isAlias(node)) {
      this.#refuse(value, 'an alias (*name)');
      return undefined;
    }
    this.#refuseProperties(node, value);
    if (isMap(node)) return this.#map(node.items, candidates, { pointer: at.pointer, place });
    if (isSeq(node)) {
      const items = itemCandidates(candidates);
      return node.items.map((item, i) =>
        this.visit(item, items, { pointer: `${at.pointer}/${i}` }),
      );
    }
    return isScalar(node) ? this.#scalar(node, candidates, value) : null;
  }

  #map(
    pairs: readonly Pair[],
    candidates: readonly Candidate[],
    { pointer, place }: { pointer: string; place: Place },
  ): unknown {
    // Without a prototype a key such as __proto__ is a key like any other.
    const object = Object.create(null) as Record<string, unknown>;
    const keys: string[] = [];
    for (const { key, value } of pairs) {
      const span = spanOf(key) ?? place.value;
      const name = this.#keyText(key, span);
      if (name === undefined) continue;
      if (Object.hasOwn(object, name)) {
        this.#add('duplicate-key', span, `"${name}" stands here twice`);
        continue;
      }
      keys.push(name);
      object[name] = this.visit(value, memberCandidates(candidates, name), {
        pointer: `${pointer}${pointerOf([name])}`,
        key: span,
      });
    }
    this.places.set(pointer, { ...place, keys });
    return object;
  }

  #keyText(key: unknown, span: Span): string | undefined {
    if (!isScalar(key)) {
      this.#refuse(span, isAlias(key) ? 'an alias (*name)' : 'a key that is no text');
      return undefined;
    }
    this.#refuseProperties(key, span);
    const text = key.source ?? '';
    if (key.type === 'PLAIN' && text === '<<') {
      this.#refuse(span, 'a merge key (<<)');
      return undefined;
    }
    return text;
  }

  #scalar(node: Scalar, candidates: readonly Candidate[], span: Span): unknown {
    const text = node.source ?? '';
    if (node.type !== 'PLAIN') return text;
    // Nothing written at all is no text.
    if (text === '') return null;
    const types = scalarTypes(candidates);
    const { value } = node;
    if (typeof value === 'number' || typeof value === 'bigint') {
      const wanted = types.size === 0 || types.has('number') || types.has('integer');
      if (!wanted) return text;
      const number = Number(value);
      if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))) {
        this.#add('number-precision', span, `${text} is no number that JSON can carry exactly`);
      }
      return number;
    }
    if (typeof value === 'boolean') return types.size === 0 || types.has('boolean') ? value : text;
    return value === null && types.size === 0 ? null : text;
  }

  #refuseProperties(node: unknown, span: Span): void {
    const { anchor, tag } = (node ?? {}) as { anchor?: string; tag?: string };
    if (anchor !== undefined) this.#refuse(span, 'an anchor (&name)');
    if (tag !== undefined) this.#refuse(span, 'a tag (!name)');
  }

  #refuse(span: Span, what: string): void {
    this.#add('yaml-feature', span, `${what} is not allowed in a spec`);
  }

  #add(code: Problem['code'], span: Span, message: string): void {
    this.problems.push({ severity: 'error', code, span, message });
  }
}

function spanOf(node: unknown): Span | undefined {
  const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
  return range ? { from: range[0], to: range[1] } : undefined;
}
