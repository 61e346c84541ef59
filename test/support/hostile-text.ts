import fc from 'fast-check';

/** Of the form of an Admin API key. */
export const EXAMPLE_KEY = 'fka_0123456789abcdefgh';

/** What has brought parsers, printers and expressions down elsewhere. */
export const HOSTILE: readonly string[] = [
  EXAMPLE_KEY,
  '\u0000',
  '\uFEFF',
  '\u2028',
  '\u202E\u200B',
  '\uD800',
  '\r',
  '\t',
  '"',
  "'",
  '*a ',
  '&a ',
  '<<: *a\n',
  '!!js/function ',
  '!!binary aGVsbG8=',
  '---\n',
  '...\n',
  '? ',
  '1e999',
  '-0',
  '9007199254740993',
  '__proto__: { polluted: true }\n',
  'constructor',
  'toString',
  '../../../etc/passwd',
  '[31m',
  '%',
  ' '.repeat(60_000),
  '\n'.repeat(60_000),
  '/'.repeat(60_000),
  'a'.repeat(60_000),
  '-'.repeat(60_000),
  'a: '.repeat(10_000),
  '['.repeat(10_000),
  '{"a":'.repeat(10_000),
  '- '.repeat(10_000),
  // Ten lists of ten of the one before: a thousand million values, were they written out.
  Array.from({ length: 10 }, (_, at) =>
    at === 0
      ? 'a0: &a0 x\n'
      : `a${at}: &a${at} [${Array<string>(10)
          .fill(`*a${at - 1}`)
          .join(', ')}]\n`,
  ).join(''),
];

/** Changes of a text: at a place, so much goes, and this comes. */
interface Cut {
  /** 0 to 1 of the text. */
  readonly at: number;
  readonly removed: number;
  readonly put: string;
}

const cut: fc.Arbitrary<Cut> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.constantFrom(0, 0, 1, 3, 40),
  put: fc.oneof(
    fc.constantFrom(...HOSTILE),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constant(''),
  ),
});

/** One of the texts, cut in a few places and filled with what is hostile. */
export function hostileTextOf(texts: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(cut, { minLength: 1, maxLength: 3 }))
    .map(([text, cuts]) => cuts.reduce(withCut, text));
}

function withCut(text: string, { at, removed, put }: Cut): string {
  const from = Math.floor(at * text.length);
  return text.slice(0, from) + put + text.slice(from + removed);
}
