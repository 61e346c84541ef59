import { isKnownType, meets } from './attribute-match.js';
import {
  questionsOf,
  servingOf,
  type ListId,
  type Question,
  type ServedDefinition,
} from './served-definition.js';
import {
  constantServing,
  servedAt,
  type Served,
  type Serving,
  placeOf,
  type Seeds,
} from './serving.js';

export interface SeededDefinition {
  readonly served: ServedDefinition;
  readonly seeds: Seeds;
  /** The keys of `served.listedKeys`, for quick answers. */
  readonly listed: ReadonlyMap<ListId, ReadonlySet<string>>;
  /** A matcher of a type that evaluators do not know makes them serve `control`. */
  readonly isReadable: boolean;
}

export interface KnownKey {
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The segments that hold the key. */
  readonly segments: ReadonlySet<ListId>;
}

export interface ServedKey {
  /** Null stands for `control`. */
  readonly served: Served;
  readonly serving: Serving;
}

const CONTROL = constantServing(null);

export function seededDefinition(served: ServedDefinition, seeds: Seeds): SeededDefinition {
  const listed = [...served.listedKeys].map(([list, keys]) => [list, new Set(keys)] as const);
  const isReadable = questionsOf(served).every(
    (question) => question.about !== 'unknown' || isKnownType(question.matcher.type),
  );
  return { seeds, served, listed: new Map(listed), isReadable };
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
  const { served, seeds, listed } = definition;
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
  return { served: servedAt(serving, placeOf(key, seeds)), serving };
}
