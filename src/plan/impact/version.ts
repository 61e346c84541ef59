/** A version as semver.org writes it, with numbers as text of any length. */
export interface Version {
  /** Without leading zeros, with what stands behind `+`: equal versions have equal texts. */
  readonly text: string;
  readonly numbers: readonly string[];
  readonly preRelease: readonly string[];
}

const DIGITS = /^\d+$/;

/** @returns undefined where the text is no version of three numbers. */
export function versionOf(text: string): Version | undefined {
  const [whole, build] = splitAt(text, '+');
  const [core, preRelease] = splitAt(whole, '-');
  const numbers = core.split('.');
  const labels = preRelease?.split('.') ?? [];
  const isVersion = numbers.length === 3 && numbers.every((each) => DIGITS.test(each));
  if (!isVersion || labels.includes('') || build === '') return undefined;
  const plain = { numbers: numbers.map(plainNumber), preRelease: labels.map(plainNumber) };
  const ending = labels.length === 0 ? '' : `-${plain.preRelease.join('.')}`;
  const built = build === undefined ? '' : `+${build}`;
  return { ...plain, text: `${plain.numbers.join('.')}${ending}${built}` };
}

function splitAt(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function plainNumber(text: string): string {
  return DIGITS.test(text) ? text.replace(/^0+(?=\d)/, '') : text;
}

/** Negative where `a` comes before `b`. A pre-release comes before its release; of two builds neither does. */
export function compareVersions(a: Version, b: Version): number {
  const byNumbers = firstDifference(a.numbers, b.numbers);
  if (byNumbers !== 0) return byNumbers;
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return b.preRelease.length - a.preRelease.length;
  }
  const byLabels = firstDifference(a.preRelease, b.preRelease);
  return byLabels === 0 ? a.preRelease.length - b.preRelease.length : byLabels;
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 0;
    const areNumbers = DIGITS.test(part) && DIGITS.test(other);
    if (areNumbers && part.length !== other.length) return part.length - other.length;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}
