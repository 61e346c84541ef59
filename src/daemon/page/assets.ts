import { PAGE_STYLE } from '../../platform/html.js';

/**
 * Refreshes the status page when the server announces a change, and at times because displayed ages grow. It writes no
 * text but its own state, opens nothing that was closed, and moves no focus. Without it the page shows the state at
 * loading, without buttons.
 *
 * A button shows its effect, and sends its request after a confirmation. The token stays in a variable of the page and
 * goes only with requests of this script: there is no cookie that another site could use.
 */
export const LIVE_SCRIPT = `
const AGAIN_MS = 30000;
let busy = false;
let wanted = false;

async function refresh() {
  if (busy) { wanted = true; return; }
  busy = true;
  try {
    const answer = await fetch('.', { cache: 'no-store' });
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), 'text/html'));
  } catch {
    say('not reachable');
  }
  busy = false;
  if (wanted) { wanted = false; void refresh(); }
}

function take(fresh) {
  document.title = fresh.title;
  for (const id of ['verdict', 'as-of', 'sources']) {
    const here = document.getElementById(id);
    const there = fresh.getElementById(id);
    if (!here || !there || here.innerHTML === there.innerHTML) continue;
    const known = [...here.querySelectorAll('details')].map((each) => [each.id, each.open]);
    const focus = here.contains(document.activeElement) ? document.activeElement.id : '';
    here.className = there.className;
    here.replaceChildren(...there.childNodes);
    for (const [each, open] of known) document.getElementById(each)?.toggleAttribute('open', open);
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }
}

function say(word) {
  document.getElementById('live').textContent = word;
}

const part = (name) => document.getElementById('ask' + name);
let asking = null;
let token = '';

function ask({ id, textContent, dataset }) {
  const label = textContent.trim();
  asking = { path: dataset.path, body: JSON.parse(dataset.body), from: id };
  part('-title').textContent = label + ': ' + asking.body.source;
  part('-says').textContent = dataset.says;
  part('-do').textContent = label;
  part('-answer').textContent = '';
  part('-token').value = token;
  part('-fields').replaceChildren(...JSON.parse(dataset.asks).flatMap(fieldOf));
  part('').showModal();
}

function fieldOf({ name, label, value }) {
  const words = document.createElement('label');
  const input = document.createElement('input');
  words.textContent = label;
  words.htmlFor = input.id = 'ask-field-' + name;
  Object.assign(input, { name, value, required: true, autocomplete: 'off' });
  return [words, input];
}

async function send() {
  token = part('-token').value;
  const fields = [...part('-fields').querySelectorAll('input')];
  const body = { ...asking.body, ...Object.fromEntries(fields.map(({ name, value }) => [name, value])) };
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  part('-do').disabled = true;
  try {
    const answer = await fetch(asking.path, { method: 'POST', headers, body: JSON.stringify(body) });
    const { error } = await answer.json();
    part('-answer').textContent = error ?? '';
    if (answer.ok) part('').close();
  } catch {
    part('-answer').textContent = 'not reachable';
  }
  part('-do').disabled = false;
  void refresh();
}

if (part('')) {
  document.documentElement.classList.add('asks');
  document.addEventListener('click', ({ target }) => {
    if (target.dataset?.path) ask(target);
  });
  part('-not').addEventListener('click', () => part('').close());
  part('').addEventListener('close', () => document.getElementById(asking.from)?.focus());
  part('-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
}

const events = new EventSource('events');
events.addEventListener('open', () => { say('live'); void refresh(); });
events.addEventListener('change', () => void refresh());
events.addEventListener('error', () => say('reconnecting'));
setInterval(() => { if (!document.hidden) void refresh(); }, AGAIN_MS);
`;

