import { expect, it } from 'vitest';
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

it('flags share what a definition says, and only where all of it is said alike', async () => {
  const config =
    'workspace: Default\nenvironments: { staging: {} }\ndefaults: { trafficType: user }\n';
  const result = await readSpecs(
    treeOf({
      'flagkeel.yaml': config,
      'flags/cart.yaml': flag('cart', ON_OFF, COUNTRY),
      'flags/pay.yaml': flag('pay', ON_OFF, COUNTRY),
      'flags/shop.yaml': flag('shop', OFF_ON, COUNTRY),
    }),
  );
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const [cart, pay, shop] = [...result.desired.flags.values()].map(
    ({ environments }) => environments.get('staging')?.creation,
  );

  expect(cart).toBeDefined();
  expect(pay).toBe(cart);
  const orders = [cart, shop].map((each) =>
    [each?.rules[0]?.buckets, each?.defaultRule].map((buckets) =>
      buckets?.map(({ treatment }) => treatment).join(),
    ),
  );
  expect(orders).toEqual([
    ['on,off', 'on,off'],
    ['off,on', 'off,on'],
  ]);
});
