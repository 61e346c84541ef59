import { Ajv2020, type ErrorObject, type Options } from 'ajv/dist/2020.js';
import type { FlagSpec } from '../../generated/flag.schema.d.js';
import { Memory, ownMember } from '../../model/collections.js';
import {
  invalid,
  valid,
  type Checked,
  type Diagnostic,
  type SpecFault,
  type SpecPath,
} from '../../model/diagnostic.js';
import { canonicalJson, partsOf, valueAt } from '../../model/json.js';
import { expressionOf } from '../../model/matcher/expression.js';
import type { SpecFile } from '../parse/parse-file.js';
import type { SpecOf, SpecSet } from './spec-set.js';

const JUDGED = new Memory<SpecFile, readonly Diagnostic[]>();

/** What is wrong with the configurations of a flag, by its own schema, or with that. */
export function configurationDiagnostics(
  flag: SpecOf<FlagSpec>,
  { overlays: all }: Pick<SpecSet, 'overlays'>,
): readonly Diagnostic[] {
  const { file, spec } = flag;
  const overlays = all.filter((each) => each.spec.flag === spec.flag);
  const from = overlays.map((each) => each.file);
  return JUDGED.of(file, from, () => {
    const schema = ownSchemaOf(spec.configurationSchema ?? {});
    if (schema.ok) return [flag, ...overlays].flatMap((each) => mismatches(each, schema.value));
    return schema.faults.map((fault) => file.fault(['configurationSchema'], fault));
  });
}

/** @param spec of a flag's file, or of an overlay, which has no environments inside. */
function mismatches(
  { file, spec }: SpecOf<Pick<FlagSpec, 'environments'> & Partial<Pick<FlagSpec, 'treatments'>>>,
  faultsIn: OwnSchema,
): Diagnostic[] {
  const blocks = file.keys('environments').map((name) => ({
    path: ['environments', name],
    treatments: ownMember(spec.environments, name)?.treatments,
  }));
  return [{ path: [], treatments: spec.treatments }, ...blocks].flatMap(({ path, treatments }) =>
    Object.entries(treatments ?? {}).flatMap(([name, treatment]) => {
      const { configuration = null } = typeof treatment === 'string' ? {} : treatment;
      // Null takes the configuration away.
      if (configuration === null) return [];
      return faultsIn(configuration).map((fault) =>
        file.fault([...path, 'treatments', name, 'configuration'], {
          ...fault,
          message: `configuration of "${name}" ${fault.message}`,
        }),
      );
    }),
  );
}

/** Finds the faults of one value; each path leads into that value. */
type OwnSchema = (value: unknown) => SpecFault[];

/** Limit for the values of a schema, each counted as often as references reach it. */
const MOST_VALUES = 20_000;
/** Limit for the values of a schema times the UTF-16 code units of the configuration as JSON. */
const MOST_WORK = 50_000_000;

/** Keywords by which `$ref` could mean more than a place in the same schema. */
const UNUSED: ReadonlySet<string> = new Set(['$id', '$anchor', '$dynamicRef', '$dynamicAnchor']);

const OPTIONS: Options = {
  allErrors: true,
  logger: false,
  ownProperties: true,
  validateFormats: false,
  code: { regExp: Object.assign(patternOf, { code: 'patternOf' }) },
};

/** Holds the meta-schema alone, because an instance keeps what it once compiled. */
const meta = new Ajv2020(OPTIONS);

/**
 * Compiles a JSON Schema (2020-12) of a spec. Its author is untrusted: it loads nothing, and neither a pattern, nor
 * repeated elements, nor references to references take more than the size of schema and value explain.
 */
