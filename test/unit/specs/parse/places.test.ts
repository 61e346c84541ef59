import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parsedAgain, parsedApart, parseFile } from '../../../../src/specs/parse/parse-file.js';
import { placesIn } from '../../../../src/specs/parse/typed-value.js';
import { parseYaml } from '../../../../src/specs/parse/yaml-file.js';

const EXAMPLE = readFileSync(
  join(import.meta.dirname, '../../../../specs-example/flags/checkout/new-checkout.yaml'),
  'utf8',
);

const FLAG_OF_RIGHT_SPEC = 'flag: n\ntreatments: { on: "", off: "" }\ndefaultTreatment: off';

/** Shapes in which offsets could go astray. */
const FLAGS: Readonly<Record<string, string>> = {
  'a whole flag': EXAMPLE,
  'keys that look like numbers': `flag: n
treatments: { "10": ten, "9": nine, on: "" }
environments:
  staging: { targets: { "9": [a, b], "10": [c] }, defaultRule: { "9": 50, "10": 50 } }
  production: { defaultRule: "9" }
`,
  'numbers behind other keys, and one larger than objects put first': `flag: n
treatments: { on: "", "9": nine, off: "" }
environments:
  staging: { targets: { on: [a], "4294967296": [b, c], off: [d] }, defaultRule: { on: 50, "9": 50 } }
`,
  'values that are not there, and empty lists and mappings': `flag: n
description:
tags: []
environments: { staging: , production: { targets: {}, rules: [], defaultRule: "on" } }
`,
  'texts of several lines, comments and other alphabets': `# 旗
flag: n
description: |
  one
  two # no comment
tags: [ "ä", b ] # set
environments:
  # before
  staging:
    rules:
    - if: [ { segment: x }, { attribute: y, in: [ 1, 2 ] } ]
      serve: "on"
    defaultRule: >-
      on
`,
  'environments that say the same, and one in another order': `flag: n
environments:
  dev: { rules: [{ if: { segment: x }, serve: { on: 10, off: 90 } }], defaultRule: { on: 1, off: 99 } }
  staging: { rules: [{ if: { segment: x }, serve: { on: 10, off: 90 } }], defaultRule: { on: 1, off: 99 } }
  production: { defaultRule: { off: 99, on: 1 }, rules: [{ serve: { off: 90, on: 10 }, if: { segment: x } }] }
`,
  'more than 65,535 characters': `flag: n
description: "${'x'.repeat(70_000)}"
tags: [a, b]
environments: { staging: { defaultRule: "on" } }
`,
};

it.each(Object.keys(FLAGS))('every value has the place that a whole walk finds: %s', (name) => {
  const text = FLAGS[name] ?? '';
  const yaml = parseYaml(text);
  if (!yaml.ok) throw new Error(yaml.problem.message);
  const { places } = parseFile('flag', Buffer.from(text));

  for (const [pointer, { key, value }] of placesIn(yaml.document, 'flag')) {
    const path = pointer.split('/').slice(1);
    const place = places?.at(path);
    expect([pointer, place?.key, place?.value]).toEqual([pointer, key, value]);
    expect(places?.startOf(path)).toBe((key ?? value).from);
  }
  expect(places?.at(['environments', 'nowhere', 'rules', 0])).toBeUndefined();
});

it.each(Object.keys(FLAGS))('a file that another thread parsed is the same: %s', (name) => {
  const text = FLAGS[name] ?? '';
  const here = parseFile('flag', Buffer.from(text));

  const apart = parsedApart('flag', text);

  expect(apart === null).toBe(!here.valid);
  if (apart === null) return;
  const again = parsedAgain('flag', text, structuredClone(apart));
  expect(again).toEqual(here);
  expect(Object.getPrototypeOf(Object.getPrototypeOf(again.value))).toBeNull();
});

it.each([
  ['a key of the service', 'flag: fka_0123456789abcdef0123456789abcdef01234567\n'],
  ['an unknown field', `${EXAMPLE}nonsense: 1\n`],
  ['a key twice', `${EXAMPLE}flag: other\n`],
  ['no YAML', 'flag: [\n'],
])('is left to the thread that asks, with %s', (_situation, text) => {
  expect(parseFile('flag', Buffer.from(text)).problems).not.toEqual([]);
  expect(parsedApart('flag', text)).toBeNull();
});

it('environments that say the same are one value, and in another order two', () => {
  const [name] = Object.keys(FLAGS).filter((each) => each.includes('say the same'));
  const text = FLAGS[name ?? ''] ?? '';
  const apart = parsedApart('flag', text.replace('flag: n', FLAG_OF_RIGHT_SPEC));
  const values = [parseFile('flag', Buffer.from(text)).value];
  if (apart !== null) values.push(parsedAgain('flag', text, apart).value);

  expect(values).toHaveLength(2);
  for (const value of values) {
    const { dev, staging, production } = (
      value as { environments: Record<string, { defaultRule: object }> }
    ).environments;
    expect(staging).toBe(dev);
    expect(Object.keys(dev?.defaultRule ?? {})).toEqual(['on', 'off']);
    expect(Object.keys(production?.defaultRule ?? {})).toEqual(['off', 'on']);
  }
});
