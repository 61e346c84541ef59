import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema, SchemaName } from './schemas.js';
import { problemAt, type Problem } from './source-text.js';
import { didYouMean, nearest, quotedList } from './suggest.js';
import type { Place } from './typed-value.js';
import { partsOf, pointerOf } from '../../model/json.js';
import * as generated from '../../generated/validators.js';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
};

/** @param placesIn called only if there is a problem, because finding all places costs a second walk. */
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
    .filter(({ pointer = '', message }) => {
      const id = `${pointer} ${message}`;
      return !seen.has(id) && Boolean(seen.add(id));
    });
}

/** Drops the error for a missing field that exists under a misspelt name, which has its own error. */
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

/** Fields that the schema allows in the place of an unknown one. */
function propertiesOf(error: ErrorObject): string[] {
  return Object.keys((error.parentSchema as Schema).properties ?? {});
}

/**
 * Reduces the errors of alternatives to the useful ones. Alternatives in our schemas differ in type, so errors about
 * another type are dropped. If the alternative of the right type has details, they are kept; otherwise the words for
 * all alternatives together.
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
    const removed = removedText(field, parent);
    const message = `unknown field "${field}"${didYouMean(field, propertiesOf(error))}`;
    const pointer = `${instancePath}${pointerOf([field])}`;
    const span = placeOf(places, pointer, 'key');
    return { ...problemAt('unknown-field', span, removed ?? message), pointer };
  }
  if (keyword === 'required') {
    const message = `"${String(params['missingProperty'])}" is missing`;
    const span = placeOf(places, instancePath, 'key');
    return { ...problemAt('missing-field', span, message), pointer: instancePath };
  }
  const subject = instancePath === '' ? 'the file' : `"${partsOf(instancePath).at(-1) ?? ''}"`;
  const code = keyword === 'type' || keyword === 'anyOf' ? 'wrong-type' : 'wrong-value';
  const fault = error.data === null ? 'has no value' : `must be ${expectation(error, parent)}`;
  const span = placeOf(places, instancePath, 'value');
  return { ...problemAt(code, span, `${subject} ${fault}`), pointer: instancePath };
}

/** The end of a sentence with "must be". */
function expectation({ keyword, params, data, message }: ErrorObject, parent: Schema): string {
  if (keyword === 'type') {
    const types = [params['type'] as string | string[]].flat();
    return parent['x-expected'] ?? types.map((type) => TYPE_WORDS[type] ?? type).join(' or ');
  }
  if (keyword === 'enum') {
    const values = (params['allowedValues'] as unknown[]).map(String);
    const choice = `one of ${quotedList(values)}`;
    if (typeof data !== 'string') return choice;
    const removed = removedText(data, parent);
    return choice + (removed === undefined ? didYouMean(data, values) : `; ${removed}`);
  }
  const limit = LIMIT_WORDS[keyword]?.replace('LIMIT', String(params['limit']));
  return limit ?? parent['x-expected'] ?? message ?? keyword;
}

const LIMIT_WORDS: Readonly<Record<string, string>> = {
  minimum: 'LIMIT or more',
  maximum: 'LIMIT or less',
  minLength: 'longer than nothing',
  minItems: 'at least LIMIT long',
  minProperties: 'at least LIMIT long',
  maxItems: 'at most LIMIT long',
  maxProperties: 'at most LIMIT long',
};

/** How to replace a word that an earlier version accepted; undefined for other words. */
function removedText(word: string, { 'x-removed': removed = {} }: Schema): string | undefined {
  return Object.hasOwn(removed, word) ? `"${word}" was removed: ${removed[word] ?? ''}` : undefined;
}

/** The place of a value or of its key; the beginning of the file if it cannot be found. */
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

/** Compiled ahead of time, because compiling schemas takes longer than most runs use them. */
const VALIDATORS = {
  config: generated.config,
  flag: generated.flag,
  'flag-overlay': generated.flagOverlay,
  segment: generated.segment,
  identities: generated.identities,
  kills: generated.kills,
  'spec-test': generated.specTest,
  watch: generated.watch,
} as unknown as Readonly<Record<SchemaName, ValidateFunction>>;

/** Every error of a value, in the order of the schema's keywords. */
export function schemaErrors(name: SchemaName, value: unknown): readonly ErrorObject[] {
  const validate = VALIDATORS[name];
  return validate(value) ? [] : (validate.errors ?? []);
}
