import { expect, it } from 'vitest';
import { html } from '../../../src/platform/html.js';

it('shows what is put into a page as text, and parts of a page as they are', () => {
  const hostile = `"><script>alert('x')</script>&\\n`;
  const shown = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;\\n';
  const parts = ['a', hostile].map((each) => html`<i>${each}</i>`);

  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(`<p title="${shown}">${shown}</p>`);
  expect(html`<b>${parts}</b>`.text).toBe(`<b><i>a</i><i>${shown}</i></b>`);
});
