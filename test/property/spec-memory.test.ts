import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readSpecs } from '../../src/specs/read-specs.js';
import { SpecCache } from '../../src/specs/cache.js';
import { treeOf } from '../support/spec-tree.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('laws of the memory of specs', 50);

const CONFIGS = [
  'workspace: Default\nenvironments: { staging: {}, production: {} }\ndefaults: { trafficType: user }\n',
  'workspace: Default\nenvironments: { staging: {}, production: { protected: true } }\nprune: true\ndefaults: { trafficType: user }\n',
  'workspace: Default\nenvironments: { staging: {} }\n',
  'workspace: Default\nenvironments: { staging: {}, production: {} }\ndefaults: { trafficType: user }\nconditions: { insiders: { segment: staff } }\n',
  'workspace: Default\nenvironments: { staging: {}, production: {} }\ndefaults: { trafficType: user }\nconditions: { insiders: [{ segment: staff }, { flag: cart, treatments: ["on", "of"] }] }\n',
  'workspace: Default\nenvironments: { staging: {}, production: {} }\nreferences: { segments: [staff] }\ndefaults: { trafficType: account }\n',
];

function flag(name: string, blocks: string): string {
  return `flag: ${name}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments:\n${blocks}`;
}

const PLAIN = '  staging: { defaultRule: "on" }\n';
const RULE = (condition: string): string =>
  `  staging: { rules: [{ if: ${condition}, serve: "on" }], defaultRule: "off" }\n`;

/** Path → the contents that it may have; the first of each is right, and most are right together. */
const CHOICES: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'flagkeel.yaml': CONFIGS,
  'flags/pay.yaml': [
    flag('pay', PLAIN),
    flag('pay', RULE('{ segment: staff }')),
    flag('pay', RULE('{ flag: cart, treatments: ["on"] }')),
    flag('pay', RULE('{ use: insiders }')),
    flag('pay', '  staging: { defaultRule: { "on": 10, "off": 80 } }\n'),
    undefined,
  ],
  'flags/pay@production.yaml': [
    undefined,
    'flag: pay\nenvironment: production\ndefaultRule: "off"\n',
    'flag: pay\nenvironment: production\ndefaultRule: "none"\n',
  ],
  'flags/cart.yaml': [
    flag('cart', PLAIN),
    flag('cart', RULE('{ flag: pay, treatments: ["on"] }')),
    `trafficType: account\n${flag('cart', PLAIN)}`,
    'flag: cart\n  nonsense\n',
    undefined,
  ],
  'flags/old/pay.yaml': [undefined, flag('pay', PLAIN)],
  'segments/staff.yaml': [
    'segment: staff\nenvironments: { staging: { keys: [a, b] } }\n',
    'segment: staff\nenvironments: { staging: { keysFile: staff.keys } }\n',
    'segment: staff\nenvironments: { staging: { mode: add-only, keysFile: staff.keys, keys: [c] } }\n',
    undefined,
  ],
  'segments/staff.keys': [undefined, 'a\nb\n', 'b\nc\n'],
  'kills/staging.yaml': [
    undefined,
    'kills: { pay: { reason: broken } }\n',
    'kills: { pay: { reason: broken }, stranger: { reason: 7 } }\n',
  ],
};

const someFiles = fc
  .record(
    Object.fromEntries(
      Object.entries(CHOICES).map(([path, [first, ...more]]) => [
        path,
        fc.oneof({ weight: 3, arbitrary: fc.constant(first) }, fc.constantFrom(...more)),
      ]),
    ),
  )
  .map((files) =>
    Object.fromEntries(
      Object.entries(files).flatMap(([path, content]) =>
        content === undefined ? [] : [[path, content]],
      ),
    ),
  );

it('specs are read alike with a memory of any commits and without one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someFiles, { minLength: 1, maxLength: 8 }), async (commits) => {
      const memory = new SpecCache();
      for (const files of commits) {
        // In sequence: each reading leaves its memory to the next.
        const remembered = await readSpecs(treeOf(files), memory);

        expect(remembered).toEqual(await readSpecs(treeOf(files)));
      }
    }),
    settings,
  );
});
