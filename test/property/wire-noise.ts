import { definition, flag } from '../../src/admin-api/decode.js';
import { segmentCheck } from '../../src/admin-api/segments.js';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import type { Actual } from '../../src/model/actual.js';
import { murmur32 } from '../support/bucketing.js';

/**
 * Other words for what a service says: what services and other tools write where nothing is meant by it. Only JSON is
 * changed, as it travels, so that nothing here knows what it is turned into.
 */

/** Draws: true for some of the calls. The same seed gives the same draws. */
type Draw = () => boolean;
type Members = Readonly<Record<string, unknown>>;

function drawsOf(seed: number): Draw {
  let count = 0;
  return () => murmur32(String((count += 1)), seed) % 2 === 0;
}

/** What was looked at, if the service had written it in other words. */
export function inOtherWords(actual: Actual, seed: number): Actual {
  const draw = drawsOf(seed);
  const flags = [...actual.flags].map(([name, each]) => {
    const definitions = [...each.definitions].map(([environment, live]) => {
      return [environment, live && definition(overTheWire(noisyDefinition(live, draw)))] as const;
    });
    const own = each.flag && { flag: flag(overTheWire(noisyObject(each.flag, draw))) };
    return [name, { ...each, ...own, definitions: new Map(definitions) }] as const;
  });
  const segments = [...actual.segments].map(([name, each]) => {
    const own = each.segment && {
      segment: segmentCheck(overTheWire(noisyObject(each.segment, draw))),
    };
    return [name, { ...each, ...own }] as const;
  });
  return { ...actual, flags: new Map(flags), segments: new Map(segments) };
}

function overTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** A flag or a segment at workspace level. */
function noisyObject(object: object, draw: Draw): Members {
  const { description, tags, ...rest } = object as Members;
  return {
    ...rest,
    ...either(draw, { description }, description === '' ? { description: null } : { description }),
    ...either(draw, { tags }, isList(tags) ? noisyTags(tags) : {}),
  };
}

function noisyTags(tags: readonly unknown[]): Members {
  return tags.length === 0 ? { tags: null } : { tags: [...tags.toReversed(), tags[0]] };
}

function noisyDefinition(live: WireDefinition, draw: Draw): Members {
  const { rules, ...rest } = live;
  return {
    ...rest,
    ...either(draw, {}, { openChangeRequestId: null }),
    treatments: live.treatments.map((each) => noisyTreatment({ ...each }, draw)),
    defaultRule: noisyBuckets(live.defaultRule, live, draw),
    ...(rules.length === 0
      ? either(draw, {}, { rules: null })
      : {
          rules: rules.map(({ buckets, condition }) => ({
            buckets: noisyBuckets(buckets, live, draw),
            condition: {
              ...either(draw, {}, { combiner: 'AND' }),
              matchers: condition.matchers.map((each) => noisyMatcher(each, draw)),
            },
          })),
        }),
  };
}

function noisyTreatment(treatment: Members, draw: Draw): Members {
  const { description, configurations, keys, segments, ...rest } = treatment;
  return {
    ...rest,
    ...(description === '' || description === undefined
      ? either(draw, {}, either(draw, { description: null }, { description: '' }))
      : { description }),
    ...noisyConfiguration(configurations, draw),
    ...noisyList('keys', keys, draw),
    ...noisyList('segments', segments, draw),
  };
}

function noisyConfiguration(text: unknown, draw: Draw): Members {
  if (typeof text === 'string' && text !== 'null' && text !== '""') {
    const turned = JSON.stringify(turnedRound(JSON.parse(text)), null, 1);
    return { configurations: draw() ? turned : text };
  }
  return either(
    draw,
    either(draw, {}, { configurations: null }),
    either(draw, { configurations: '' }, { configurations: 'null' }),
  );
}

/** Members of an object in another order, which means nothing; lists keep theirs. */
function turnedRound(value: unknown): unknown {
  if (isList(value) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).toReversed());
}

/** A list that is a set: in another order, with something twice; empty, null or not there. */
function noisyList(name: string, value: unknown, draw: Draw): Members {
  if (!isList(value) || value.length === 0) {
    return either(draw, {}, { [name]: draw() ? null : [] });
  }
  return { [name]: draw() ? [...value.toReversed(), value[0]] : value };
}

