import { describe, expect, it } from 'vitest';
import { formattedKeys, formattedSpec } from '../../../../src/specs/edit/format.js';

const FLAG = `# The first line stays where it is.
flag: pay
tags: [web, checkout]   
expires: 2026-12-31 # a day
treatments:
  on: Yes, please
  off: { description: No, configuration: { tags: [b, a], size: 007, mode: on } }
defaultTreatment: off
environments:
  production:
    targets:
      on:
        - user-2 # asked for it
        - 0012
        - user-1    # the first of all
      off:
        # These two are robots.
        - z-bot
        - a-bot
    rules:
      - name: |
          kept  
          as it is
        if: [{ attribute: country, in: [FR, NO] }, { attribute: joined, on: 2026-10-03 }]
        serve: { on: 50, off: rest }
    defaultRule: on
    killed: false`;

describe('a formatted flag', () => {
  it('has quotes where other tools misread, sorted sets, and every comment', () => {
    expect(formattedSpec('flag', FLAG)).toBe(`# The first line stays where it is.
flag: pay
tags: [checkout, web]
expires: "2026-12-31" # a day
treatments:
  "on": Yes, please
  "off": { description: "No", configuration: { tags: [b, a], size: 007, mode: "on" } }
defaultTreatment: "off"
environments:
  production:
    targets:
      "on":
        - "0012"
        - user-1    # the first of all
        - user-2 # asked for it
      "off":
        # These two are robots.
        - a-bot
        - z-bot
    rules:
      - name: |
          kept  
          as it is
        if: [{ attribute: country, in: [FR, "NO"] }, { attribute: joined, "on": "2026-10-03" }]
        serve: { "on": 50, "off": rest }
    defaultRule: "on"
    killed: false
`);
  });

  it.each([
    ['a comment among them', 'tags:\n  - b\n  # and then\n  - a\n'],
    ['a blank line among them', 'tags:\n  - b\n\n  - a\n'],
    ['a comment in brackets', 'tags: [\n  b, # first\n  a ]\n'],
  ])('keeps the order of a set with %s', (_what, tags) => {
    const text = `flag: pay\n${tags}treatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\n`;

    expect(formattedSpec('flag', text)).toBe(text);
  });
});

it('a formatted config keeps numbers, truth and the order of environments', () => {
  const text = `workspace: 0012
environments: { staging: {}, no: { protected: true } }
guards: { maxDeletes: 5 }
references: { segments: [b, a] }
`;

  expect(formattedSpec('config', text)).toBe(`workspace: "0012"
environments: { staging: {}, "no": { protected: true } }
guards: { maxDeletes: 5 }
references: { segments: [a, b] }
`);
});

it.each([
  ['is sorted, each key once', 'b\na\nb\n', 'a\nb\n'],
  ['keeps the comments above', '# ours\n\nb\na', '# ours\n\na\nb\n'],
  ['keeps its order where comments part it', 'b\n# more\na\n', 'b\n# more\na\n'],
  ['keeps the ends of its lines', 'b\r\na\r\n', 'a\r\nb\r\n'],
  ['may be empty', '# none yet\n', '# none yet\n'],
])('a formatted list of keys %s', (_what, text, expected) => {
  expect(formattedKeys(text)).toBe(expected);
});
