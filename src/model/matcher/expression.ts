import { RE2JS } from 're2js';

/**
 * Compiles an expression in JavaScript's syntax. Authors of specs are untrusted, and JavaScript's own engine takes
 * exponential time for `(a+)+$`, so another engine runs it, in time linear in the length of the text.
 *
 * @returns whether a text contains a match; undefined where the expression is invalid, or where evaluators differ: it
 *   looks ahead or behind, refers to an earlier match, or is written for another language.
 */
export function expressionOf(pattern: string): { isIn(text: string): boolean } | undefined {
  try {
    // Evaluators in JavaScript get the same text, and throw where they cannot read it.
    new RegExp(pattern);
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { isIn: (text) => compiled.matcher(text).find() };
  } catch {
    return undefined;
  }
}

export function whyInvalid(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.slice(message.lastIndexOf(': ') + 2);
  }
}

/** Why names cannot be checked against a pattern, as words that follow it; undefined where they can. */
export function whyNoPattern(pattern: string): string | undefined {
  const why = whyInvalid(pattern);
  if (why !== undefined) return `is no regular expression: ${why}`;
  if (expressionOf(pattern) !== undefined) return undefined;
  return 'cannot be used for names: it looks ahead or behind, or refers to what it found before';
}
