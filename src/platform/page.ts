import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, htmlOf, type Html } from './html.js';
import { packageFile } from './package-files.js';

/** The style and the script of a kind of page, and the content security policy that allows exactly them. */
export interface Look {
  readonly style: string;
  readonly script: string;
  /** Value of the header. The page loads nothing, so that injected markup could do nothing. */
  readonly policy: string;
}

interface LookOptions {
  readonly hasScript?: boolean;
  /** Directives of the policy that allow more, such as `{ 'form-action': "'self'" }`. */
  readonly allows?: Readonly<Record<string, string>>;
}

/** @param name of the files in `pages/` that add to `base.css`: `status` for `status.css` and `status.js`. */
export function lookOf(name: string, { hasScript = false, allows }: LookOptions = {}): Look {
  const style = textIn('base.css') + textIn(`${name}.css`);
  const script = hasScript ? textIn(`${name}.js`) : '';
  const directives = {
    'default-src': "'none'",
    'style-src': hashOf(style),
    ...(hasScript && { 'script-src': hashOf(script) }),
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    ...allows,
  };
  const policy = Object.entries(directives).map((directive) => directive.join(' '));
  return { style, script, policy: policy.join('; ') };
}

/** A whole HTML document that contains its style and its script. @param title our own words, or cleaned. */
export function documentOf({ style, script }: Look, title: string, body: Html): string {
  // No white space is added between the tags, because the hashes in the policy cover it too.
  const last = script === '' ? [] : htmlOf(`<script>${script}</script>`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${htmlOf(`<style>${style}</style>`)}
      </head>
      <body>
        ${body}${last}
      </body>
    </html> `.text;
}

function textIn(file: string): string {
  return readFileSync(packageFile(`pages/${file}`), 'utf8');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
