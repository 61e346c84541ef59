import { Document, Pair, Scalar, stringify, YAMLMap, YAMLSeq, type Node } from 'yaml';
import { conditionOf } from '../../model/matcher/condition.js';
import { FLAG_FIELD_ROWS, type FlagField } from '../../model/flag/fields.js';
import type { Bucket, Rule, Treatment } from '../../model/flag/flag.js';
import type { Json } from '../../model/json.js';
import { isExactNumber } from '../parse/typed-value.js';

/** Mappings are `Map`s: an object would put keys that look like numbers first. */
export type Written =
  string | number | boolean | null | readonly Written[] | ReadonlyMap<string, Written> | Flow;

/** Marks a value that is written on one line, between brackets. */
export class Flow {
  readonly value: Written;

  constructor(value: Written) {
    this.value = value;
  }
}

/** A member of a mapping; left out if its value is undefined. */
export type Member = readonly [name: string, value: Written | undefined];

export function mapping(...members: readonly Member[]): ReadonlyMap<string, Written> {
  return new Map(
    members.filter((member): member is readonly [string, Written] => member[1] !== undefined),
  );
}

export function writtenJson(value: unknown): Written {
  if (Array.isArray(value)) return value.map(writtenJson);
  if (typeof value !== 'object' || value === null) return value as Written;
  return new Map(Object.entries(value).map(([name, member]) => [name, writtenJson(member)]));
}

/** Text of a YAML 1.2 file. @param comment a line above everything else. */
export function yamlText(value: Written, comment?: string): string {
  const document = new Document(null, DOCUMENT_OPTIONS);
  document.contents = nodeOf(value);
  if (comment !== undefined) document.commentBefore = ` ${comment}`;
  return document.toString(TEXT_OPTIONS);
}

/** Never folds lines: line breaks would move with the text around them, which makes diffs noisy. */
export const TEXT_OPTIONS = { lineWidth: 0, doubleQuotedMinMultiLineLength: 1e9 } as const;

/** Every scalar is text, so that one in a file keeps its spelling (`0012`); this file decides what needs quotes. */
export const DOCUMENT_OPTIONS = { version: '1.2', schema: 'failsafe' } as const;

/** Also quotes texts that YAML 1.1 takes for something else (`on`, `no`, `1:30`): some editors still read that. */
const READERS = { version: '1.2', schema: 'core', compat: 'yaml-1.1', ...TEXT_OPTIONS } as const;

/** @param inFlow whether an outer value is written on one line. */
export function nodeOf(value: Written, inFlow = false): Node {
  if (value instanceof Flow) return nodeOf(value.value, true);
  if (value instanceof Map) return mapNode(value as ReadonlyMap<string, Written>, inFlow);
  if (Array.isArray(value)) {
    const sequence = new TightSequence();
    sequence.items = value.map((item: Written) => nodeOf(item, inFlow));
    sequence.flow = inFlow || value.length === 0;
    return sequence;
  }
  return scalarNode(value as string | number | boolean | null);
}

function mapNode(value: ReadonlyMap<string, Written>, inFlow: boolean): YAMLMap {
  const map = new PaddedMap();
  map.items = [...value].map(
    ([name, member]) => new Pair(scalarNode(name), nodeOf(member, inFlow)),
  );
  map.flow = inFlow || value.size === 0;
  return map;
}

function scalarNode(value: string | number | boolean | null): Scalar {
  const scalar = new Scalar(String(value));
  if (typeof value !== 'string') scalar.type = 'PLAIN';
  else if (needsQuotes(value)) scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}

/** Whether a text without quotes would be invisible, or read as something else: a number, a boolean, a date. */
export function needsQuotes(text: string): boolean {
  return HIDDEN.test(text) || stringify(text, READERS).startsWith('"');
}

/** A character that editors do not show, or that some readers take for a line end; plain line breaks are fine. */
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

type StringifyContext = NonNullable<Parameters<YAMLSeq['toString']>[0]>;

/** Writes `[a, b]`, where `PaddedMap` writes `{ a: b }`: the library has one setting for both brackets. */
class TightSequence extends YAMLSeq {
  override toString(ctx?: StringifyContext, ...rest: [(() => void)?, (() => void)?]): string {
    return super.toString(ctx && { ...ctx, flowCollectionPadding: '' }, ...rest);
  }
}

class PaddedMap extends YAMLMap {
  override toString(ctx?: StringifyContext, ...rest: [(() => void)?, (() => void)?]): string {
    return super.toString(ctx && { ...ctx, flowCollectionPadding: ' ' }, ...rest);
  }
}

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
 * Whether YAML preserves a configuration: reading it again would refuse a number that JSON has rounded, and the
 * service uses null and the empty text for "no configuration". A value that is not written stays on the service.
 */
function isExact(configuration: Json): boolean {
  return configuration !== null && configuration !== '' && hasExactNumbers(configuration);
}

function hasExactNumbers(value: Json): boolean {
  if (typeof value === 'number') return isExactNumber(value);
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
  const texts = [value].flat();
  return FLAG_FIELD_ROWS[field].type === 'names' ? writtenTexts(texts) : texts.join('');
}

/** A list of texts, on one line where they are few and short. */
export function writtenTexts(texts: readonly string[]): Written {
  const length = texts.reduce((sum, text) => sum + text.length + 2, 0);
  return length <= 60 ? new Flow(texts) : texts;
}
