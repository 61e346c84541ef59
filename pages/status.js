// Refreshes the status page when the server announces a change, and at times because displayed ages grow. It writes no text
// but its own state, opens nothing that was closed, and moves no focus. Without it the page shows the state at loading,
// without buttons.
//
// A button shows its effect, and sends its request after a confirmation. The token stays in a variable of the page, unless
// the button wants it each time, and goes only with requests of this script: there is no cookie that another site could use.
const AGAIN_MS = 30000;
let busy = false;
let wanted = false;

async function refresh() {
  if (busy) {
    wanted = true;
    return;
  }
  busy = true;
  try {
    const answer = await fetch('.', { cache: 'no-store' });
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), 'text/html'));
  } catch {
    say('not reachable');
  }
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

function say(word) {
  document.getElementById('live').textContent = word;
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
  part('-do').disabled = true;
  try {
    const answer = await fetch(asking.path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
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

const events = new EventSource('events');
events.addEventListener('open', () => {
  say('live');
  void refresh();
});
events.addEventListener('change', () => void refresh());
events.addEventListener('error', () => say('reconnecting'));
setInterval(() => {
  if (!document.hidden) void refresh();
}, AGAIN_MS);
