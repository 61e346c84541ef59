import { describe, expect, it } from 'vitest';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { SpecCache } from '../../../src/specs/cache.js';
import { treeOf } from '../../support/spec-tree.js';

type Files = Readonly<Record<string, string>>;

function flag(name: string, rest = '', { on = 10 } = {}): string {
  return `flag: ${name}
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
${rest}environments:
  staging: { defaultRule: { "on": ${on}, "off": rest } }
`;
}

function asking(name: string, other: string, treatment = 'on'): string {
  const rule = `{ if: { flag: ${other}, treatments: ["${treatment}"] }, serve: "on" }`;
  return `${flag(name)}    rules: [${rule}]\n`.replace(
    'staging: { defaultRule: { "on": 10, "off": rest } }',
    'staging:\n    defaultRule: { "on": 10, "off": rest }',
  );
}

const FILES: Files = {
  'flagkeel.yaml':
    'workspace: Default\nenvironments: { staging: {} }\ndefaults: { trafficType: user }\n',
  'flags/cart.yaml': flag('cart'),
  'flags/pay.yaml': asking('pay', 'cart'),
  'flags/shop.yaml': flag('shop'),
  'segments/staff.yaml': 'segment: staff\nenvironments: { staging: { keys: [a] } }\n',
};

/** A link in the place of the folder of flags. */
const LINKED = { '': 'flags' };

describe('with one memory, specs of which files changed since the last reading', () => {
  it.each<[string, Files, string[]]>([
    [
      'another flag asks for what the changed one has no more',
      { 'flags/cart.yaml': flag('cart').replaceAll('"on"', '"yes"') },
      ['unknown-treatment'],
    ],
    [
      'the changed flag asks for what is not there',
      { 'flags/shop.yaml': asking('shop', 'nobody') },
      ['unknown-flag'],
    ],
    [
      'changed flags ask about each other',
      { 'flags/cart.yaml': asking('cart', 'shop'), 'flags/shop.yaml': asking('shop', 'cart') },
      ['dependency-cycle'],
    ],
    ['a flag took the name of another', { 'flags/shop.yaml': flag('cart') }, ['duplicate-flag']],
    [
      'a flag took a name that its file has not',
      { 'flags/shop.yaml': flag('store') },
      ['file-name'],
    ],
    [
      'a block stands in a file of its own already',
      { 'flags/shop@staging.yaml': 'flag: shop\nenvironment: staging\ndefaultRule: "on"\n' },
      ['environment-twice'],
    ],
    ['a link stands for the folder of flags', LINKED, ['not-a-folder']],
  ])('are read as without one: %s', async (_, changed, codes) => {
    const memory = new SpecCache();
    const isLinked = changed === LINKED;
    const { 'flagkeel.yaml': config = '' } = FILES;
    const wrong = isLinked ? { 'flagkeel.yaml': config } : { ...FILES, ...changed };
    const readings = [];
    for (const [files, links] of [
      [FILES, []],
      [wrong, isLinked ? ['flags'] : []],
      [FILES, []],
    ] as const) {
      // In sequence: each reading leaves its memory to the next.
      const result = await readSpecs(treeOf(files, links), memory);
      expect(result).toEqual(await readSpecs(treeOf(files, links)));
      readings.push(result.ok ? [] : result.diagnostics.map(({ code }) => code));
    }

    expect(readings).toEqual([[], codes, []]);
  });

  it('are those of the last reading but for these flags', async () => {
    const memory = new SpecCache();
    const before = await readSpecs(treeOf(FILES), memory);
    const files = { ...FILES, 'flags/shop.yaml': flag('shop', '', { on: 20 }) };

    const now = await readSpecs(treeOf(files), memory);

    if (!before.ok || !now.ok) throw new Error('the specs are wrong');
    expect([...now.desired.flags.keys()]).toEqual(['cart', 'pay', 'shop']);
    expect(now.desired.flags.get('pay')).toBe(before.desired.flags.get('pay'));
    expect(now.desired.flags.get('shop')).not.toEqual(before.desired.flags.get('shop'));
    expect(now.desired.segments.get('staff')).toBe(before.desired.segments.get('staff'));
  });
});
