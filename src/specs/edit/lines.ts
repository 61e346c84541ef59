/** Comparing lines costs the product of their numbers: beyond this, too much for the old spelling of a few lines. */
const MOST_COMPARISONS = 4_000_000;

/** Position in `is` → position in `was`, of the longest common sequence of lines. */
export function commonLines(was: readonly string[], is: readonly string[]): Map<number, number> {
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

/** Pairs of positions of the longest common subsequence; empty if the texts are too long to compare. */
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

export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** Counts from 1, in the new text; for a removed line, the position that it would have. */
  readonly line: number;
}

const CONTEXT = 2;

/** The lines in which two texts differ, with two lines around each difference; empty for equal texts. */
export function differentLines(before: string, after: string): DiffLine[] {
  const [was, is] = [before.split('\n'), after.split('\n')];
  const kept = commonLines(was, is);
  const all: DiffLine[] = [];
  let old = 0;
  for (const [position, text] of [...is, undefined].entries()) {
    const from = text === undefined ? was.length : kept.get(position);
    const line = position + 1;
    if (from !== undefined) {
      for (; old < from; old += 1) all.push({ sign: '-', text: was[old] ?? '', line });
      old = from + 1;
    }
    if (text !== undefined) all.push({ sign: from === undefined ? '+' : ' ', text, line });
  }
  const isShown = (at: number): boolean =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' ');
  return all.filter((_, at) => isShown(at));
}
