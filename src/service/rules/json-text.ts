/** Deeper than any object of the interface; unbounded, it would exhaust the stack of whoever walks it. */
export const MAX_JSON_DEPTH = 64;

/** Whether JSON text opens more lists and objects within each other than `MAX_JSON_DEPTH`. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (inText) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) inText = false;
    } else if (character === QUOTE) {
      inText = true;
    } else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return false;
}

/** Whether text, or JSON text in an escape, holds the one character that PostgreSQL cannot keep. */
export function holdsNull(text: string): boolean {
  return text.includes('\0') || /(?<!\\)(?:\\\\)*\\u0000/.test(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
