import { isKnownType, meets } from './attribute-match.js';
import { bucketOf } from './bucket.js';
import {
  questionsOf,
  servingOf,
  type ListId,
  type Question,
  type ServedDefinition,
} from './served-definition.js';
import { constantServing, type Served, type Serving } from './serving.js';

/** A definition with the seeds that decide which keys its shares and its allocation reach. */
export interface SeededDefinition {
  readonly served: ServedDefinition;
  readonly seed: number;
  readonly allocationSeed: number;
  /** The keys of `served.listedKeys`, for quick answers. */
  readonly listed: ReadonlyMap<ListId, ReadonlySet<string>>;
  /** A matcher of a type that evaluators do not know makes them serve `control`. */
  readonly isReadable: boolean;
}

/** All that decides what a key is served, beside the definitions. */
export interface KnownKey {
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The segments that hold the key. */
  readonly segments: ReadonlySet<ListId>;
}

/** What a key is served, and the point of the definition that serves it. */
export interface ServedKey {
  /** Null stands for `control`. */
  readonly served: Served;
  readonly serving: Serving;
}

const CONTROL = constantServing(null);

export function seededDefinition(
  served: ServedDefinition,
  seeds: Pick<SeededDefinition, 'seed' | 'allocationSeed'>,
): SeededDefinition {
  const listed = [...served.listedKeys].map(([list, keys]) => [list, new Set(keys)] as const);
  const isReadable = questionsOf(served).every(
    (question) => question.about !== 'unknown' || isKnownType(question.matcher.type),
  );
  return { ...seeds, served, listed: new Map(listed), isReadable };
}

/** What the vendor's SDKs serve a key by the same definitions, seeds included. */
export function servedTo(
  flag: string,
  known: KnownKey,
  definitions: ReadonlyMap<string, SeededDefinition>,
  above: readonly string[] = [],
): ServedKey {
  const definition = definitions.get(flag);
  // Flags that ask about each other in a circle serve nothing.
  if (!definition?.isReadable || above.includes(flag)) return { served: null, serving: CONTROL };
  const { served, seed, allocationSeed, listed } = definition;
  const { key, attributes, segments } = known;
  const isMet = (question: Question): boolean => {
    switch (question.about) {
      case 'list':
        return listed.get(question.list)?.has(key) ?? segments.has(question.list);
      case 'flag': {
        const other = servedTo(question.flag, known, definitions, [...above, flag]).served;
        return question.treatments.includes(other?.treatment ?? 'control');
      }
      case 'unknown': {
        const { attribute } = question.matcher;
        const value = typeof attribute === 'string' ? attributes[attribute] : key;
        return meets(question.matcher, value) ?? false;
      }
    }
  };
  const serving = servingOf<never>(served, served.targets.get(key), isMet);
  const { places, allocation, unallocated } = serving;
  const isLeftOut = allocation < 100 && bucketOf(key, allocationSeed) > allocation;
  const place = isLeftOut ? unallocated : places[bucketOf(key, seed) - 1];
  return { served: place ?? null, serving };
}
