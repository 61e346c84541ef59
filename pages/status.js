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
  asking = {
    path: dataset.path,
    body: JSON.parse(dataset.body),
    from: id,
    once: 'once' in dataset,
  };
  part('-title').textContent = label + ': ' + asking.body.source;
  part('-says').textContent = dataset.says;
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
