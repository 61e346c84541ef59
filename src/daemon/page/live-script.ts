/**
 * Keeps the status page as the server has it: asks for the page again whenever the server says that something changed,
 * and now and then because times pass. It makes no text of its own but one word about itself, opens nothing that was
 * closed, and moves no focus. Without it the page is the same, as of when it was loaded.
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
    const open = [...here.querySelectorAll('details[open]')].map((each) => each.id);
    const focus = here.contains(document.activeElement) ? document.activeElement.id : '';
    here.className = there.className;
    here.replaceChildren(...there.childNodes);
    for (const each of open) document.getElementById(each)?.setAttribute('open', '');
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }
}

function say(word) {
  document.getElementById('live').textContent = word;
}

const events = new EventSource('events');
events.addEventListener('open', () => { say('live'); void refresh(); });
events.addEventListener('change', () => void refresh());
events.addEventListener('error', () => say('reconnecting'));
setInterval(() => { if (!document.hidden) void refresh(); }, AGAIN_MS);
`;
