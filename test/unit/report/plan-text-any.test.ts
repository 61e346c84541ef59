import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Action, FieldChange } from '../../../src/model/plan.js';
import { planDocument, planJson } from '../../../src/report/json/plan.js';
import { planText } from '../../../src/report/text/plan.js';
import { aChange, aReport, aWithheld, keyChange } from '../../support/plan-builder.js';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('\ud800', '\u001b[2J', '\u202e', 'a\nPlan: 9 to create'),
);
const bucket = fc.record({ treatment: text, size: fc.nat(100) });
const matcher = fc.record(
  {
    type: fc.oneof(fc.constantFrom('IN_SEGMENT', 'IN_LIST_STRING', 'IN_SPLIT', 'ON_DATE'), text),
    attribute: text,
    string: text,
    strings: fc.array(text),
    date: fc.integer(),
    negate: fc.boolean(),
    depends: fc.record({ splitName: text, treatments: fc.array(text) }),
  },
  { requiredKeys: ['type'] },
);
const rule = fc.record({ matchers: fc.array(matcher), buckets: fc.array(bucket) });
const treatment = fc.record({ name: text, description: text }, { requiredKeys: ['name'] });
/** Mostly of a shape that some field has, though not always the field that it is given to. */
const value = fc.oneof(
  fc.array(bucket, { maxLength: 4 }),
  fc.array(rule, { maxLength: 4 }),
  fc.array(treatment, { maxLength: 4 }),
  fc.array(text),
  text,
  fc.boolean(),
  fc.integer(),
  fc.jsonValue(),
);
const field: fc.Arbitrary<FieldChange> = fc
  .record(
    {
      path: fc.constantFrom(
        '/killed',
        '/treatments',
        '/rules',
        '/defaultRule',
        '/description',
        '/tags',
        '/trafficAllocation',
        '/other',
      ),
      reason: fc.constantFrom('commit', 'drift', 'conflict'),
      base: value,
      before: value,
      after: value,
    },
    { requiredKeys: ['path', 'reason'] },
  )
  .map((each) => each as FieldChange);
const action = fc.constantFrom<Action>('create', 'update', 'delete', 'activate', 'deactivate');

/** Texts of others in every place that has some. */
const report = fc
  .tuple(action, fc.array(field, { maxLength: 5 }), fc.array(text), text)
  .map(([what, fields, keys, foreign]) => {
    const location = { file: foreign, line: 1, column: 1 };
    const change = aChange(`flag/${foreign}`, what, {
      fields,
      location,
      keys: keyChange(keys, keys),
    });
    const withheld = aWithheld(foreign, 'update', 'drift-reported', { because: foreign });
    return aReport(
      { changes: [change], withheld: [withheld] },
      {
        notes: new Map([[change.id, { title: foreign, comment: foreign }]]),
        ...{ workspace: { id: foreign, name: foreign }, origin: foreign },
      },
    );
  });

it('prints whatever a plan holds, and nothing in it acts on the terminal', () => {
  fc.assert(
    fc.property(report, fc.boolean(), fc.integer({ min: 20, max: 200 }), (any, showKeys, width) => {
      const plain = planText(any, { color: false, width, showKeys });
      const colored = planText(any, { color: true, width, showKeys });

      expect(plain).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}|\p{Cs}/u);
      expect(stripVTControlCharacters(colored)).toBe(plain);
      expect(plain.endsWith('\n')).toBe(true);
      // No text of others begins a line.
      expect(plain.match(/^Plan: /gm)).toHaveLength(1);
    }),
  );
});

it('gives the same JSON twice, and JSON that reads back', () => {
  fc.assert(
    fc.property(report, fc.boolean(), (any, showKeys) => {
      const printed = planJson(planDocument(any, { showKeys }));

      expect(planJson(planDocument(structuredClone(any), { showKeys }))).toBe(printed);
      expect(() => JSON.parse(printed) as unknown).not.toThrow();
    }),
  );
});
