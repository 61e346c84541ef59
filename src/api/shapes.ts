import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireRef,
  WireRolloutStatus,
  WireSegment,
  WireSegmentInEnvironment,
  WireSegmentKeys,
  WireTrafficType,
  WireWorkspace,
} from './wire.js';

/**
 * Checks of what the service answers: of the fields that something here depends on, and no more. What is not named is
 * passed through untouched; null and absent lists and texts become what the wire types promise.
 */

/** @throws ShapeError */
export type Check<T> = (value: unknown, path: string) => T;

/** The answer has another shape than the contract gives it; says where. */
export class ShapeError extends Error {
  constructor(path: string, expected: string, value: unknown) {
    super(`${path === '' ? 'the answer' : path}: expected ${expected}, got ${nameOf(value)}`);
    this.name = 'ShapeError';
  }
}

const text: Check<string> = (value, path) => {
  if (typeof value !== 'string') throw new ShapeError(path, 'text', value);
  return value;
};

/** Text that names something: never empty. */
const name: Check<string> = (value, path) => {
  if (typeof value !== 'string' || value === '') throw new ShapeError(path, 'a name', value);
  return value;
};

const bool: Check<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw new ShapeError(path, 'true or false', value);
  return value;
};

/** Whole and not negative. */
export const count: Check<number> = (value, path) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new ShapeError(path, 'a whole number', value);
  }
  return value as number;
};

const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, path) =>
    value === undefined || value === null ? null : check(value, path);

export const list =
  <T>(check: Check<T>): Check<T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) throw new ShapeError(path, 'a list', value);
    return value.map((each, index) => check(each, `${path}[${index}]`));
  };

export const orEmpty =
  <T>(check: Check<T>): Check<T[]> =>
  (value, path) =>
    value === undefined || value === null ? [] : list(check)(value, path);

/** A field that may be absent, and is then left so; null counts as absent. */
const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, path) =>
    value === undefined || value === null ? undefined : check(value, path);

export function record<T extends object>(fields: {
  readonly [K in keyof T]?: Check<T[K]>;
}): Check<T> {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ShapeError(path, 'an object', value);
    }
    const result: Record<string, unknown> = { ...value };
    for (const [field, check] of Object.entries(fields) as [string, Check<unknown>][]) {
      const at = path === '' ? field : `${path}.${field}`;
      const checked = check(result[field], at);
      if (checked === undefined) Reflect.deleteProperty(result, field);
      else result[field] = checked;
    }
    return result as T;
  };
}

const ref = record<WireRef>({ id: name, name });

export const workspace = record<WireWorkspace>({
  id: name,
  name,
  requiresTitleAndComments: bool,
});
export const environment = record<WireEnvironment>({ id: name, name, production: bool });
export const trafficType = record<WireTrafficType>({ id: name, name });
export const rolloutStatus = record<WireRolloutStatus>({ id: name, name });
const tags = orNull(list(record<{ name: string }>({ name })));

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

export const segment = record<WireSegment>({
  name,
  description: orNull(text),
  trafficType: ref,
  tags: orNull(list(record<{ name: string }>({ name }))),
});

export const segmentInEnvironment = record<WireSegmentInEnvironment>({ name, environment: ref });

export const segmentKeys = record<WireSegmentKeys>({
  keys: list(record<{ key: string }>({ key: text })),
  count,
  openChangeRequestId: orNull(text),
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

/** What is said to be of another environment is not believed: it would be compared with the wrong spec. */
export function inEnvironment<T extends { environment: { id: string } }>(
  check: Check<T>,
  environmentId: string,
): Check<T> {
  return (value, path) => {
    const object = check(value, path);
    if (object.environment.id === environmentId) return object;
    throw new ShapeError(
      `${path === '' ? '' : `${path}.`}environment.id`,
      `the ${JSON.stringify(environmentId)} that was asked for`,
      object.environment.id,
    );
  };
}
