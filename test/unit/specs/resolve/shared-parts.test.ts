import { expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { readSpecs } from '../../../../src/specs/read-specs.js';
import { treeOf } from '../../../support/spec-tree.js';

function flag(name: string, treatments: string, condition: string): string {
  return `flag: ${name}
treatments: ${treatments}
defaultTreatment: "off"
environments:
  staging:
    rules: [{ if: ${condition}, serve: { "on": 10, "off": rest } }]
    defaultRule: { "on": 1, "off": 99 }
`;
}

const ON_OFF = '{ "on": "", "off": "" }';
const OFF_ON = '{ "off": "", "on": "" }';
const COUNTRY = '{ attribute: country, in: [DE, FR] }';

/** What flags of these files are created with in `staging`. */
async function definitions(
  flags: Readonly<Record<string, string>>,
  conditions = '{}',
): Promise<(name: string) => Required<Definition>> {
  const config = `workspace: Default\nenvironments: { staging: {} }\ndefaults: { trafficType: user }\nconditions: ${conditions}\n`;
  const result = await readSpecs(treeOf({ 'flagkeel.yaml': config, ...flags }));
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return (name) => {
    const found = result.desired.flags.get(name)?.environments.get('staging')?.creation;
    if (found === undefined) throw new Error(`no flag ${name}`);
    return found;
  };
}

it('flags that say the same hold one list of rules and of buckets', async () => {
  const of = await definitions({
    'flags/cart.yaml': flag('cart', ON_OFF, COUNTRY),
    'flags/pay.yaml': flag('pay', ON_OFF, COUNTRY),
  });

  expect(of('pay').rules).toBe(of('cart').rules);
  expect(of('pay').defaultRule).toBe(of('cart').defaultRule);
  expect(of('pay').treatments).toBe(of('cart').treatments);
});

it('the same rules over treatments in another order have buckets in that order', async () => {
  const of = await definitions({
    'flags/cart.yaml': flag('cart', ON_OFF, COUNTRY),
    'flags/pay.yaml': flag('pay', OFF_ON, COUNTRY),
  });

  const order = (name: string): (readonly string[] | undefined)[] =>
    [of(name).rules[0]?.buckets, of(name).defaultRule].map((buckets) =>
      buckets?.map(({ treatment }) => treatment),
    );
  expect(order('cart')).toEqual([
    ['on', 'off'],
    ['on', 'off'],
  ]);
  expect(order('pay')).toEqual([
    ['off', 'on'],
    ['off', 'on'],
  ]);
});

it('a condition that is used by name is what the config at hand says it is', async () => {
  const files = { 'flags/cart.yaml': flag('cart', ON_OFF, '{ use: insiders }') };
  const before = await definitions(files, '{ insiders: { attribute: country, in: [DE] } }');
  const now = await definitions(files, '{ insiders: { attribute: country, in: [FR] } }');

  const countries = [before, now].map((of) => of('cart').rules[0]?.matchers[0]?.['strings']);
  expect(countries).toEqual([['DE'], ['FR']]);
});