function ownSchemaOf(written: object): Checked<OwnSchema> {
  // Values of files inherit nothing, and the comparisons of the library call methods.
  const schema: object = structuredClone(written);
  const weighed = { root: schema, open: new Set<unknown>(), faults: [] as SpecFault[] };
  try {
    const weight = weightOf(schema, [], weighed);
    const [refused] = weighed.faults;
    if (refused) return invalid(refused);
    if (meta.validateSchema(schema) !== true) {
      return invalid(...toldApart(meta.errors ?? []).map((each) => schemaFault(...wordsOf(each))));
    }
    const ajv = new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false });
    ajv.removeKeyword('uniqueItems').addKeyword(UNIQUE_ITEMS);
    const validate = ajv.compile(schema);
    return valid((value) => {
      if (weight * JSON.stringify(value).length > MOST_WORK) {
        return [fault([], 'is too large for its configurationSchema')];
      }
      if (validate(structuredClone(value))) return [];
      return toldApart(validate.errors ?? []).map((each) => fault(...wordsOf(each)));
    });
  } catch (error) {
    return invalid(schemaFault([], (error as Error).message));
  }
}

function fault(path: SpecPath, words: string): SpecFault {
  return { code: 'configuration-mismatch', path, at: 'value', message: words };
}

function schemaFault(path: SpecPath, why: string): SpecFault {
  const message = `configurationSchema is no JSON Schema that can be used: ${why}`;
  return { code: 'configuration-schema', path, at: 'value', message };
}

/** The default of the library takes time by the square of the number of elements. */
const UNIQUE_ITEMS = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  validate: (isWanted: boolean, items: readonly unknown[]) =>
    !isWanted || new Set(items.map(canonicalJson)).size === items.length,
} as const;

function patternOf(pattern: string): { test(text: string): boolean; toString(): string } {
  const expression = expressionOf(pattern);
  if (expression === undefined) throw new Error(`pattern "${pattern}" cannot be used`);
  return { test: (text) => expression.isIn(text), toString: () => pattern };
}

/** Errors without those of alternatives, of which the sentence about all of them says enough. */
function toldApart(errors: readonly ErrorObject[]): ErrorObject[] {
  const told = errors.filter(({ keyword }) => keyword !== 'if');
  const alternatives = told.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  return told.filter(
    (each) =>
      alternatives.includes(each) ||
      !alternatives.some(({ instancePath }) =>
        `${each.instancePath}/`.startsWith(`${instancePath}/`),
      ),
  );
}

/** The place of an error, and the end of a sentence about it. */
function wordsOf({ instancePath, message, params }: ErrorObject): [SpecPath, string] {
  const { additionalProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  const known = additionalProperty ?? allowedValues ?? allowedValue;
  const detail = known === undefined ? '' : `: ${JSON.stringify(known)}`;
  const place = instancePath === '' ? '' : `at ${instancePath} `;
  return [partsOf(instancePath), `${place}${message ?? 'is wrong'}${detail}`];
}

interface Weighed {
  readonly root: object;
  /** The values that contain the current one, or refer to it. */
  readonly open: Set<unknown>;
  readonly faults: SpecFault[];
}

/** The number of values of a schema, with those that references reach. Stops at the first fault. */
function weightOf(value: unknown, path: SpecPath, weighed: Weighed): number {
  if (typeof value !== 'object' || value === null) return 1;
  const { root, open, faults } = weighed;
  if (open.has(value)) faults.push(schemaFault(path, 'it refers to itself'));
  if (faults.length > 0) return 0;
  open.add(value);
  let weight = 1;
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    if (typeof member === 'string' && UNUSED.has(name)) {
      faults.push(schemaFault(at, `"${name}" has no meaning here; ${WAY_OUT}`));
    } else if (typeof member === 'string' && name === '$ref') {
      const inside = /^#(?:\/|$)/.test(member) && partsOf(decodeURIComponent(member.slice(1)));
      const target = inside ? valueAt(root, inside) : undefined;
      if (target === undefined) faults.push(schemaFault(at, refusal(member)));
      else weight += weightOf(target, at, weighed);
    } else {
      weight += weightOf(member, at, weighed);
    }
    if (weight > MOST_VALUES) faults.push(schemaFault([], 'it is too large'));
    if (faults.length > 0) break;
  }
  open.delete(value);
  return weight;
}

const WAY_OUT = 'refer to "#/$defs/…" of the schema itself';

function refusal(reference: string): string {
  if (reference.startsWith('#/')) return `"${reference}" is not in it`;
  return `"${reference}" is not followed, because nothing is fetched; ${WAY_OUT}`;
}
