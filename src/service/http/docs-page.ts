import { API_PREFIX } from '../../admin-api/wire.js';
import type { Endpoint } from './endpoint.js';
import { html, htmlOf, type Html } from '../../platform/html.js';
import { parametersOf, type Parameter } from './openapi.js';
import { ANSWER_SCHEMAS } from '../routes/answer-schemas.js';
import type { Schema } from '../rules/matchers.js';

/** The policy sent with the page: it loads nothing, runs nothing, and contains its own style. */
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

/** A whole HTML document that describes the endpoints, made from the table that `/openapi.json` is made from. */
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

/** Endpoints by the first word of their path, in the order of the table. */
function groupsOf(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> {
  const groups = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const name = endpoint.path.split('/')[1] ?? '';
    groups.set(name, [...(groups.get(name) ?? []), endpoint]);
  }
  return groups;
}

/** One group with its operations, in the order of the table. */
function groupOf(name: string, endpoints: readonly Endpoint[]): Html {
  const operations = endpoints.flatMap((endpoint) =>
    endpoint.methods.map((method) => operationOf(endpoint, method)),
  );
  return html`<h2 id="${name}">${name}</h2>
    ${operations}`;
}

/** One operation; an endpoint with two methods has two. */
function operationOf(endpoint: Endpoint, method: string): Html {
  const path = endpoint.path.replaceAll(/(?<=\/):(\w+)/g, '{$1}');
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

/** The description of a schema, which is empty where it has none. */
function descriptionIn({ description }: Schema): string {
  return typeof description === 'string' ? description : '';
}

function shapeOf(schema: Schema): Html {
  return html`<pre>${shapeText(schema)}</pre>`;
}

/**
 * A JSON Schema for people: `{ name: string, tags?: [string] | null }`. Shows types and which members are optional;
 * leaves out bounds and patterns. A named schema appears by its name.
 */
function shapeText(schema: Schema, indent = ''): string {
  const { $ref, anyOf, type, properties, items, additionalProperties } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? $ref;
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum']))
    return choices(schema['enum'].map((each) => JSON.stringify(each)));
  if (isSchema(properties)) return orNull(type, objectText(schema, properties, indent));
  if (isSchema(items)) return orNull(type, `[${shapeText(items, indent)}]`);
  if (isSchema(additionalProperties))
    return `{ [name]: ${shapeText(additionalProperties, indent)} }`;
  if (Array.isArray(anyOf))
    return choices(anyOf.filter(isSchema).map((each) => shapeText(each, indent)));
  if (Array.isArray(type)) return choices(type.map(String));
  return typeof type === 'string' ? type : 'anything';
}

/** An object with one member on each line; `?` marks members that may be absent. */
function objectText(schema: Schema, properties: Schema, indent: string): string {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const deeper = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?';
    const shape = isSchema(member) ? shapeText(member, deeper) : 'anything';
    return `${deeper}${name}${mark}: ${shape}\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Adds `null` to a shape whose schema allows it. */
function orNull(type: unknown, shape: string): string {
  return Array.isArray(type) && type.includes('null') ? `${shape} | null` : shape;
}

/** Joins alternatives, each shape once. */
function choices(shapes: readonly string[]): string {
  return [...new Set(shapes)].join(' | ');
}
