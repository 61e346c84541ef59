import { API_PREFIX } from '../api/wire.js';
import type { Endpoint } from './endpoint.js';
import { html, htmlOf, type Html } from '../html.js';
import { parametersOf, type Parameter } from './openapi.js';
import { ANSWER_SCHEMAS } from './routes/answer-schemas.js';
import type { Schema } from './rules/matchers.js';
import { shapeText } from './shape-text.js';

/** Goes with the page: it loads nothing, runs nothing, and has its style in itself. */
export const DOCS_POLICY = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --soft: light-dark(#59636e, #9198a1); }
html { background: light-dark(#ffffff, #0d1117); color: light-dark(#1f2328, #f0f6fc); }
a { color: light-dark(#0550ae, #79c0ff); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid var(--line); padding: 0.5rem 0; }
h3 { font: 600 1rem/1.5 ui-monospace, monospace; margin: 0.5rem 0; overflow-wrap: anywhere; }
h4 { margin: 0.75rem 0 0; font-size: 0.875rem; color: var(--soft); }
pre { margin: 0.25rem 0; padding: 0.5rem; border: 1px solid var(--line); border-radius: 4px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0.25rem 0; }
dt { font-family: ui-monospace, monospace; }
dd { margin: 0; color: var(--soft); }
`;

/** The endpoints for people to read: the same table that `/openapi.json` is made of. A whole document. */
export function docsPageOf(endpoints: readonly Endpoint[], title: string): string {
  const groups = groupsOf(endpoints);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${htmlOf(STYLE)}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          <p>
            Paths start with <code>${API_PREFIX}</code>. Requests carry
            <code>Authorization: Bearer</code> and an Admin API key. For programs:
            <a href="/openapi.json">/openapi.json</a>.
          </p>
        </header>
        <nav aria-label="Groups of endpoints">
          <ul>
            ${[...groups.keys()].map((name) => html`<li><a href="#${name}">${name}</a></li>`)}
            <li><a href="#shapes">Shapes</a></li>
          </ul>
        </nav>
        <main>
          ${[...groups].map(([name, members]) => groupOf(name, members))}
          <h2 id="shapes">Shapes</h2>
          ${Object.entries(ANSWER_SCHEMAS).map(
            ([name, schema]) =>
              html`<section id="shape-${name}">
                <h3>${name}</h3>
                ${shapeOf(schema)}
              </section> `,
          )}
        </main>
      </body>
    </html> `;
  return page.text;
}

/** By the first word of the path, in the order of the table. */
function groupsOf(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> {
  const groups = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const name = endpoint.path.split('/')[1] ?? '';
    groups.set(name, [...(groups.get(name) ?? []), endpoint]);
  }
  return groups;
}

function groupOf(name: string, endpoints: readonly Endpoint[]): Html {
  const operations = endpoints.flatMap((endpoint) =>
    endpoint.methods.map((method) => operationOf(endpoint, method)),
  );
  return html`<h2 id="${name}">${name}</h2>
    ${operations}`;
}

function operationOf(endpoint: Endpoint, method: string): Html {
  const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
  const { body, takesText } = endpoint;
  return html`<section>
    <h3>${method} ${path}</h3>
    <p>${endpoint.summary}</p>
    ${parameterList(parametersOf(endpoint))}
    ${
      body === undefined
        ? []
        : html`<h4>Body</h4>
            ${shapeOf(body)}`
    }
    ${
      body === undefined && takesText === true
        ? html`<h4>Body</h4>
            <pre>text</pre>`
        : []
    }
    <h4>Answer</h4>
    ${shapeOf(endpoint.answer)}
  </section> `;
}

function parameterList(parameters: readonly Parameter[]): Html | readonly Html[] {
  if (parameters.length === 0) return [];
  const items = parameters.map(
    ({ name, in: place, description, schema }) =>
      html`<dt>${name}</dt>
        <dd>${place}, ${shapeText(schema)}. ${description ?? descriptionIn(schema)}</dd>`,
  );
  return html`<h4>Parameters</h4>
    <dl>${items}</dl>`;
}

function descriptionIn({ description }: Schema): string {
  return typeof description === 'string' ? description : '';
}

function shapeOf(schema: Schema): Html {
  return html`<pre>${shapeText(schema)}</pre>`;
}
