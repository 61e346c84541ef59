import { describe, expect, it } from 'vitest';
import { dateMs, matcherOf } from '../../../../src/model/matcher/from-condition.js';
import { asCompared, meets } from '../../../../src/plan/impact/attribute-match.js';
import { evaluate, type Situation } from '../../../../src/plan/impact/evaluate.js';
import type { ConditionSpec } from '../../../../src/generated/flag.schema.d.js';
import { readSpecs } from '../../../../src/specs/read-specs.js';
import { treeOf } from '../../../support/spec-tree.js';

const FILES = {
  'flagkeel.yaml': `workspace: Default
environments: { production: {} }
defaults: { trafficType: user }
references: { segments: [partners] }
`,
  'segments/staff.yaml': 'segment: staff\nenvironments: { production: { keys: [ana] } }\n',
  'segments/guests.yaml':
    'segment: guests\nenvironments: { production: { mode: add-only, keys: [gus] } }\n',
  'flags/pay.yaml': `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    targets: { "on": [tara] }
    rules:
      - { if: { segment: staff }, serve: "on" }
      - { if: { segment: guests }, serve: "on" }
      - { if: { segment: partners }, serve: "on" }
      - { if: { attribute: country, in: [ES] }, serve: { "on": 50, "off": rest } }
    defaultRule: { "on": 10, "off": rest }
`,
  'flags/far.yaml': `flag: far
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    rules: [{ if: { attribute: a, in: [ES], not: true }, serve: "on" }]
    defaultRule: "off"
`,
  'flags/cart.yaml': `flag: cart
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    rules: [{ if: { flag: pay, treatments: ["on"] }, serve: "on" }]
    defaultRule: "off"
`,
  'flags/dead.yaml': `flag: dead
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { production: { targets: { "on": [tara] }, defaultRule: "on" } }
`,
  'kills/production.yaml': 'kills: { dead: { reason: INC-1 } }\n',
};

async function shares(flag: string, situation: Situation): Promise<string> {
  const result = await readSpecs(treeOf(FILES));
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const answer = evaluate(result.desired, { flag, environment: 'production' }, situation);
  const parts = [...(answer?.shares ?? [])].map(
    ([served, { least, most }]) => `${served ?? 'control'} ${least}-${most}`,
  );
  return [...parts.toSorted(), ...(answer?.untold ?? [])].join(', ');
}

describe('what a flag serves', () => {
  it.each<[string, string, Situation, string]>([
    [
      'to a target',
      'pay',
      { key: 'tara' },
      'on 100-100, attribute "country", segment "guests", segment "partners"',
    ],
    [
      'to a key of a segment',
      'pay',
      { key: 'ana' },
      'on 100-100, attribute "country", segment "guests", segment "partners"',
    ],
    [
      'to a key that an add-only list has',
      'pay',
      { key: 'gus' },
      'on 100-100, attribute "country", segment "partners"',
    ],
    [
      'to a key that nothing is known of',
      'pay',
      { key: 'kim' },
      'off 0-90, on 10-100, attribute "country", segment "guests", segment "partners"',
    ],
    [
      'to a key in no segment',
      'pay',
      { key: 'kim', segments: [] },
      'off 50-90, on 10-50, attribute "country"',
    ],
    [
      'to a key without the attribute',
      'pay',
      { segments: [], attributes: {} },
      'off 90-90, on 10-10',
    ],
    [
      'to a key with it',
      'pay',
      { segments: [], attributes: { country: 'ES' } },
      'off 50-50, on 50-50',
    ],
    [
      'in the last bucket of a treatment',
      'pay',
      { segments: [], attributes: {}, at: 10 },
      'on 100-100',
    ],
    ['in the next bucket', 'pay', { segments: [], attributes: {}, at: 11 }, 'off 100-100'],
    [
      'to a segment of elsewhere',
      'pay',
      { segments: ['partners'] },
      'on 100-100, attribute "country"',
    ],
    ['to a key without an attribute that must be another', 'far', { attributes: {} }, 'on 100-100'],
    ['to a key with another attribute than', 'far', { attributes: { a: 'FR' } }, 'on 100-100'],
    [
      'to a key with the attribute that must be another',
      'far',
      { attributes: { a: 'ES' } },
      'off 100-100',
    ],
    ['while it is taken to be killed', 'pay', { key: 'tara', killed: true }, 'off 100-100'],
    ['while another flag decides', 'cart', { segments: [], attributes: {} }, 'off 90-90, on 10-10'],
    [
      'while another flag decides, for a target of that one',
      'cart',
      { key: 'tara', segments: [], attributes: {} },
      'on 100-100',
    ],
    ['while the break-glass list kills it', 'dead', { key: 'tara' }, 'off 100-100'],
    ['while the killing is taken away', 'dead', { killed: false }, 'on 100-100'],
  ])('%s', async (_situation, flag, situation, expected) => {
    expect(await shares(flag, situation)).toBe(expected);
  });

  it('is no answer where the flag is not declared', async () => {
    expect(await shares('nobody', {})).toBe('');
  });
});

function semver(type: string, string: string): ConditionSpec {
  return { matcher: { type, attribute: 'a', string } };
}

