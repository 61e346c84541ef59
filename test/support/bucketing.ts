import type { Bucket, Definition, Matcher } from '../../src/model/flag/flag.js';

/**
 * What an evaluator of flags does, written from the public description of it and sharing nothing with `src/`: the
 * stranger that the impact of a plan is held against.
 */
export interface FlagWorld {
  readonly definitions: ReadonlyMap<string, SeededDefinition>;
  readonly segments: ReadonlyMap<string, ReadonlySet<string>>;
  /** What an attribute of a key is. */
  readonly attribute: (key: string, name: string) => string;
}

interface SeededDefinition {
  readonly definition: Required<Definition>;
  /** Individual key → treatment. */
  readonly targets: ReadonlyMap<string, string>;
  readonly seed: number;
  readonly allocationSeed: number;
}

/** MurmurHash3, x86, 32 bits, of the UTF-8 of a text. */
export function murmur32(text: string, seed: number): number {
  const bytes = new TextEncoder().encode(text);
  const words = Math.floor(bytes.length / 4);
  let hash = seed | 0;
  const at = (index: number): number => bytes[index] ?? 0;
  const scrambled = (word: number): number => {
    const product = Math.imul(word, 0xcc9e2d51);
    return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
  };
  for (let word = 0; word < words; word += 1) {
    const i = word * 4;
    hash ^= scrambled(at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  const rest = bytes.length - words * 4;
  if (rest > 0) {
    const i = words * 4;
    const tail = [at(i), at(i + 1) << 8, at(i + 2) << 16].slice(0, rest);
    hash ^= scrambled(tail.reduce((all, byte) => all | byte, 0));
  }
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const buckets = new Map<number, Map<string, number>>();

/** 1 to 100. Remembered: the same keys are asked about again and again. */
export function bucketOf(key: string, seed: number): number {
  const known = buckets.get(seed) ?? new Map<string, number>();
  buckets.set(seed, known);
  const bucket = known.get(key) ?? (murmur32(key, seed) % 100) + 1;
  known.set(key, bucket);
  return bucket;
}

/** The treatment that a key is served; `control` where there is no definition. */
export function evaluated(flag: string, key: string, world: FlagWorld): string {
  const seeded = world.definitions.get(flag);
  if (!seeded) return 'control';
  const { definition, targets, seed, allocationSeed } = seeded;
  if (definition.killed) return definition.defaultTreatment;
  const target = targets.get(key);
  if (target !== undefined) return target;
  if (bucketOf(key, allocationSeed) > definition.trafficAllocation)
    return definition.defaultTreatment;
  const rule = definition.rules.find(({ matchers }) =>
    matchers.every((matcher) => matches(matcher, key, world)),
  );
  return treatmentAt(rule?.buckets ?? definition.defaultRule, bucketOf(key, seed));
}

/** The configuration that comes with what a key is served, as JSON; members in the order in which they were made. */
export function evaluatedConfiguration(flag: string, treatment: string, world: FlagWorld): string {
  const { treatments = [] } = world.definitions.get(flag)?.definition ?? {};
  const found = treatments.find(({ name }) => name === treatment);
  return JSON.stringify(found?.configuration ?? null);
}

function treatmentAt(list: readonly Bucket[], bucket: number): string {
  let end = 0;
  for (const { treatment, size } of list) {
    end += size;
    if (bucket <= end) return treatment;
  }
  return 'control';
}

function matches(matcher: Matcher, key: string, world: FlagWorld): boolean {
  return matchesPlainly(matcher, key, world) !== (matcher['negate'] === true);
}

function matchesPlainly(matcher: Matcher, key: string, world: FlagWorld): boolean {
  switch (matcher.type) {
    case 'IN_SEGMENT':
      return world.segments.get(matcher['string'] as string)?.has(key) === true;
    case 'IN_SPLIT': {
      const { splitName, treatments } = matcher['depends'] as {
        splitName: string;
        treatments: string[];
      };
      return treatments.includes(evaluated(splitName, key, world));
    }
    case 'IN_LIST_STRING': {
      const name = matcher['attribute'];
      const value = typeof name === 'string' ? world.attribute(key, name) : key;
      return (matcher['strings'] as string[]).includes(value);
    }
    default:
      throw new Error(`no evaluation of ${matcher.type}`);
  }
}
