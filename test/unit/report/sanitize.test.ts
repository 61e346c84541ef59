import { renderLines, span } from '../../../src/report/text/layout.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clean, quoted } from '../../../src/report/sanitize.js';

/** Of every kind, those that terminals act on made likely. */
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    fc.constantFrom('\u001b', '\n', '\r', '\u202e', '\u2066', '\u200d', '\ufe0f', '👩', '\ud800'),
  ),
});

const FORBIDDEN = /\p{Cc}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Bidi_Control}/u;

it('lets nothing through that moves the cursor, turns the text round, or ends the line', () => {
  fc.assert(
    fc.property(text, (dirty) => {
      expect(clean(dirty)).not.toMatch(FORBIDDEN);
      expect(quoted(dirty)).not.toMatch(FORBIDDEN);
    }),
  );
});

it('changes nothing more the second time', () => {
  fc.assert(
    fc.property(text, (dirty) => {
      expect(clean(clean(dirty))).toBe(clean(dirty));
    }),
  );
});

it('leaves printable text as it is', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('a', 'Z', '0', '_', '.', '-', 'é', '漢', '"', '<', '…'),
        maxLength: 40,
      }),
      (plain) => {
        expect(clean(plain)).toBe(plain);
      },
    ),
  );
});

describe('a command to the runner of a workflow', () => {
  it('is spelled apart where it counts anywhere in a line', () => {
    expect(clean('##[add-mask]secret')).toBe('#<U+0023>[add-mask]secret');
    expect(clean(clean('###[x]'))).toBe(clean('###[x]'));
  });

  it('never begins a row, wrapped or not', () => {
    const line = { indent: 2, spans: [span('title '), span('::error::x', 'faint')] };

    expect(renderLines([line], { color: false, width: 8 })).toBe('  title\n      · ::error::x\n');
  });
});
