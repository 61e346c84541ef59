import { describe, expect, it } from 'vitest';
import { readSpecs, type SpecsResult } from '../../../src/specs/read-specs.js';
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

/** The last of several readings with one memory; and that it says what it would say without. */
async function readAfter(...commits: Files[]): Promise<SpecsResult> {
  const memory = new SpecCache();
  let last: SpecsResult | null = null;
  for (const files of commits) {
    // In sequence: each reading leaves its memory to the next.
    last = await readSpecs(treeOf(files), memory);
    expect(last).toEqual(await readSpecs(treeOf(files)));
  }
  if (last === null) throw new Error('nothing was read');
  return last;
}

async function codesAfter(...commits: Files[]): Promise<string[]> {
  const result = await readAfter(...commits);
  return result.ok ? [] : result.diagnostics.map(({ code }) => code);
}

describe('specs of which flags changed since the last reading', () => {
  it('are invalid, not empty, once a link stands for the folder of flags', async () => {
    const memory = new SpecCache();
    const { 'flagkeel.yaml': config = '', 'flags/cart.yaml': cart = '' } = FILES;
    const before = await readSpecs(
      treeOf({ 'flagkeel.yaml': config, 'flags/cart.yaml': cart }),
      memory,
    );

    const now = await readSpecs(treeOf({ 'flagkeel.yaml': config }, ['flags']), memory);

    expect(before.ok).toBe(true);
    expect(now).toMatchObject({ ok: false, diagnostics: [{ code: 'not-a-folder' }] });
  });

  it('are those of the last reading but for these flags', async () => {
    const memory = new SpecCache();
    const before = await readSpecs(treeOf(FILES), memory);
    const files = { ...FILES, 'flags/shop.yaml': flag('shop', '', { on: 20 }) };

    const now = await readSpecs(treeOf(files), memory);

    if (!before.ok || !now.ok) throw new Error('the specs are wrong');
    expect(now).toEqual(await readSpecs(treeOf(files)));
    expect([...now.desired.flags.keys()]).toEqual(['cart', 'pay', 'shop']);
    expect(now.desired.flags.get('pay')).toBe(before.desired.flags.get('pay'));
    expect(now.desired.flags.get('shop')).not.toEqual(before.desired.flags.get('shop'));
    expect(now.desired.segments.get('staff')).toBe(before.desired.segments.get('staff'));
  });

  it('are wrong where another flag asks for what the changed one has no more', async () => {
    const other = flag('cart').replaceAll('"on"', '"yes"');

    expect(await codesAfter(FILES, { ...FILES, 'flags/cart.yaml': other })).toEqual([
      'unknown-treatment',
    ]);
  });

  it('are wrong where the changed flag asks for what is not there', async () => {
    const shop = asking('shop', 'nobody');

    expect(await codesAfter(FILES, { ...FILES, 'flags/shop.yaml': shop })).toEqual([
      'unknown-flag',
    ]);
  });

  it('are wrong where changed flags now ask about each other', async () => {
    const files = { ...FILES, 'flags/pay.yaml': flag('pay') };
    const circle = {
      ...files,
      'flags/pay.yaml': asking('pay', 'shop'),
      'flags/shop.yaml': asking('shop', 'pay'),
    };

    expect(await codesAfter(files, circle)).toEqual(['dependency-cycle']);
  });

  it('are wrong where a flag took the name of another, or one that its file has not', async () => {
    const taken = { ...FILES, 'flags/shop.yaml': flag('cart') };
    expect(await codesAfter(FILES, taken)).toEqual(['duplicate-flag']);

    const other = { ...FILES, 'flags/shop.yaml': flag('store') };
    expect(await codesAfter(FILES, other)).toEqual(['file-name']);
  });

  it('are wrong where the block of a changed flag stands in a file of its own already', async () => {
    const own = {
      'flags/shop@production.yaml': 'flag: shop\nenvironment: production\ndefaultRule: "on"\n',
    };
    const config = FILES['flagkeel.yaml']?.replace(
      '{ staging: {} }',
      '{ staging: {}, production: {} }',
    );
    const files = { ...FILES, ...own, 'flagkeel.yaml': config ?? '' };
    const both = `${flag('shop')}  production: { defaultRule: "off" }\n`;

    expect(await codesAfter(files, { ...files, 'flags/shop.yaml': both })).toEqual([
      'environment-twice',
    ]);
  });

  it('are right again once the mistake is taken back', async () => {
    const wrong = { ...FILES, 'flags/shop.yaml': 'flag: shop\n' };

    expect(await readAfter(FILES, wrong, FILES)).toMatchObject({ ok: true, warnings: [] });
  });
});
