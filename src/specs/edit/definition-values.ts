import { conditionOf } from '../../model/matcher/condition.js';
import { FLAG_FIELD_ROWS } from '../../model/flag/fields.js';
import type { Bucket, FlagField, Rule, Treatment } from '../../model/flag/flag.js';
import type { Json } from '../../model/json.js';
import { Flow, mapping, writtenJson, type Written } from './yaml-text.js';

/* The parts of a definition as a spec writes them; the inverse of `model/flag/from-spec`. */

export function writtenTreatments(treatments: readonly Treatment[]): Written {
  return new Map(treatments.map((treatment) => [treatment.name, writtenTreatment(treatment)]));
}

/** The description of a treatment, or a mapping with its configuration; empty if it has neither. */
export function writtenTreatment({ description, configuration }: Treatment): Written {
  const isSaid = configuration !== undefined && isExact(configuration);
  if (!isSaid) return description ?? writtenJson({});
  return mapping(['description', description], ['configuration', writtenJson(configuration)]);
}

/**
 * Whether YAML preserves a configuration: reading it again would refuse a whole number that JSON has rounded, and the
 * service uses null and the empty text for "no configuration". A value that is not written stays on the service.
 */
function isExact(configuration: Json): boolean {
  return configuration !== null && configuration !== '' && hasExactNumbers(configuration);
}

function hasExactNumbers(value: Json): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(hasExactNumbers);
}

/** @param treatments names in bucket order: buckets in another order become a list. */
export function writtenBuckets(buckets: readonly Bucket[], treatments: readonly string[]): Written {
  const [first] = buckets;
  if (buckets.length === 1 && first?.size === 100) return first.treatment;
  const positions = buckets.map(({ treatment }) => treatments.indexOf(treatment));
  const isInOrder = positions.every((at, i) => i === 0 || at > (positions[i - 1] ?? 0));
  const sizes = buckets.map(({ treatment, size }) => [treatment, size] as const);
  if (isInOrder) return new Flow(new Map(sizes));
  return new Flow(sizes.map((each) => new Map([each])));
}

export function writtenRules(rules: readonly Rule[], treatments: readonly string[]): Written {
  return rules.map((rule) => writtenRule(rule, treatments));
}

export function writtenRule(rule: Rule, treatments: readonly string[]): Written {
  return mapping(
    ['if', writtenConditions(rule.matchers)],
    ['serve', writtenBuckets(rule.buckets, treatments)],
  );
}

export function writtenConditions(matchers: Rule['matchers']): Written {
  const conditions = matchers.map((matcher) => new Flow(writtenJson(conditionOf(matcher))));
  const [first] = conditions;
  return conditions.length === 1 && first !== undefined ? first : conditions;
}

/** A field of the workspace level; an absent value is written as empty. */
export function writtenFlagField(
  field: FlagField,
  value: string | readonly string[] = [],
): Written {
  switch (FLAG_FIELD_ROWS[field].type) {
    case 'prose':
    case 'name':
      return [value].flat().join('');
    case 'names':
      return writtenTexts([value].flat());
  }
}

/** A list of texts, on one line where they are few and short. */
export function writtenTexts(texts: readonly string[]): Written {
  const length = texts.reduce((sum, text) => sum + text.length + 2, 0);
  return length <= 60 ? new Flow(texts) : texts;
}
