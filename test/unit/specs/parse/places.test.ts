import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isMap, isSeq, parseDocument, type Scalar } from 'yaml';
import { parseFile } from '../../../../src/specs/parse/parse-file.js';

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
  'a key and its value twice, an alias, and a tag': `flag: n
"10": &a { b: [1] }
tags: [x, *a, y]
description: !!str z
description: twice
environments: { staging: { "2": a, "1": [b] } }
`,
  'more than 65,535 characters': `flag: n
description: "${'x'.repeat(70_000)}"
tags: [a, b]
environments: { staging: { defaultRule: "on" } }
`,
};

interface Placed {
  readonly path: readonly (string | number)[];
  readonly key: unknown;
  readonly value: unknown;
}

/** Every value of a document with its node and that of its key, as the library has them. */
function placed(value: unknown, path: Placed['path'] = [], key: unknown = null): Placed[] {
  const below = isMap(value)
    ? value.items.flatMap((pair, at, pairs) => {
        const name = (pair.key as Scalar).source ?? '';
        // Of a key that stands there twice the first value counts.
        if (pairs.findIndex((each) => (each.key as Scalar).source === name) < at) return [];
        return placed(pair.value, [...path, name], pair.key);
      })
    : isSeq(value)
      ? value.items.flatMap((item, at) => placed(item, [...path, at]))
      : [];
  return [{ path, key, value }, ...below];
}

function spanOf(node: unknown): object | undefined {
  const { range } = (node ?? {}) as { readonly range?: readonly number[] };
  return range && { from: range[0], to: range[1] };
}

it.each(Object.entries(FLAGS))('every value has the place of its node: %s', (_, text) => {
  const { contents } = parseDocument(text, { schema: 'failsafe', uniqueKeys: false });
  const file = parseFile('flags/n.yaml', 'flag', Buffer.from(text));

  for (const { path, key, value } of placed(contents)) {
    const expected = { key: spanOf(key), value: spanOf(value) ?? spanOf(key) };
    expect([path, { key: undefined, ...file.place(path) }]).toEqual([path, expected]);
  }
  expect(file.place(['environments', 'nowhere', 'rules', 0])).toBeUndefined();
});
