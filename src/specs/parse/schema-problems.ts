import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema, SchemaName } from './schemas.js';
import { problemAt, type Problem } from './source-text.js';
import { didYouMean, nearest, quotedList } from './suggest.js';
import { placeIn, type Place, type Spans } from './typed-value.js';
import { partsOf, pointerOf } from '../../model/json.js';
import { VALIDATORS } from '../../generated/validators.js';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
};

export function schemaProblems(name: SchemaName, value: unknown, spans: Spans): Problem[] {
  const errors = schemaErrors(name, value);
  const seen = new Set<string>();
  return collapsed(withoutEchoes(errors))
    .map((error) => toProblem(error, (pointer) => placeIn(spans, value, partsOf(pointer))))
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

function toProblem(error: ErrorObject, placeOf: (pointer: string) => Place | undefined): Problem {
  const { keyword, params, instancePath } = error;
  const parent = error.parentSchema as Schema;
  const problem = (code: Problem['code'], pointer: string, message: string): Problem => {
    const { key, value = { from: 0, to: 1 } } = placeOf(pointer) ?? {};
    const isOfKey = code === 'unknown-field' || code === 'missing-field';
    const span = isOfKey ? (key ?? { from: value.from, to: value.from + 1 }) : value;
    return { ...problemAt(code, span, message), pointer };
  };
  if (keyword === 'additionalProperties') {
    const field = String(params['additionalProperty']);
    const removed = removedText(field, parent);
    const message = `unknown field "${field}"${didYouMean(field, propertiesOf(error))}`;
    return problem('unknown-field', instancePath + pointerOf([field]), removed ?? message);
  }
  if (keyword === 'required') {
    const message = `"${String(params['missingProperty'])}" is missing`;
    return problem('missing-field', instancePath, message);
  }
  const subject = instancePath === '' ? 'the file' : `"${partsOf(instancePath).at(-1) ?? ''}"`;
  const code = keyword === 'type' || keyword === 'anyOf' ? 'wrong-type' : 'wrong-value';
  const fault = error.data === null ? 'has no value' : `must be ${expectation(error, parent)}`;
  return problem(code, instancePath, `${subject} ${fault}`);
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

/** Every error of a value, in the order of the schema's keywords. */
export function schemaErrors(name: SchemaName, value: unknown): readonly ErrorObject[] {
  const validate = VALIDATORS[name] as ValidateFunction;
  return validate(value) ? [] : (validate.errors ?? []);
}
