import { html, htmlOf, policyHashOf, type Html } from '../../platform/html.js';
import { APPROVE_SCRIPT } from './approve.js';
import { LIVE_SCRIPT, STYLE } from './assets.js';

export interface Document {
  readonly title: string;
  /** Whether the open page refreshes itself. */
  readonly isLive: boolean;
  readonly body: Html;
}

/** Scripts of the page that refreshes. */
const SCRIPTS = [LIVE_SCRIPT, APPROVE_SCRIPT];

/**
 * Content security policy of every page: loads nothing, and allows only our own styles and scripts, by hash. Injected
 * markup could do nothing.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${policyHashOf(STYLE)}`,
  `script-src ${SCRIPTS.map(policyHashOf).join(' ')}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A complete HTML page. */
export function documentOf({ title, isLive, body }: Document): string {
  // Joined by hand, because the hash covers everything between the tags, white space too.
  const style = htmlOf(`<style>${STYLE}</style>`);
  const scripts = isLive ? SCRIPTS : [];
  const script = htmlOf(scripts.map((each) => `<script type="module">${each}</script>`).join(''));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        ${body}${script}
      </body>
    </html> `.text;
}
