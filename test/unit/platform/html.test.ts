import { describe, expect, it } from 'vitest';
import { html } from '../../../src/platform/html.js';

describe('a page', () => {
  it('shows what is put into it as text, and never as markup', () => {
    const hostile = `"><script>alert('x')</script>&`;

    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;">' +
        '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;</p>',
    );
  });

  it('takes parts of a page as they are', () => {
    const parts = ['a', '<b>'].map((each) => html`<i>${each}</i>`);

    expect(html`<b>${parts}</b>`.text).toBe('<b><i>a</i><i>&lt;b&gt;</i></b>');
  });

  it('keeps backslashes as they were written', () => {
    expect(html`<p>${'\\n'}</p>`.text).toBe('<p>\\n</p>');
  });
});