/** The style of all pages. Colours only repeat the words and are visible on light and dark. */
export const STYLE = `
${PAGE_STYLE}
.mark { display: inline-grid; place-items: center; inline-size: 1.5em; block-size: 1.5em; flex: none;
  border-radius: 50%; color: var(--sheet); font-weight: 700; line-height: 1; }
.mark.fine { background: var(--fine); }
.mark.busy { background: var(--busy); }
.mark.attention { background: var(--attention); }
.mark.trouble { background: var(--trouble); }

.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem;
  margin-block-end: 1rem; }
.verdict { display: flex; gap: 1rem; align-items: center; border-inline-start: 6px solid var(--line); }
.verdict.fine { border-inline-start-color: var(--fine); }
.verdict.busy { border-inline-start-color: var(--busy); }
.verdict.attention { border-inline-start-color: var(--attention); }
.verdict.trouble { border-inline-start-color: var(--trouble); }
.verdict h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 600; }
.verdict .mark { font-size: 1.5rem; }

article h2 { font-size: 1.125rem; overflow-wrap: break-word; }
article h3 { font-size: 0.875rem; font-weight: 600; color: var(--soft); margin-block: 1.25rem 0.25rem; }
.says { display: flex; gap: 0.5rem; align-items: baseline; margin-block: 0.25rem; }
.says .mark, .runs .mark, td .mark { font-size: 0.75rem; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.125rem 1rem; margin-block-start: 0.75rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: break-word; min-inline-size: 0; }
.verdict div { min-inline-size: 0; overflow-wrap: break-word; }
table { border-collapse: collapse; inline-size: 100%; }
th, td { text-align: start; vertical-align: baseline; padding: 0.375rem 1rem 0.375rem 0;
  border-block-end: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--soft); font-size: 0.875rem; }
table { table-layout: fixed; }
thead th:first-child { inline-size: 24%; }
thead th:last-child { inline-size: 32%; }
th, td, li, p { overflow-wrap: break-word; }
tbody th { font-weight: 600; }
.held li, .runs li { padding-block: 0.375rem; border-block-end: 1px solid var(--line); }
.runs li { display: flex; gap: 0.5rem; align-items: baseline; }
.runs div { min-inline-size: 0; }
summary { cursor: pointer; padding-block: 0.375rem; }
.flags li { display: grid; grid-template-columns: minmax(0, 1fr) 8rem minmax(0, 1.5fr); gap: 0 1rem;
  align-items: center; padding-block: 0.25rem; border-block-end: 1px solid var(--line); }
.flags strong { font-weight: 600; }
.share { inline-size: 8rem; block-size: 0.5rem; border: 1px solid var(--soft); border-radius: 2px; }
.t0 { fill: light-dark(#0550ae, #79c0ff); }
.t1 { fill: light-dark(#8a4f00, #e3b341); }
.t2 { fill: light-dark(#1a7f37, #56d364); }
.t3 { fill: light-dark(#8250df, #d2a8ff); }
.t4 { fill: light-dark(#b3261e, #ff8f87); }
.share .rest { fill: light-dark(#c9d1d9, #484f58); }
.buttons { display: none; flex-wrap: wrap; gap: 0.5rem; margin-block: 0.75rem; }
.asks .buttons { display: flex; }
button, input { font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--soft);
  border-radius: 6px; padding: 0.25rem 0.75rem; }
button { cursor: pointer; }
button:hover { border-color: var(--link); }
button:focus-visible, input:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
dialog { inline-size: min(34rem, calc(100vw - 2rem)); color: var(--ink); background: var(--sheet);
  border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; }
dialog::backdrop { background: rgb(0 0 0 / 50%); }
dialog h2 { font-size: 1.125rem; overflow-wrap: break-word; }
dialog p { margin-block: 0.5rem; overflow-wrap: break-word; }
dialog label { display: block; color: var(--soft); margin-block-start: 0.5rem; }
dialog input { inline-size: 100%; }
#ask-answer { color: var(--trouble); }
pre { margin: 0.5rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre .add { color: var(--fine); }
pre .change { color: var(--attention); }
pre .remove, pre .alarm { color: var(--trouble); }
pre .head { font-weight: 600; }
@media (max-width: 30rem) {
  body { padding: 0.5rem; }
  .sheet { padding: 0.75rem; }
  .verdict h1 { font-size: 1.25rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-block-end: 0.5rem; }
  .flags li { grid-template-columns: minmax(0, 1fr); }
  .share { inline-size: 100%; }
  thead { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { display: block; padding-block: 0.375rem; border-block-end: 1px solid var(--line); }
  tbody th, tbody td { display: block; padding: 0; border: 0; }
}
`;
