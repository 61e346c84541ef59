// Shows the sections that hold every word of the search, those with a word in their heading first.
const AROUND = 120;
const field = document.querySelector('[name=q]');
const output = document.querySelector('output');
const unasked = output.textContent;
const list = document.querySelector('.found');
const sections = [...list.children].map((item) => {
  const [name, text] = item.children;
  return { item, name: name.textContent.toLowerCase(), shown: text, text: text.textContent };
});

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  document.documentElement.classList.toggle('scripted', words.length > 0);
  const hits = [];
  for (const { item, name, shown, text } of sections) {
    const low = text.toLowerCase();
    const isHit =
      words.length > 0 && words.every((word) => name.includes(word) || low.includes(word));
    item.classList.toggle('hit', isHit);
    if (!isHit) continue;
    const at = Math.max(0, low.indexOf(words.find((word) => low.includes(word))) - AROUND);
    shown.textContent = (at > 0 ? '…' : '') + text.slice(at, at + 2 * AROUND).trim();
    const heading = name.split(' · ').at(-1);
    hits.push({ item, rank: words.filter((word) => heading.includes(word)).length });
  }
  const order = words.length > 0 ? hits.sort((a, b) => b.rank - a.rank) : sections;
  list.append(...order.map(({ item }) => item));
  const count = hits.length + ' of ' + sections.length + ' sections';
  output.textContent = words.length > 0 ? count : unasked;
}

field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', search);
search();
