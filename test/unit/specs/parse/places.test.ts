import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseFile } from '../../../../src/specs/parse/parse-file.js';
import { placesIn } from '../../../../src/specs/parse/typed-value.js';
import { parseYaml } from '../../../../src/specs/parse/yaml-file.js';

const EXAMPLE = readFileSync(
  join(import.meta.dirname, '../../../../specs-example/flags/checkout/new-checkout.yaml'),
  'utf8',
);

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
