// Leaves the rows that fit the search, the owner and the expiry. Without it the page shows all rows.
const bar = document.querySelector('.filter');
const rows = [...document.querySelectorAll('tbody tr')];

function filter() {
  const { search, owner, expiry } = Object.fromEntries(
    [...bar.querySelectorAll('input, select')].map(({ name, value }) => [name, value]),
  );
  const words = search.toLowerCase().split(/\s+/);
  let left = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const isShown =
      words.every((word) => text.includes(word)) &&
      (!owner || row.dataset.owner === owner) &&
      (!expiry || row.dataset.expiry === expiry);
    row.classList.toggle('gone', !isShown);
    if (isShown) left += 1;
  }
  bar.querySelector('output').textContent = left + ' of ' + rows.length;
}

document.documentElement.classList.add('scripted');
bar.addEventListener('input', filter);
filter();
