import { schemaOf, type Schema, type SchemaName } from './schemas.js';

/** A schema, and the document that its own references start from. */
interface Candidate {
  readonly schema: Schema;
  readonly root: SchemaName;
}

const NO_SCHEMA: readonly Candidate[] = [];

/**
 * What the schemas say of a place: references followed, alternatives laid side by side. Every file of a kind asks the
 * same of the same places, so what was worked out is kept; there are as many of these as schemas name members.
 */
export class Expected {
  /** JSON types that a scalar may have here; empty where no schema says anything. */
  readonly scalarTypes: ReadonlySet<string>;
  readonly #candidates: readonly Candidate[];
  /** Of the members that a schema names. */
  readonly #members = new Map<string, Expected>();
  #others: Expected | undefined;
  #items: Expected | undefined;

  constructor(candidates: readonly Candidate[]) {
    this.#candidates = candidates;
    this.scalarTypes = new Set(candidates.flatMap(({ schema }) => typesOf(schema)));
  }

  member(name: string): Expected {
    if (!this.#candidates.some(({ schema }) => isNamed(schema, name))) {
      return (this.#others ??= this.#memberFrom(
        ({ additionalProperties }) => additionalProperties,
      ));
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

  #memberFrom(pick: (schema: Schema) => Schema | boolean | undefined): Expected {
    const found = this.#candidates.flatMap(({ schema, root }) => {
      const member = pick(schema);
      return typeof member === 'object' ? expand({ schema: member, root }) : [];
    });
    return found.length === 0 ? ANYTHING : new Expected(found);
  }
}

/** Where no schema says anything. */
const ANYTHING = new Expected(NO_SCHEMA);

const roots = new Map<SchemaName, Expected>();

/** What the schema of a kind of file says of the file as a whole. */
export function expectedOf(name: SchemaName): Expected {
  const known = roots.get(name);
  if (known !== undefined) return known;
  const expected = new Expected(expand({ schema: schemaOf(name), root: name }));
  roots.set(name, expected);
  return expected;
}

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

function expand({ schema, root }: Candidate): Candidate[] {
  if (schema.$ref !== undefined) return expand(follow(schema.$ref, root));
  if (schema.anyOf !== undefined)
    return schema.anyOf.flatMap((each) => expand({ schema: each, root }));
  return [{ schema, root }];
}

function follow(ref: string, root: SchemaName): Candidate {
  const [document = '', fragment = ''] = ref.split('#');
  const name = document === '' ? root : (document.replace('.schema.json', '') as SchemaName);
  const found = fragment
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => (at as Readonly<Record<string, unknown>>)[part], schemaOf(name));
  if (found === undefined) throw new Error(`bug: no schema at ${ref}`);
  return { schema: found as Schema, root: name };
}
