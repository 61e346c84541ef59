import type { ErrorObject } from 'ajv/dist/2020.js';
import { schemaErrors } from './schema-errors.js';
import type { Schema, SchemaName } from './schemas.js';
import type { Problem } from './source-text.js';
import { didYouMean, nearest } from './suggest.js';
import { pointerOf, type Place } from './typed-value.js';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
};

/**
 * Where the value departs from its schema: one problem for each mistake.
 *
 * @param placesIn asked for where there is any.
 */
export function schemaProblems(
  name: SchemaName,
  value: unknown,
  placesIn: () => ReadonlyMap<string, Place>,
): Problem[] {
  const errors = schemaErrors(name, value);
  if (errors.length === 0) return [];
  const places = placesIn();
  const seen = new Set<string>();
  return collapsed(withoutEchoes(errors))
    .map((error) => toProblem(error, places))
    .filter((problem) => {
      const identity = `${problem.pointer ?? ''} ${problem.message}`;
      return !seen.has(identity) && Boolean(seen.add(identity));
    });
}

/** A required field that is there under a misspelt name is one mistake, not two. */
function withoutEchoes(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword, instancePath, params }) => {
    if (keyword !== 'required') return true;
    const missing = String(params['missingProperty']);
    return !errors.some(
      (each) =>
        each.keyword === 'additionalProperties' &&
        each.instancePath === instancePath &&
        nearest(String(each.params['additionalProperty']), propertiesOf(each)) === missing,
    );
  });
}

function propertiesOf(error: ErrorObject): string[] {
  return Object.keys((error.parentSchema as Schema).properties ?? {});
}

/**
 * Alternatives in our schemas differ in type. So of each, the branches of another type are dropped; where the branch
 * of the right type says more, that stands, otherwise the words for the whole.
 */
function collapsed(errors: readonly ErrorObject[]): ErrorObject[] {
  const alternatives = errors.filter(({ keyword }) => keyword === 'anyOf');
  const places = new Set(alternatives.map(({ instancePath }) => instancePath));
  const telling = errors.filter(
    ({ keyword, instancePath }) =>
      keyword !== 'anyOf' &&
      !(places.has(instancePath) && (keyword === 'type' || keyword === 'const')),
  );
  const silent = alternatives.filter(
    ({ instancePath }) =>
      ![...telling, ...alternatives].some(
        (each) =>
          each.instancePath.startsWith(`${instancePath}/`) ||
          (each.instancePath === instancePath && each.keyword !== 'anyOf'),
      ),
  );
  return [...telling, ...silent];
}

function toProblem(error: ErrorObject, places: ReadonlyMap<string, Place>): Problem {
  const { keyword, params, instancePath } = error;
  const parent = error.parentSchema as Schema;
  if (keyword === 'additionalProperties') {
    const field = String(params['additionalProperty']);
    const hint = didYouMean(field, propertiesOf(error));
    const pointer = `${instancePath}${pointerOf([field])}`;
    return problem(
      'unknown-field',
      placeOf(places, pointer, 'key'),
      `unknown field "${field}"${hint}`,
      pointer,
    );
  }
  if (keyword === 'required') {
    const message = `"${String(params['missingProperty'])}" is missing`;
    return problem('missing-field', placeOf(places, instancePath, 'key'), message, instancePath);
  }
  const subject = instancePath === '' ? 'the file' : `"${lastPart(instancePath)}"`;
  const span = placeOf(places, instancePath, 'value');
  const code = keyword === 'type' || keyword === 'anyOf' ? 'wrong-type' : 'wrong-value';
  if (error.data === null) return problem(code, span, `${subject} has no value`, instancePath);
  return problem(code, span, `${subject} must be ${expectation(error, parent)}`, instancePath);
}

function expectation({ keyword, params, data, message }: ErrorObject, parent: Schema): string {
  if (keyword === 'type') {
    const types = [params['type'] as string | string[]].flat();
    return parent['x-expected'] ?? types.map((type) => TYPE_WORDS[type] ?? type).join(' or ');
  }
  if (keyword === 'enum') {
    const values = (params['allowedValues'] as unknown[]).map(String);
    const hint = typeof data === 'string' ? didYouMean(data, values) : '';
    return `one of ${values.map((value) => `"${value}"`).join(', ')}${hint}`;
  }
  if (keyword === 'minimum') return `${String(params['limit'])} or more`;
  if (keyword === 'maximum') return `${String(params['limit'])} or less`;
  if (keyword === 'minLength') return 'longer than nothing';
  if (keyword === 'minItems' || keyword === 'minProperties') {
    return `at least ${String(params['limit'])} long`;
  }
  if (keyword === 'maxItems' || keyword === 'maxProperties') {
    return `at most ${String(params['limit'])} long`;
  }
  return parent['x-expected'] ?? message ?? keyword;
}

function placeOf(
  places: ReadonlyMap<string, Place>,
  pointer: string,
  at: 'key' | 'value',
): Problem['span'] {
  const place = places.get(pointer);
  if (place === undefined) return { from: 0, to: 1 };
  return at === 'key'
    ? (place.key ?? { from: place.value.from, to: place.value.from + 1 })
    : place.value;
}

function problem(
  code: Problem['code'],
  span: Problem['span'],
  message: string,
  pointer: string,
): Problem {
  return { severity: 'error', code, span, message, pointer };
}

function lastPart(pointer: string): string {
  const part = pointer.slice(pointer.lastIndexOf('/') + 1);
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
