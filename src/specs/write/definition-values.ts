import { conditionOf } from '../../kinds/condition-of.js';
import type { Bucket, Rule, Treatment } from '../../kinds/flag.js';
import type { Json } from '../../kinds/json.js';
import { Flow, mapping, writtenJson, type Written } from './yaml-text.js';

/** The parts of a definition as a spec writes them; the opposite of `kinds/flag-spec`. */

/** Name → description, or the long form where there is a configuration. In bucket order. */
export function writtenTreatments(treatments: readonly Treatment[]): Written {
  return new Map(treatments.map((treatment) => [treatment.name, writtenTreatment(treatment)]));
}

export function writtenTreatment({ description, configuration }: Treatment): Written {
  const isSaid = configuration !== undefined && isExact(configuration);
  if (!isSaid) return description ?? '';
  return mapping(['description', description], ['configuration', writtenJson(configuration)]);
}

/**
 * Whether YAML can carry the value as it is. A whole number that JSON itself has rounded would be refused when it is
 * read; null and an empty text are how the service says that there is none. Not written, it stays as the service has it.
 */
function isExact(configuration: Json): boolean {
  return configuration !== null && configuration !== '' && hasExactNumbers(configuration);
}

function hasExactNumbers(value: Json): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(hasExactNumbers);
}

/**
 * A treatment, sizes by treatment, or the list form where the buckets stand in another order than the treatments.
 *
 * @param treatments names in bucket order.
 */
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

/** One condition by itself, several as a list. */
export function writtenConditions(matchers: Rule['matchers']): Written {
  const conditions = matchers.map((matcher) => new Flow(writtenJson(conditionOf(matcher))));
  const [first] = conditions;
  return conditions.length === 1 && first !== undefined ? first : conditions;
}

/** Lists of a few short texts go on one line. */
export function writtenTexts(texts: readonly string[]): Written {
  const length = texts.reduce((sum, text) => sum + text.length + 2, 0);
  return length <= 60 ? new Flow(texts) : texts;
}
