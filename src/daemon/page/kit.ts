import { html, type Html } from '../../platform/html.js';
import { lookOf } from '../../platform/page.js';
import { STATES, type FlagState } from './flag-places.js';

/** The status page, with its script. */
export const LOOK = lookOf('status', { hasScript: true, allows: { 'connect-src': "'self'" } });

/** Pages that do not change and need no script. */
export const PLAIN_LOOK = { ...LOOK, script: '' };

/** Hidden from screen readers, because the word beside it says the same. */
export function stateMark(state: FlagState): Html {
  return html`<span class="state ${state}" aria-hidden="true">${STATES[state].symbol}</span>`;
}
