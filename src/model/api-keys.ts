/**
 * Admin API keys of the embedded service. Finds a key even in the middle of a word: a person who pastes a key behind
 * `KEY_` or a letter has exposed it all the same.
 */
const API_KEY = /fka_[A-Za-z0-9_-]{16,}/g;

/** An Admin API key in a text, with the offset at which it begins in UTF-16 code units. */
export interface FoundKey {
  readonly key: string;
  readonly at: number;
}

/** The Admin API keys in a text, in the order in which they stand there. */
export function apiKeysIn(text: string): FoundKey[] {
  return [...text.matchAll(API_KEY)].map(({ index, 0: key }) => ({ key, at: index }));
}

/** The text with `[redacted]` in the place of each Admin API key. Doing it twice changes nothing more. */
export function withoutApiKeys(text: string): string {
  return text.replace(API_KEY, '[redacted]');
}

/** The text with API keys made unreadable. Lengths stay equal, so that positions remain valid. */
export function maskedApiKeys(text: string): string {
  return text.replace(API_KEY, (key) => `fka_${'*'.repeat(key.length - 4)}`);
}
