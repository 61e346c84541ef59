import { API_PREFIX } from '../../admin-api/wire.js';
import { html, type Html } from '../../platform/html.js';
import { documentOf, lookOf } from '../../platform/page.js';
import { ANSWER_SCHEMAS } from '../routes/answer-schemas.js';
import type { Schema } from '../rules/shape.js';
import type { Endpoint } from './endpoint.js';
import { parametersOf, type Parameter } from './openapi.js';

const LOOK = lookOf('docs');

export const DOCS_POLICY = LOOK.policy;

/** Made from the same lists as `/openapi.json`. */
export function docsPageOf(endpoints: readonly Endpoint[], title: string): string {
  const groups = groupsOf(endpoints);
  return documentOf(
    LOOK,
    title,
    html`<header>
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
      </main>`,
  );
}

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

function orNull(type: unknown, shape: string): string {
  return Array.isArray(type) && type.includes('null') ? `${shape} | null` : shape;
}

function choices(shapes: readonly string[]): string {
  return [...new Set(shapes)].join(' | ');
}
