import { html, htmlOf, policyHashOf, type Html } from '../../platform/html.js';
import { APPROVE_SCRIPT } from './approve.js';
import { LIVE_SCRIPT, STYLE } from './assets.js';

export interface Document {
  readonly title: string;
  /** Whether the page follows the daemon while it is open. */
  readonly isLive: boolean;
  readonly body: Html;
}

/** Of the page that follows the daemon. */
const SCRIPTS = [LIVE_SCRIPT, APPROVE_SCRIPT];

/**
 * Goes with every page: nothing is loaded from anywhere, and of styles and scripts only those that stand here run,
 * known by their hashes. Markup that slipped in could do nothing.
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

/** A whole page. */
export function documentOf({ title, isLive, body }: Document): string {
  // Put together by hand: the hash is over all that stands between the tags, white space too.
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
