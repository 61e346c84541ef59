import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Bucket, Definition, Matcher } from '../../src/model/flag/flag.js';
import { canonicalDefinition } from '../../src/model/flag/wire.js';
import { evaluate } from '../../src/plan/impact/evaluate.js';
import { bucketOf, evaluated, type FlagWorld } from '../support/bucketing.js';
import { aDesired, desiredFlag, desiredSegment } from '../support/builders.js';
import { lawSettings } from './law-settings.js';

/** Each case asks about all keys and flags: 24 questions. */
const settings = lawSettings('answers against brute force', 200);

const PLACE = 'production';
const TREATMENTS = ['a', 'b', 'off'];
const FLAGS = ['first', 'second', 'third'];
const KEYS = Array.from({ length: 8 }, (_, index) => `key-${index}`);
/** The second lives elsewhere: no spec says who is in it. */
const SEGMENTS = ['staff', 'foreign'] as const;

const someKeys = fc.subarray(KEYS);

const buckets: fc.Arbitrary<Bucket[]> = fc
  .tuple(fc.shuffledSubarray(TREATMENTS, { minLength: 2, maxLength: 2 }), fc.nat(100))
  .map(([[first = '', second = ''], size]) => [
    { treatment: first, size },
    { treatment: second, size: 100 - size },
  ]);

function matcher(flags: readonly string[]): fc.Arbitrary<Matcher> {
  const plain: fc.Arbitrary<Matcher>[] = [
    fc.constantFrom(...SEGMENTS).map((string) => ({ type: 'IN_SEGMENT', string })),
    fc.subarray(KEYS, { minLength: 1 }).map((strings) => ({ type: 'IN_LIST_STRING', strings })),
    fc
      .constantFrom('basic', 'pro')
      .map((plan) => ({ type: 'IN_LIST_STRING', attribute: 'plan', strings: [plan] })),
    ...flags.map((splitName) =>
      fc
        .subarray(TREATMENTS, { minLength: 1 })
        .map((treatments) => ({ type: 'IN_SPLIT', depends: { splitName, treatments } })),
    ),
  ];
  return fc
    .tuple(fc.oneof(...plain), fc.boolean())
    .map(([made, negate]) => (negate ? { ...made, negate } : made));
}

function definition(flags: readonly string[]): fc.Arbitrary<Required<Definition>> {
  const matchers = fc.array(matcher(flags), { minLength: 1, maxLength: 2 });
  return fc
    .record({
      killed: fc.nat(9).map((lot) => lot === 0),
      treatments: fc.constant(TREATMENTS.map((name) => ({ name, description: '' }))),
      targets: fc
        .tuple(fc.constantFrom(...TREATMENTS), fc.subarray(KEYS, { maxLength: 2 }))
        .map(([name, keys]) => (keys.length > 0 ? { [name]: keys } : {})),
      defaultTreatment: fc.constantFrom(...TREATMENTS),
      baselineTreatment: fc.constant('off'),
      trafficAllocation: fc.oneof(fc.constant(100), fc.nat(100)),
      rules: fc.array(fc.record({ matchers, buckets }), { maxLength: 3 }),
      defaultRule: buckets,
    })
    .map((made) => canonicalDefinition(made as Definition) as Required<Definition>);
}

const situation = fc.record({
  definitions: fc.tuple(...FLAGS.map((_, index) => definition(FLAGS.slice(index + 1)))),
  staff: someKeys,
  foreign: someKeys,
  plans: fc.array(fc.constantFrom('basic', 'pro', 'none'), { minLength: 8, maxLength: 8 }),
  seeds: fc.array(fc.nat(1000), { minLength: 6, maxLength: 6 }),
});

it('a key gets what an evaluator of its own gives it, and exactly that where all is told', () => {
  let certain = 0;
  fc.assert(
    fc.property(situation, ({ definitions, staff, foreign, plans, seeds }) => {
      const desired = aDesired({
        flags: definitions.map((each, index) =>
          desiredFlag(FLAGS[index] ?? '', { environments: { [PLACE]: each } }),
        ),
        segments: [desiredSegment('staff', { [PLACE]: staff })],
      });
      const world: FlagWorld = {
        definitions: new Map(
          definitions.map((each, index) => [
            FLAGS[index] ?? '',
            {
              definition: each,
              targets: new Map(
                Object.entries(each.targets).flatMap(([name, keys]) =>
                  keys.map((key) => [key, name] as const),
                ),
              ),
              seed: seeds[index * 2] ?? 0,
              allocationSeed: seeds[index * 2 + 1] ?? 0,
            },
          ]),
        ),
        segments: new Map([
          ['staff', new Set(staff)],
          ['foreign', new Set(foreign)],
        ]),
        attribute: (key) => plans[KEYS.indexOf(key)] ?? '',
      };
      for (const [index, flag] of FLAGS.entries()) {
        const { trafficAllocation, rules } = definitions[index] ?? { rules: [] };
        const hashed = rules.some(({ matchers }) =>
          matchers.some(({ type }) => type === 'IN_SPLIT'),
        );
        for (const key of KEYS) {
          const served = evaluated(flag, key, world);
          const place = { flag, environment: PLACE };
          const told = {
            key,
            segments: foreign.includes(key) ? ['foreign'] : [],
            attributes: { plan: world.attribute(key, 'plan') },
            at: bucketOf(key, seeds[index * 2] ?? 0),
          };
          const whole = evaluate(desired, place, told);
          const little = evaluate(desired, place, { key });

          expect([...(little?.shares.keys() ?? [])]).toContain(served);
          expect([...(whole?.shares.keys() ?? [])]).toContain(served);
          expect(whole?.untold).toEqual([]);
          if (trafficAllocation !== 100 || hashed) continue;
          certain += 1;
          expect(whole?.shares).toEqual(new Map([[served, { least: 100, most: 100 }]]));
        }
      }
    }),
    settings,
  );
  expect(certain).toBeGreaterThan(settings.numRuns);
});
