/**
 * The library writes a whole file in its own style. Lines that an edit did not touch are taken from the old text, where
 * the library changed nothing but the white space of them.
 *
 * @param old the text as it stood.
 * @param before the same, as the library writes it.
 * @param after the edited text, as the library writes it.
 */
export function withOldLines(old: string, before: string, after: string): string {
  const [was, is] = [before.split('\n'), after.split('\n')];
  const stood = spelling(old.split('\n'), was);
  const end = old.includes('\r\n') ? '\r' : '';
  const kept = commonLines(was, is);
  return is
    .map((line, position) => {
      const from = kept.get(position);
      return (from === undefined ? undefined : stood[from]) ?? line + (line === '' ? '' : end);
    })
    .join('\n');
}

/** How each line of `was` stood in the old text, with the empty lines behind it that the library took away. */
function spelling(old: readonly string[], was: readonly string[]): (string | undefined)[] {
  if (old.length === was.length) return [...old];
  const bare = (line: string): string => line.replaceAll(/\s/g, '');
  const from = commonLines(old.map(bare), was.map(bare));
  const used = new Set(from.values());
  return was.map((_, position) => {
    const start = from.get(position);
    if (start === undefined) return undefined;
    let end = start + 1;
    while (end < old.length && !used.has(end) && old[end]?.trim() === '') end += 1;
    return old.slice(start, end).join('\n');
  });
}

/** More comparisons than these are not worth the wait. */
const MOST_COMPARISONS = 4_000_000;

/** Position in `is` → position in `was`, of the lines that both have, in order; the most there can be. */
function commonLines(was: readonly string[], is: readonly string[]): Map<number, number> {
  const most = Math.min(was.length, is.length);
  let head = 0;
  while (head < most && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < most - head && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  const kept = new Map<number, number>();
  for (let at = 0; at < head; at += 1) kept.set(at, at);
  for (let at = 1; at <= tail; at += 1) kept.set(is.length - at, was.length - at);
  const middle = { was: was.slice(head, was.length - tail), is: is.slice(head, is.length - tail) };
  for (const [a, b] of longestCommon(middle.was, middle.is)) kept.set(head + b, head + a);
  return kept;
}

/** Pairs of positions of the longest common subsequence. */
function longestCommon(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MOST_COMPARISONS) return [];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
