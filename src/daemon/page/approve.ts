import { html, type Html } from '../../platform/html.js';
import type { PlanDocument } from '../../report/json/plan.js';
import { plural } from '../../report/values.js';
import { newestPlan } from '../health.js';
import type { SourceView } from '../view.js';
import { moment, untrusted } from './phrases.js';

/**
 * Shows held changes that can be approved, with the button if the daemon takes requests, or the approval that no run
 * has used yet.
 */
export function approvalOf(
  source: SourceView,
  { now, takesRequests }: { readonly now: number; readonly takesRequests: boolean },
): Html {
  const { name, approved } = source;
  const plan = newestPlan(source);
  if (plan?.heldHash === undefined) return html``;
  const what = heldText(plan);
  if (approved !== null && approved.hash === plan.heldHash) {
    return html`<p>
      ${what} Approved by ${untrusted(approved.by)}, for the next run; void
      ${moment(approved.until ?? '', now)}.
    </p>`;
  }
  const button = html`<button
    type="button"
    id="approve-${name}"
    data-approve="${plan.heldHash}"
    data-source="${name}"
    data-what="${what}"
  >
    Approve…
  </button>`;
  return html`<p>${what} ${takesRequests ? button : []}</p>`;
}

/** Whole sentences, without untrusted text. */
function heldText({ guards = [], changes, withheld }: PlanDocument): string {
  const waiting = withheld.filter(({ why }) => why === 'window-closed').length;
  if (guards.length === 0) return `${plural(waiting, 'change')} held until a window opens.`;
  const names = [...new Set(guards.map(({ guard }) => guard))].join(', ');
  return `${plural(changes.length + waiting, 'change')} refused by a guard (${names}).`;
}

/** Outside the part that refreshes, so that the plan shown is the one approved. */
export const APPROVE_DIALOG = html`<dialog id="approve" aria-labelledby="approve-title">
  <form>
    <h2 id="approve-title">Approve what is held</h2>
    <p id="approve-what"></p>
    <p>The next run writes it, if the plan still has the hash <code id="approve-hash"></code>.</p>
    <p>
      <label>Your name <input name="by" required maxlength="100" autocomplete="name" /></label>
    </p>
    <p>
      <label>Reason <input name="reason" maxlength="500" /></label>
    </p>
    <p>
      <label>Token <input name="token" type="password" required autocomplete="off" /></label>
    </p>
    <p id="approve-answer" role="status"></p>
    <p>
      <button type="submit">Approve</button> <button type="button" id="approve-close">Close</button>
    </p>
  </form>
</dialog>`;

/** Sends the content of the dialog and keeps no token. Without this script the page offers no approval. */
export const APPROVE_SCRIPT = `
const dialog = document.getElementById('approve');
const form = dialog?.querySelector('form');
const part = (name) => document.getElementById('approve-' + name);
let asked = {};

document.addEventListener('click', ({ target }) => {
  const button = target.closest('button[data-approve]');
  if (!button) return;
  const { approve: hash, source, what } = button.dataset;
  asked = { hash, source };
  part('what').textContent = source + ': ' + what;
  part('hash').textContent = hash;
  part('answer').textContent = '';
  dialog.showModal();
});
part('close')?.addEventListener('click', () => dialog.close());
dialog?.addEventListener('close', () => { form.elements.token.value = ''; });

form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { by, reason, token } = form.elements;
  const body = { ...asked, by: by.value, ...(reason.value && { reason: reason.value }) };
  const headers = { authorization: 'Bearer ' + token.value, 'content-type': 'application/json' };
  try {
    const answer = await fetch('approve', { method: 'POST', headers, body: JSON.stringify(body) });
    const { error } = await answer.json();
    part('answer').textContent = answer.ok ? 'Approved: the next run is asked for.' : error;
  } catch {
    part('answer').textContent = 'not reachable';
  }
});
`;
