import { randomFrom } from '../chaos/choices.js';
import type { Case } from './sdk-process.js';

export const SEGMENTS = ['s0', 's1', 's2'];
export const userKey = (index: number): string => `${'üé-'[index % 3] ?? ''}user ${index}`;

const TEXTS = ['', 'a', 'abc', 'ES', 'FR', 'x-1', '12', 'true', 'ü', '1.2.3', '0'];
const VERSIONS = [
  '1.0.0',
  '1.2.3',
  '1.10.0',
  '2.0.0-rc.1',
  '2.0.0-rc.10',
  '2.0.0',
  '2.0.0+b',
  '01.2.3',
];
const DAY = 86_400_000;
const BEGIN = Date.UTC(2026, 0, 1);

/** Draws definitions and cases. */
export class Draw {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** @param earlier flags that it may depend on, with their treatments. */
  definition(earlier: readonly string[], keys: number): object {
    const count = 2 + this.below(3);
    const names = Array.from({ length: count }, (_, index) => `t${index}`);
    const targeted = this.#distinct(keys, 6).map(userKey);
    return {
      killed: this.below(20) === 0,
      treatments: names.map((name, index) => ({
        name,
        ...(this.below(2) === 0 ? { configurations: JSON.stringify({ of: name }) } : {}),
        ...(this.below(3) === 0 ? { keys: targeted.slice(index, index + 1) } : {}),
        ...(this.below(6) === 0 ? { segments: [this.one(SEGMENTS)] } : {}),
      })),
      defaultTreatment: this.one(names),
      baselineTreatment: this.one(names),
      trafficAllocation: this.below(3) === 0 ? this.below(101) : 100,
      rules: Array.from({ length: this.below(5) }, () => ({
        buckets: this.#buckets(names),
        condition: {
          combiner: 'AND',
          matchers: Array.from({ length: 1 + this.below(2) }, () => this.#matcher(earlier, keys)),
        },
      })),
      defaultRule: this.#buckets(names),
    };
  }

  case(index: number): Case {
    const attributes: Record<string, unknown> = {};
    const maybe = (name: string, value: unknown): void => {
      if (this.below(4) > 0) attributes[name] = value;
    };
    maybe('text', this.one(TEXTS.slice(1)));
    maybe('number', this.below(40) - 10);
    maybe('date', BEGIN + this.below(20 * DAY));
    maybe('flag', this.below(2) === 0);
    maybe('set', this.#some(TEXTS.slice(1)));
    maybe('version', this.below(8) === 0 ? '1.2' : this.one(VERSIONS));
    return { key: userKey(index), attributes };
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  one<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  #some(list: readonly string[]): string[] {
    const found = list.filter(() => this.below(3) === 0);
    return found.length === 0 ? [this.one(list)] : found;
  }

  #distinct(limit: number, count: number): number[] {
    const found = new Set<number>();
    while (found.size < Math.min(count, limit)) found.add(this.below(limit));
    return [...found];
  }

  #buckets(names: readonly string[]): object[] {
    const first = this.below(101);
    const [a = '', b = ''] = [...names].sort(() => this.#random() - 0.5);
    if (this.below(3) === 0) return [{ treatment: a, size: 100 }];
    return [
      { treatment: a, size: first },
      { treatment: b, size: 100 - first },
    ];
  }

  #matcher(earlier: readonly string[], keys: number): object {
    const negate = this.below(4) === 0 ? { negate: true } : {};
    return { ...negate, ...this.one(MATCHERS)(this, earlier, keys) };
  }

  range(limit: number): { from: number; to: number } {
    const from = this.below(limit);
    return { from, to: from + this.below(limit) };
  }

  texts(): string[] {
    return this.#some(TEXTS.slice(1));
  }
}

type Make = (draw: Draw, earlier: readonly string[], keys: number) => object;

const text =
  (type: string): Make =>
  (draw) => ({ type, attribute: 'text', strings: draw.texts() });
const set =
  (type: string): Make =>
  (draw) => ({ type, attribute: 'set', strings: draw.texts() });
const number =
  (type: string): Make =>
  (draw) => ({ type, attribute: 'number', number: draw.below(40) - 10 });
const date =
  (type: string): Make =>
  (draw) => ({ type, attribute: 'date', date: BEGIN + draw.below(20 * DAY) });
const version =
  (type: string): Make =>
  (draw) => ({ type, attribute: 'version', string: draw.one(VERSIONS) });

/** One for each type of matcher that the service knows. */
const MATCHERS: readonly Make[] = [
  (draw) => ({ type: 'IN_SEGMENT', string: draw.one(SEGMENTS) }),
  (draw, earlier) =>
    earlier.length === 0
      ? { type: 'IN_SEGMENT', string: draw.one(SEGMENTS) }
      : {
          type: 'IN_SPLIT',
          depends: {
            splitName: draw.one(earlier),
            treatments: ['t0', 't1'].slice(0, 1 + draw.below(2)),
          },
        },
  ...['EQUAL_SET', 'ANY_OF_SET', 'ALL_OF_SET', 'PART_OF_SET'].map(set),
  ...['ON_DATE', 'ON_OR_AFTER_DATE', 'ON_OR_BEFORE_DATE'].map(date),
  (draw) => {
    const { from, to } = draw.range(15);
    const between = { from: BEGIN + from * DAY + 30_000, to: BEGIN + to * DAY + 59_999 };
    return { type: 'BETWEEN_DATE', attribute: 'date', between };
  },
  ...['EQUAL_NUMBER', 'LESS_THAN_OR_EQUAL_NUMBER', 'GREATER_THAN_OR_EQUAL_NUMBER'].map(number),
  (draw) => ({ type: 'BETWEEN_NUMBER', attribute: 'number', between: draw.range(20) }),
  (draw) => ({ type: 'BOOLEAN', attribute: 'flag', bool: draw.below(2) === 0 }),
  ...['IN_LIST_STRING', 'STARTS_WITH_STRING', 'ENDS_WITH_STRING', 'CONTAINS_STRING'].map(text),
  (draw, _, keys) => ({ type: 'IN_LIST_STRING', strings: [userKey(draw.below(keys)), 'user 1'] }),
  (draw) => ({ type: 'ENDS_WITH_STRING', strings: [String(draw.below(10))] }),
  (draw) => ({
    type: 'MATCHES_STRING',
    attribute: 'text',
    string: draw.one(['^[a-c]+$', '\\d', 'E|F']),
  }),
  ...['EQUAL_TO_SEMVER', 'GREATER_THAN_OR_EQUAL_TO_SEMVER', 'LESS_THAN_OR_EQUAL_TO_SEMVER'].map(
    version,
  ),
  (draw) => ({
    type: 'BETWEEN_SEMVER',
    attribute: 'version',
    between: { from: draw.one(VERSIONS.slice(0, 2)), to: draw.one(VERSIONS) },
  }),
  (draw) => ({
    type: 'IN_LIST_SEMVER',
    attribute: 'version',
    strings: [draw.one(VERSIONS), '9.9.9'],
  }),
  () => ({ type: 'IN_LARGE_SEGMENT', string: 'large' }),
  () => ({ type: 'IN_RULE_BASED_SEGMENT', string: 'ruled' }),
];
