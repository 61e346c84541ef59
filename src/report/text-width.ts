const ASCII = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const EMOJI_SELECTED = /^\p{Extended_Pictographic}.*\ufe0f/su;
const NO_COLUMN = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Columns that a terminal gives to cleaned text. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** At most `columns` wide, with `…` in place of what was cut; never through the middle of a character. */
export function cut(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

function graphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme) || EMOJI_SELECTED.test(grapheme)) return 2;
  return NO_COLUMN.test(grapheme) ? 0 : 1;
}
