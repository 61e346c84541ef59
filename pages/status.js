// Refreshes the status page when the server announces a change, and at times because displayed ages grow. It writes no text
// but its own state, opens nothing that was closed, and moves no focus. Without it the page shows the state at loading,
// without buttons.
//
// A button shows its effect, and sends its request after a confirmation. The token stays in a variable of the page, unless
// the button wants it each time, and goes only with requests of this script: there is no cookie that another site could use.
const AGAIN_MS = 30000;
// Without a limit, one request without an answer would keep the page from asking again, and a button from being pressed.
const ANSWER_MS = 10000;
let busy = false;
let wanted = false;
// Why the page could not be refreshed the last time.
let away = '';

async function refresh() {
  if (busy) {
    wanted = true;
    return;
  }
  busy = true;
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch('.', { cache: 'no-store', signal });
    const text = await answer.text();
    if (answer.ok) take(new DOMParser().parseFromString(text, 'text/html'));
    away = answer.ok ? '' : 'not updated: HTTP ' + answer.status;
  } catch {
    away = 'not reachable';
  }
  say();
  busy = false;
  if (wanted) {
    wanted = false;
    void refresh();
  }
}

function take(fresh) {
  document.title = fresh.title;
  const focus = document.activeElement.id;
  for (const { id, open } of document.querySelectorAll('details[id]')) {
    fresh.getElementById(id)?.toggleAttribute('open', open);
  }
  for (const { id, value } of document.querySelectorAll('.filter :is(input, select)')) {
    const there = fresh.getElementById(id);
    if (there) there.value = value;
  }
  filter(fresh);
  for (const id of ['verdict', 'as-of', 'sources']) {
    const [here, there] = [document.getElementById(id), fresh.getElementById(id)];
    if (!here || !there) continue;
    const kept = merged(here, there);
    if (kept !== here) here.replaceWith(kept);
  }
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

// Takes over the parts that differ and keeps the others, so that a change of one flag does not lay out a thousand anew.
// Returns the element that is to stand in place of both.
function merged(here, there) {
  if (here.isEqualNode(there)) return here;
  if (!('parts' in here.dataset)) return there;
  const [old, fresh] = [[...here.children], [...there.children]];
  const isAlike = old.length === fresh.length && old.every(({ id }, at) => id === fresh[at].id);
  const children = fresh.map((each, at) => {
    const known = isAlike ? old[at] : each.id && here.children.namedItem(each.id);
    return known ? merged(known, each) : each;
  });
  if (!isAlike) here.replaceChildren(...children);
  else {
    children.forEach((child, at) => {
      if (child !== old[at]) old[at].replaceWith(child);
    });
  }
  return here;
}

// Hides the rows that lack a word of the search or the chosen state, and says how many are left.
function filter(root) {
  for (const bar of root.querySelectorAll('.filter')) {
    const [search, state] = [bar.querySelector('input').value, bar.querySelector('select').value];
    const words = search.toLowerCase().split(/\s+/);
    const rows = root.getElementById(bar.dataset.filters).tBodies[0].rows;
    let left = 0;
    for (const row of rows) {
      const text = search && row.textContent.toLowerCase();
      const isShown =
        words.every((word) => text.includes(word)) &&
        (!state || row.dataset.states.split(' ').includes(state));
      if (row.classList.contains('gone') === isShown) row.classList.toggle('gone', !isShown);
      if (isShown) left += 1;
    }
    bar.querySelector('output').textContent = left + ' of ' + rows.length;
  }
}

// While the page is stale, nothing on it is green.
function say() {
  const isFollowing = events.readyState === EventSource.OPEN;
  document.getElementById('live').textContent = away || (isFollowing ? 'live' : 'reconnecting');
  document.documentElement.classList.toggle('stale', away !== '');
}

const part = (name) => document.getElementById('ask' + name);
let asking = null;
let token = '';

function ask({ id, textContent, dataset }) {
  const label = textContent.trim();
  asking = {
    path: dataset.path,
    body: JSON.parse(dataset.body),
    from: id,
    once: 'once' in dataset,
  };
  part('-title').textContent = label + ': ' + asking.body.source;
  part('-says').textContent = dataset.says;
  const evidence = document.getElementById(dataset.evidence)?.cloneNode(true);
  evidence?.removeAttribute('id');
  part('-evidence').replaceChildren(...(evidence ? [evidence] : []));
  part('-do').textContent = label;
  part('-do').disabled = false;
  part('-answer').textContent = '';
  part('-token').value = asking.once ? '' : token;
  part('-fields').replaceChildren(...JSON.parse(dataset.asks).flatMap(fieldOf));
  part('').showModal();
}

function fieldOf({ name, label, value, optional = false }) {
  const words = document.createElement('label');
  const input = document.createElement('input');
  words.textContent = label;
  words.htmlFor = input.id = 'ask-field-' + name;
  Object.assign(input, { name, value, required: !optional, autocomplete: 'off' });
  return [words, input];
}

async function send() {
  const given = part('-token').value;
  if (!asking.once) token = given;
  const fields = [...part('-fields').querySelectorAll('input')].filter(({ value }) => value !== '');
  const body = {
    ...asking.body,
    ...Object.fromEntries(fields.map(({ name, value }) => [name, value])),
  };
  const headers = { authorization: 'Bearer ' + given, 'content-type': 'application/json' };
  const asked = asking;
  part('-do').disabled = true;
  let isTaken = false;
  let words = 'No answer came. The page shows whether the daemon has taken the request.';
  try {
    const answer = await fetch(asked.path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    words = (await answer.json()).error ?? '';
    isTaken = answer.ok;
  } catch {
    // The words say it.
  }
  // By now the dialog may ask something else.
  if (asking === asked) {
    part('-do').disabled = false;
    part('-answer').textContent = words;
    if (isTaken) part('').close();
  }
  void refresh();
}

if (part('')) {
  document.documentElement.classList.add('asks');
  document.addEventListener('click', ({ target }) => {
    if (target.dataset?.path) ask(target);
  });
  part('-not').addEventListener('click', () => part('').close());
  part('').addEventListener('close', () => {
    part('-token').value = '';
    document.getElementById(asking.from)?.focus();
  });
  part('-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
}

// Shows the page of a flag beside the matrix, so that search and place stay as they are.
const panel = document.getElementById('panel');

async function open(href) {
  let content;
  try {
    const answer = await fetch(href, { cache: 'no-store' });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    content = page.querySelector('main');
    for (const link of content.querySelectorAll('a')) {
      link.href = new URL(link.getAttribute('href'), new URL(href, location)).href;
    }
  } catch {
    location.assign(href);
    return;
  }
  document.getElementById('panel-content').replaceChildren(...content.childNodes);
  panel.showModal();
  panel.scrollTop = 0;
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-panel]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void open(link.getAttribute('href'));
});
document.getElementById('panel-close').addEventListener('click', () => panel.close());

document.documentElement.classList.add('scripted');
document.addEventListener('input', ({ target }) => {
  if (target.closest('.filter')) filter(document);
});
filter(document);

let events;

function follow() {
  events = new EventSource('events');
  events.addEventListener('open', () => void refresh());
  events.addEventListener('change', () => void refresh());
  events.addEventListener('error', () => {
    say();
    // After an answer such as 502, the browser does not try again of itself.
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, ANSWER_MS);
  });
}

follow();
setInterval(() => {
  if (!document.hidden) void refresh();
}, AGAIN_MS);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh();
});
