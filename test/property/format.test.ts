import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { formattedSpec } from '../../src/specs/edit/format.js';
import { readSpecs } from '../../src/specs/read-specs.js';
import { treeOf } from '../support/spec-tree.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('formatting', 200);

/** Words that some reader of YAML takes for something else than text, and some that all take for text. */
const WORDS = [
  ...'on Off yes NO y null ~ True 007 0x1F 0b11 1e5 1_000 .inf 1:30 12:30:45'.split(' '),
  ...'2026-10-03 2026-10-03T22:14:00Z 3.10 +1 -0 user-1 straße ключ a#b ='.split(' '),
  ...['a b', "it's"],
];
const word = fc.constantFrom(...WORDS);
/** Plain, or in one of two kinds of quotes. */
const written = fc.tuple(word, fc.nat(3)).map(([text, lot]) => {
  if (lot === 0) return JSON.stringify(text);
  return lot === 1 ? `'${text.replaceAll("'", "''")}'` : text;
});
const remark = fc.constantFrom('', '', ' # why', '   # on: [b, a]', '  ');

/** A list of different texts behind a member, on one line or below, with comments behind, between or above. */
function list(indent: string): fc.Arbitrary<string> {
  const items = fc.uniqueArray(written, { minLength: 1, maxLength: 5, selector: bareText });
  return fc
    .tuple(items, fc.boolean(), fc.array(remark, { minLength: 5, maxLength: 5 }), fc.nat(4))
    .map(([texts, isFlow, remarks, apart]) => {
      if (isFlow) return ` [${texts.join(', ')}]${remarks[0] ?? ''}\n`;
      const lines = texts.map((text, at) => `${indent}- ${text}${remarks[at] ?? ''}\n`);
      if (apart === 0) lines.splice(1, 0, `${indent}# apart\n`);
      if (apart === 1) lines.splice(1, 0, '\n');
      return `\n${lines.join('')}`;
    });
}

function bareText(text: string): string {
  return text.replace(/^(['"])(.*)\1$/, '$2').replaceAll("''", "'");
}

const flagText = fc
  .tuple(list('  '), list('        '), list('            '), written, written, remark, remark)
  .map(
    ([tags, targets, texts, owner, name, first, second]) => `# A flag.
flag: pay
owner: ${owner}${first}
tags:${tags}treatments: { on: ${name}, off: "" }
defaultTreatment: off${second}
environments:
  production:
    targets:
      on:${targets}    rules:
      - name: ${name}
        if:
          - attribute: ${owner}
            in:${texts}        serve: { on: 50, off: rest }
    defaultRule: on`,
  );

const comments = (text: string): string[] =>
  [...text.matchAll(/(?:^|\s)(# (?:why|apart|on: \[b, a\]|A flag\.))/gm)]
    .map(([, each]) => each ?? '')
    .sort();

const CONFIG =
  'workspace: Default\nenvironments: { production: {} }\ndefaults: { trafficType: user }\n';

async function meaning(text: string): Promise<unknown> {
  const result = await readSpecs(treeOf({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': text }));
  if (!result.ok) throw new Error(`${text}\n${JSON.stringify(result.diagnostics)}`);
  const flag = result.desired.flags.get('pay');
  return { fields: flag?.fields, definition: flag?.environments.get('production')?.creation };
}

it('formatting keeps what a spec means, and every comment, and is done once', async () => {
  await fc.assert(
    fc.asyncProperty(flagText, async (text) => {
      const formatted = formattedSpec('flag', text);

      expect(await meaning(formatted)).toEqual(await meaning(text));
      expect(comments(formatted)).toEqual(comments(text));
      expect(formattedSpec('flag', formatted)).toBe(formatted);
    }),
    settings,
  );
});

it('a formatted spec is read alike by readers of YAML 1.1 and of YAML 1.2', () => {
  fc.assert(
    fc.property(flagText, (text) => {
      const formatted = formattedSpec('flag', text);

      expect(parse(formatted, { version: '1.1' })).toEqual(parse(formatted, { version: '1.2' }));
      expect(JSON.stringify(parse(formatted, { version: '1.1' }))).toBe(
        JSON.stringify(parse(formatted, { version: '1.2', schema: 'core' })),
      );
    }),
    settings,
  );
});
