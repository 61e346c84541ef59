import { isRecord, sameJson } from '../model/json.js';
import type {
  WireChangeRequest,
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WirePage,
  WireRef,
  WireRolloutStatus,
  WireTrafficType,
  WireWorkspace,
} from './wire.js';

/**
 * Checks answers of the service, but only the fields that flagkeel depends on. Other fields pass unchanged; null or
 * absent lists and texts get the values that the wire types promise. The checks change the answer in place, because
 * copies of thirty thousand definitions would cost memory for nothing.
 */

export type Check<T> = (value: unknown) => T;

export class ShapeError extends Error {
  readonly #why: string;
  #path: string;

  /** @param path of the value, such as `rules[0].buckets`; empty for the whole answer. */
  constructor(path: string, expected: string, value: unknown) {
    super();
    this.name = 'ShapeError';
    this.#why = `expected ${expected}, got ${nameOf(value)}`;
    this.#path = path;
    this.message = this.#text();
  }

  /** Prepends a part to the path: only errors build paths, because most values are right. */
  putInside(part: string): void {
    const joint = this.#path === '' || this.#path.startsWith('[') ? '' : '.';
    this.#path = `${part}${joint}${this.#path}`;
    this.message = this.#text();
  }

  #text(): string {
    return `${this.#path === '' ? 'the answer' : this.#path}: ${this.#why}`;
  }
}

function within<T>(part: string | number, check: Check<T>, value: unknown): T {
  try {
    return check(value);
  } catch (error) {
    if (error instanceof ShapeError) error.putInside(typeof part === 'number' ? `[${part}]` : part);
    throw error;
  }
}

export const text: Check<string> = (value) => {
  if (typeof value !== 'string') throw new ShapeError('', 'text', value);
  return value;
};

export const name: Check<string> = (value) => {
  if (typeof value !== 'string' || value === '') throw new ShapeError('', 'a name', value);
  return value;
};

const bool: Check<boolean> = (value) => {
  if (typeof value !== 'boolean') throw new ShapeError('', 'true or false', value);
  return value;
};

export const count: Check<number> = (value) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new ShapeError('', 'a whole number', value);
  }
  return value as number;
};

const orElse =
  <T, D>(check: Check<T>, otherwise: D): Check<T | D> =>
  (value) =>
    value === undefined || value === null ? otherwise : check(value);

export const orNull = <T>(check: Check<T>): Check<T | null> => orElse(check, null);

/** A field that may be absent; null becomes absent. */
const optional = <T>(check: Check<T>): Check<T | undefined> => orElse(check, undefined);

export const list =
  <T>(check: Check<T>): Check<T[]> =>
  (value) => {
    if (!Array.isArray(value)) throw new ShapeError('', 'a list', value);
    const given: unknown[] = value;
    for (let index = 0; index < given.length; index += 1) {
      given[index] = within(index, check, given[index]);
    }
    return given as T[];
  };

export const orEmpty = <T>(check: Check<T>): Check<T[]> => {
  const whole = list(check);
  return (value) => (value === undefined || value === null ? [] : whole(value));
};

export function record<T extends object>(fields: {
  readonly [K in keyof T]?: Check<T[K]>;
}): Check<T> {
  const checks = Object.entries(fields) as [string, Check<unknown>][];
  return (value) => {
    if (!isRecord(value)) throw new ShapeError('', 'an object', value);
    const given: Record<string, unknown> = value;
    let isShort = false;
    for (const [field, check] of checks) {
      const found = given[field];
      const checked = within(field, check, found);
      if (checked !== found) given[field] = checked;
      isShort ||= checked === undefined && found !== undefined;
    }
    if (!isShort) return given as T;
    // A copy, because deleting a member makes an object slow.
    return Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as T;
  };
}

const anyRef = record<WireRef>({ id: name, name });
const MAX_REFS = 1_000;
const refs = new Map<string, WireRef>();

/** Shares equal references, because thirty thousand definitions name only three environments and a traffic type. */
export const ref: Check<WireRef> = (value) => {
  const given = anyRef(value);
  const known = refs.get(given.id);
  if (known !== undefined && sameJson(known, given)) return known;
  if (refs.size === MAX_REFS) refs.clear();
  refs.set(given.id, given);
  return given;
};

export const workspace = record<WireWorkspace>({
  id: name,
  name,
  requiresTitleAndComments: bool,
});
export const environment = record<WireEnvironment>({ id: name, name, production: bool });
export const trafficType = record<WireTrafficType>({ id: name, name });
export const rolloutStatus = record<WireRolloutStatus>({ id: name, name });
export const tags = orNull(list(record<{ name: string }>({ name })));

export const flag = record<WireFlag>({
  id: name,
  name,
  description: orNull(text),
  trafficType: ref,
  rolloutStatus: orNull(ref),
  rolloutStatusTimestamp: orNull(count),
  tags,
});

const bucket = record<WireDefinition['defaultRule'][number]>({ treatment: name, size: count });
type Treatment = WireDefinition['treatments'][number];
type Rule = WireDefinition['rules'][number];
const treatment = record<Treatment>({
  name,
  keys: optional(list(text)),
  segments: optional(list(text)),
  configurations: optional(text),
});

export const definition = record<WireDefinition>({
  id: name,
  name,
  environment: ref,
  trafficType: ref,
  killed: bool,
  treatments: list(treatment),
  defaultTreatment: name,
  baselineTreatment: name,
  trafficAllocation: count,
  rules: orEmpty(
    record<Rule>({
      buckets: list(bucket),
      condition: record<Rule['condition']>({
        matchers: list(record<Rule['condition']['matchers'][number]>({ type: name })),
      }),
    }),
  ),
  defaultRule: list(bucket),
});

export function page<T>(each: Check<T>): Check<WirePage<T>> {
  return record<WirePage<T>>({ objects: list(each), totalCount: count });
}

const named = optional(record<{ name: string }>({ name }));

export const changeRequestPage = record<{
  readonly data: readonly WireChangeRequest[];
  readonly nextMarker: string | null;
}>({
  data: list(
    record<WireChangeRequest>({
      id: name,
      operationType: text,
      comment: optional(text),
      split: named,
      segment: named,
      approvers: orEmpty(text),
      comments: orEmpty(
        record<WireChangeRequest['comments'][number]>({
          comment: orNull(text),
          user: orNull(text),
          role: text,
        }),
      ),
      creationTime: optional(count),
    }),
  ),
  nextMarker: orNull(text),
});

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'empty text';
  if (typeof value === 'number') return String(value);
  return { string: 'text', object: 'an object', boolean: 'true or false' }[
    typeof value as 'string' | 'object' | 'boolean'
  ];
}

/** Rejects an answer about another environment, which would be compared with the wrong spec. */
export function inEnvironment<T extends { environment: { id: string } }>(
  check: Check<T>,
  environmentId: string,
): Check<T> {
  return (value) => {
    const object = check(value);
    const { id } = object.environment;
    if (id === environmentId) return object;
    const wanted = `the ${JSON.stringify(environmentId)} that was asked for`;
    throw new ShapeError('environment.id', wanted, id);
  };
}
