import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { code, fenced, link, trusted } from '../../src/report/markdown/markup.js';
import { readMarkdown } from '../support/markdown-reading.js';

/** Words that mean something to Markdown, to HTML, to a forge or to the runner of a job. */
const WORDS = [
  ...'` ``` ~~~ </details> </code> <b> <!-- --> &lt; &#64; @ # 12 | \\ --- === _ ** ~'.split(' '),
  ...'[ ] ( ) ! : :: ##[ https:// www. a.example $ % ^ name'.split(' '),
  ...['\n', '\n\n', '    ', '* ', '- ', '+ ', '> ', '1. ', '# '],
];

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 6 })), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

describe('text of others in Markdown', () => {
  it('makes nothing but a paragraph, wherever it stands', () => {
    fc.assert(
      fc.property(hostile, hostile, (first, second) => {
        const text = String(trusted`${first} ${second}`);
        const { elements, links, prose } = readMarkdown(text);

        expect(elements.filter((name) => name !== 'p')).toEqual([]);
        expect(links).toEqual([]);
        expect(prose).not.toMatch(/@\w|(?:^|\W)#\w|:\/\/|www\./);
        expect(text).not.toMatch(/^\s*::|##\[|\n/);
      }),
    );
  });

  it('makes one code element, one cell of a table, one row of a fence, one link', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const row = String(trusted`x ${text}`);
        const table = String(trusted`| a | b |\n| --- | --- |\n| ${text} | ${code(text)} |`);

        expect(readMarkdown(String(code(text))).elements).toEqual(['code', 'p']);
        expect(readMarkdown(table).html.match(/<td/g)).toHaveLength(2);
        expect(readMarkdown(String(fenced([row]))).elements).toEqual(['code', 'pre']);
        expect(readMarkdown(String(fenced([`  ${text.replace(/\s/g, ' ')}`]))).elements).toEqual([
          'code',
          'pre',
        ]);
        const linked = readMarkdown(String(link(`x ${text}`, `https://ci.example/${text}`)));
        expect(linked.elements).toEqual(['a', 'p']);
        expect(linked.links).toHaveLength(1);
      }),
    );
  });
});
