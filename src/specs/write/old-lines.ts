/**
 * The library writes a whole file in its own style. Lines that an edit did not touch are taken from the old text, as
 * long as the library put the old text on as many lines.
 *
 * @param old the text as it stood.
 * @param before the same, as the library writes it.
 * @param after the edited text, as the library writes it.
 */
export function withOldLines(old: string, before: string, after: string): string {
  const [stood, was, is] = [old.split('\n'), before.split('\n'), after.split('\n')];
  if (stood.length !== was.length) return after;
  const end = old.includes('\r\n') ? '\r' : '';
  const kept = commonLines(was, is);
  return is
    .map((line, position) => {
      const from = kept.get(position);
      return from === undefined ? line + end : (stood[from] ?? line);
    })
    .join('\n');
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
