import type { SchemaName } from './schemas.js';
import { placesIn, pointerOf, type Place } from './typed-value.js';
import { parseYaml } from './yaml-file.js';

type Path = readonly (string | number)[];

/**
 * Where the values of a file stand.
 *
 * Every reading asks where the keys of the first levels begin, of each of ten thousand files; those are kept, as plain
 * offsets in the order of the file. All other places are asked for where something is wrong, and found by parsing the
 * file once more: kept, they would weigh several times what the values do.
 */
export class FilePlaces {
  readonly #kind: SchemaName;
  readonly #text: string;
  readonly #value: unknown;
  readonly #marks: readonly number[];
  #all: ReadonlyMap<string, Place> | undefined;

  /** @param marks of `typedValue`: the file's own beginning, then each key of a level followed by those inside. */
  constructor(
    kind: SchemaName,
    { text, value, marks }: { text: string; value: unknown; marks: readonly number[] },
  ) {
    this.#kind = kind;
    this.#text = text;
    this.#value = value;
    this.#marks = marks;
  }

  /** Undefined: no value stands there. */
  at(path: Path): Place | undefined {
    this.#all ??= allPlaces(this.#kind, this.#text);
    return this.#all.get(pointerOf(path));
  }

  /** Where the key of a value begins, or, where it is no member, the value itself. */
  startOf(path: Path): number | undefined {
    const index = markOf(this.#value, path);
    if (index !== undefined) return this.#marks[index];
    const place = this.at(path);
    return (place?.key ?? place?.value)?.from;
  }

  /** Keys of a mapping in the order of the file; empty where there is no mapping. */
  keys(path: Path): readonly string[] {
    const value = path.reduce((at, part) => memberOf(at, part), this.#value);
    if (!isMapping(value)) return [];
    return orderedKeys(value) ?? this.at(path)?.keys ?? [];
  }
}

function allPlaces(kind: SchemaName, text: string): ReadonlyMap<string, Place> {
  const yaml = parseYaml(text);
  return yaml.ok ? placesIn(yaml.document, kind) : new Map();
}

/** Position among the marks; undefined for what has none. */
function markOf(value: unknown, [first, second, third]: Path): number | undefined {
  if (third !== undefined) return undefined;
  if (first === undefined) return 0;
  let mark = 1;
  for (const key of (isMapping(value) ? orderedKeys(value) : undefined) ?? []) {
    const member = memberOf(value, key);
    const inside = isMapping(member) ? orderedKeys(member) : [];
    if (inside === undefined) return undefined;
    if (key === first && second === undefined) return mark;
    if (key === first) {
      const position = inside.indexOf(String(second));
      return position === -1 ? undefined : mark + 1 + position;
    }
    mark += 1 + inside.length;
  }
  return undefined;
}

const LIKE_A_NUMBER = /^(?:0|[1-9]\d*)$/;

/** Undefined where an object cannot say in which order the file has them: it puts those that look like numbers first. */
function orderedKeys(mapping: object): string[] | undefined {
  const keys = Object.keys(mapping);
  return keys.some((key) => LIKE_A_NUMBER.test(key)) ? undefined : keys;
}

function memberOf(value: unknown, part: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, part)
    ? (value as Readonly<Record<string | number, unknown>>)[part]
    : undefined;
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
