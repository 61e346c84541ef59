import { API_PREFIX } from '../../admin-api/wire.js';
import { html, type Html } from '../../platform/html.js';
import { documentOf, lookOf } from '../../platform/page.js';
import { ANSWER_SCHEMAS } from '../routes/answer-schemas.js';
import type { Schema } from '../rules/shape.js';
import type { Endpoint } from './endpoint.js';
import { parametersOf, pathOf, type Parameter } from './openapi.js';

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
        ${[...groups].map(
          ([name, operations]) =>
            html`<h2 id="${name}">${name}</h2>
              ${operations}`,
        )}
        <h2 id="shapes">Shapes</h2>
        ${Object.entries(ANSWER_SCHEMAS).map(
          ([name, schema]) =>
            html`<section id="shape-${name}">
              <h3>${name}</h3>
              <pre>${shapeText(schema)}</pre>
            </section> `,
        )}
      </main>`,
  );
}

function groupsOf(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Html[]> {
  const groups = new Map<string, Html[]>();
  for (const endpoint of endpoints) {
    const name = endpoint.path.split('/')[1] ?? '';
    const operations = endpoint.methods.map((method) => operationOf(endpoint, method));
    groups.set(name, [...(groups.get(name) ?? []), ...operations]);
  }
  return groups;
}

function operationOf(endpoint: Endpoint, method: string): Html {
  const { body, takesText } = endpoint;
  const shape = body === undefined ? takesText === true && 'text' : shapeText(body);
  return html`<section>
    <h3>${method} ${pathOf(endpoint)}</h3>
    <p>${endpoint.summary}</p>
    ${parameterList(parametersOf(endpoint))}
    ${
      shape === false
        ? []
        : html`<h4>Body</h4>
            <pre>${shape}</pre>`
    }
    <h4>Answer</h4>
    <pre>${shapeText(endpoint.answer)}</pre>
  </section> `;
}

function parameterList(parameters: readonly Parameter[]): Html | readonly Html[] {
  if (parameters.length === 0) return [];
  const items = parameters.map(({ name, in: place, description, schema }) => {
    const words = description ?? (schema['description'] as string | undefined) ?? '';
    return html`<dt>${name}</dt>
      <dd>${place}, ${shapeText(schema)}. ${words}</dd>`;
  });
  return html`<h4>Parameters</h4>
    <dl>${items}</dl>`;
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
  const orNull = Array.isArray(type) && type.includes('null') ? ' | null' : '';
  if (isSchema(properties)) return objectText(schema, properties, indent) + orNull;
  if (isSchema(items)) return `[${shapeText(items, indent)}]${orNull}`;
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

function choices(shapes: readonly string[]): string {
  return [...new Set(shapes)].join(' | ');
}
