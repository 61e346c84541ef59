import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startScripted } from '../test/support/http.js';
import { withPage } from '../test/support/browser.js';
import { html } from '../src/platform/html.js';

/** The pictures of `docs/comparison.md`, made of the texts that stand there: `npx tsx scripts/comparison-pictures.ts`. */
const PICTURES: Readonly<Record<string, string>> = {
  'compare-ramp': '### A ramp',
  'compare-new': '### A new flag',
  'compare-kill': '### A kill',
  'compare-segment': '### Other keys in a segment',
};

const NAMES = ['flagkeel', 'Terraform', 'Argo CD (reconstructed)', 'Argo CD (as published)'];
const STYLE = `body { display: flex; gap: 12px; align-items: start; margin: 0; padding: 12px; background: #0d1117;
  color: #f0f6fc; font: 13px/1.45 ui-monospace, monospace; inline-size: max-content; }
h1 { font: 600 14px/1.5 system-ui, sans-serif; margin: 0 0 6px; } section { max-inline-size: 760px; }
pre { margin: 0; padding: 10px; border: 1px solid #30363d; border-radius: 6px; white-space: pre-wrap; }`;

const docs = join(import.meta.dirname, '../docs');
const page = await readFile(join(docs, 'comparison.md'), 'utf8');
for (const [name, heading] of Object.entries(PICTURES)) {
  const section = page.slice(page.indexOf(heading)).split(/\n##+ /)[0] ?? '';
  const texts = [...section.matchAll(/```text\n([^]*?)```/g)].map(([, text = '']) => text);
  const panels = texts.map(
    (text, i) =>
      html`<section>
        <h1>${NAMES[i] ?? ''}</h1>
        <pre>${text}</pre>
      </section>`,
  );
  const body = html`<!doctype html><meta charset="utf-8" /><title>x</title>
    <body>
      ${panels}
    </body>`.text;
  const server = await startScripted(() => ({
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: body.replace(
      '<title>',
      `<style>${STYLE}</style><link rel="icon" href="data:," /><title>`,
    ),
  }));
  await withPage(server.url, { width: 1600 }, async (shown) => {
    await shown.locator('body').screenshot({ path: join(docs, 'images', `${name}.png`) });
  });
  await server.close();
}