/** Buckets of nothing, wherever they stand. */
function noisyBuckets(
  buckets: WireDefinition['defaultRule'],
  { treatments }: WireDefinition,
  draw: Draw,
): unknown {
  const named = new Set(buckets.map(({ treatment }) => treatment));
  const unused = treatments.filter(({ name }) => !named.has(name) && draw());
  const empty = unused.map(({ name }) => ({ treatment: name, size: 0 }));
  return draw() ? [...empty, ...buckets] : [...buckets, ...empty];
}

/** Where the types whose operand is not one of the others have it. */
const OPERAND_OF: Readonly<Record<string, string>> = {
  IN_SEGMENT: 'string',
  IN_LARGE_SEGMENT: 'string',
  IN_RULE_BASED_SEGMENT: 'string',
  MATCHES_STRING: 'string',
  EQUAL_TO_SEMVER: 'string',
  LESS_THAN_OR_EQUAL_TO_SEMVER: 'string',
  GREATER_THAN_OR_EQUAL_TO_SEMVER: 'string',
  IN_SPLIT: 'depends',
  BOOLEAN: 'bool',
  EQUAL_NUMBER: 'number',
  GREATER_THAN_OR_EQUAL_NUMBER: 'number',
  LESS_THAN_OR_EQUAL_NUMBER: 'number',
  ON_DATE: 'date',
  ON_OR_AFTER_DATE: 'date',
  ON_OR_BEFORE_DATE: 'date',
  BETWEEN_NUMBER: 'between',
  BETWEEN_DATE: 'between',
  BETWEEN_SEMVER: 'between',
};

/** Of what another type would compare with, the forms that say nothing. */
const UNUSED: Readonly<Record<string, readonly unknown[]>> = {
  string: [null, ''],
  strings: [null, []],
  number: [null],
  date: [null],
  bool: [null],
  depends: [null, {}, { splitName: '', treatments: [] }, { splitName: null, treatments: null }],
  between: [null, {}, { from: null, to: null }],
};

function noisyMatcher({ type, ...given }: { type: string } & Members, draw: Draw): Members {
  const { negate = false, attribute } = given;
  const isKnown = type !== 'SOMETHING_NEW';
  const operand = OPERAND_OF[type] ?? 'strings';
  const unused = Object.entries(isKnown ? UNUSED : {}).flatMap(([name, forms]) => {
    if (name === operand || name in given || !draw()) return [];
    return [[name, forms.find(() => draw()) ?? null]];
  });
  return {
    ...(Object.fromEntries(unused) as Members),
    ...given,
    ...(attribute === undefined && either(draw, {}, { attribute: draw() ? '' : null })),
    ...(negate === false && either(draw, {}, { negate: draw() ? false : null })),
    ...(isKnown && noisyOperand(type, operand, given[operand], draw)),
    type,
  };
}

function noisyOperand(type: string, name: string, value: unknown, draw: Draw): Members {
  if (name === 'strings' && isList(value)) {
    const texts = value.map((each) => (isPlainNumber(each) && draw() ? Number(each) : each));
    return { strings: [...texts.toReversed(), texts[0]] };
  }
  if (name === 'depends') return { depends: noisyDependency(value as Members, draw) };
  if (name === 'between' && !type.endsWith('_SEMVER')) {
    const { from, to } = value as Members;
    return { between: { from: draw() ? String(from) : from, to: draw() ? String(to) : to } };
  }
  return { [name]: typeof value === 'number' && draw() ? String(value) : value };
}

function noisyDependency(depends: Members, draw: Draw): Members {
  const { treatments, ...rest } = depends;
  if (!isList(treatments)) return { ...either(draw, {}, { treatments: null }), ...rest };
  return {
    ...either(draw, {}, { treatment: null }),
    ...rest,
    ...noisyList('treatments', treatments, draw),
  };
}

function isPlainNumber(value: unknown): boolean {
  return typeof value === 'string' && /^(0|[1-9]\d{0,8})$/.test(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function either(draw: Draw, one: Members, other: Members): Members {
  return draw() ? one : other;
}
