import { RE2JS } from 're2js';

/** A regular expression of a spec or a config, ready to be asked. */
export interface Expression {
  /** Whether it is found anywhere in a text, in a time that grows with the length of the text and no faster. */
  isIn(text: string): boolean;
}

/**
 * Compiles an expression as people write it for JavaScript. Those who write specs need not be trusted by those who review
 * them, and what JavaScript itself takes for `(a+)+$` doubles with each character.
 *
 * @returns undefined where it is none, or where evaluators differ: it looks ahead or behind, refers to what it found before,
 * or is written for another language.
 */
export function expressionOf(pattern: string): Expression | undefined {
  try {
    // Evaluators in JavaScript are asked with the same text, and throw where they cannot read it.
    new RegExp(pattern);
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { isIn: (text) => compiled.matcher(text).find() };
  } catch {
    return undefined;
  }
}

/** Why JavaScript cannot read a regular expression; undefined where it can. */
export function whyInvalid(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.slice(message.lastIndexOf(': ') + 2);
  }
}

/** Why names cannot be held against a pattern, as words that follow it; undefined where they can. */
export function whyNoPattern(pattern: string): string | undefined {
  const why = whyInvalid(pattern);
  if (why !== undefined) return `is no regular expression: ${why}`;
  if (expressionOf(pattern) !== undefined) return undefined;
  return 'cannot be used for names: it looks ahead or behind, or refers to what it found before';
}