describe('a condition', () => {
  it.each<[ConditionSpec, unknown, boolean | undefined]>([
    [{ attribute: 'a', in: ['x', 'y'] }, 'y', true],
    [{ attribute: 'a', in: ['1'] }, 1, true],
    [{ attribute: 'a', in: ['x'] }, 'X', false],
    [{ attribute: 'a', startsWith: ['qa-'] }, 'qa-1', true],
    [{ attribute: 'a', startsWith: ['qa-'] }, 'a-qa-', false],
    [{ attribute: 'a', endsWith: ['.org'] }, 'a.org', true],
    [{ attribute: 'a', endsWith: ['.org'] }, 'a.org.uk', false],
    [{ attribute: 'a', contains: ['bot'] }, 'robots', true],
    [{ attribute: 'a', contains: ['bot'] }, 'human', false],
    [{ attribute: 'a', matches: '^A[0-9]+$' }, 'A12', true],
    [{ attribute: 'a', matches: '^A[0-9]+$' }, 'A', false],
    [{ attribute: 'a', matches: '(?i)a' }, 'A', undefined],
    [{ attribute: 'a', is: true }, 'true', true],
    [{ attribute: 'a', is: false }, true, false],
    [{ attribute: 'a', equals: 25 }, '25', true],
    [{ attribute: 'a', equals: 25 }, 'many', false],
    [{ attribute: 'a', atLeast: 18 }, 18, true],
    [{ attribute: 'a', atLeast: 18 }, 17, false],
    [{ attribute: 'a', atMost: 18 }, 18, true],
    [{ attribute: 'a', atMost: 18 }, '19', false],
    [{ attribute: 'a', between: [1, 3] }, 3, true],
    [{ attribute: 'a', between: [1, 3] }, 4, false],
    [{ attribute: 'a', on: '2026-10-03' }, '2026-10-03T22:14:00Z', true],
    [{ attribute: 'a', on: '2026-10-03' }, '2026-10-04', false],
    [{ attribute: 'a', onOrAfter: '2026-10-03' }, dateMs('2026-10-03'), true],
    [{ attribute: 'a', onOrBefore: '2026-10-03' }, '2026-10-04', false],
    [{ attribute: 'a', betweenDates: ['2026-01-01', '2026-12-31'] }, '2026-06-01', true],
    [{ attribute: 'a', setEquals: ['x', 'y'] }, ['y', 'x'], true],
    [{ attribute: 'a', setEquals: ['x', 'y'] }, ['x'], false],
    [{ attribute: 'a', setAnyOf: ['x', 'y'] }, ['y', 'z'], true],
    [{ attribute: 'a', setAllOf: ['x', 'y'] }, ['x'], false],
    [{ attribute: 'a', setPartOf: ['x', 'y'] }, ['x'], true],
    [{ attribute: 'a', setPartOf: ['x', 'y'] }, [], false],
    [{ attribute: 'a', setEquals: ['x'] }, 'x', true],
    [{ attribute: 'a', in: [''] }, '', false],
    [{ attribute: 'a', onOrBefore: '2026-10-03T10:00:00Z' }, '2026-10-03T10:00:59Z', true],
    [{ attribute: 'a', onOrBefore: '2026-10-03T10:00:00Z' }, '2026-10-03T10:01:00Z', false],
    [{ matcher: { type: 'EQUAL_TO_SEMVER', attribute: 'a', string: '2.1.0' } }, '2.01.0', true],
    [{ matcher: { type: 'EQUAL_TO_SEMVER', attribute: 'a', string: '2.1.0' } }, '2.1.0+b1', false],
    [{ matcher: { type: 'EQUAL_TO_SEMVER', attribute: 'a', string: '2.1.0' } }, '2.1', false],
    [semver('GREATER_THAN_OR_EQUAL_TO_SEMVER', '2.10.0'), '2.9.9', false],
    [semver('GREATER_THAN_OR_EQUAL_TO_SEMVER', '2.1.0-rc.9'), '2.1.0-rc.10', true],
    [semver('GREATER_THAN_OR_EQUAL_TO_SEMVER', '2.1.0'), '2.1.0-rc.1', false],
    [semver('LESS_THAN_OR_EQUAL_TO_SEMVER', '2.1.0-rc.1'), '2.1.0-beta', true],
    [semver('LESS_THAN_OR_EQUAL_TO_SEMVER', '2.1.0-rc'), '2.1.0-rc.1', false],
    [
      {
        matcher: {
          type: 'BETWEEN_SEMVER',
          attribute: 'a',
          between: { from: '1.0.0', to: '2.0.0' },
        },
      },
      '1.10.0',
      true,
    ],
    [
      { matcher: { type: 'IN_LIST_SEMVER', attribute: 'a', strings: ['1.0.0', '2.0.0'] } },
      '2.0.0',
      true,
    ],
    [{ matcher: { type: 'OF_TOMORROW', attribute: 'a' } }, 'x', undefined],
  ])('%j on %j', (condition, value, expected) => {
    const matcher = matcherOf(condition);

    expect(matcher.ok && meets(matcher.value, asCompared(matcher.value, value))).toBe(expected);
  });
});
