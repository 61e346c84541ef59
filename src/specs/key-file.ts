import { MAX_KEYS_PER_SEGMENT } from '../api/wire.js';
import { apiKeyProblems, type Problem } from './source-text.js';

/** Keys of a plain text file: one per line, trimmed; blank lines and lines that begin with '#' do not count. */
export function parseKeyFile(text: string): { keys: string[]; problems: Problem[] } {
  const keys: string[] = [];
  const problems = apiKeyProblems(text);
  let from = 0;
  for (const line of text.split('\n')) {
    const key = line.trim();
    const start = from + line.indexOf(key);
    from += line.length + 1;
    if (key === '' || key.startsWith('#')) continue;
    if (hasControlCharacter(key)) {
      const span = { from: start, to: start + key.length };
      const message = 'the key holds a control character';
      problems.push({ severity: 'error', code: 'invalid-key', span, message });
    }
    keys.push(key);
    if (keys.length > MAX_KEYS_PER_SEGMENT * 10) break;
  }
  return { keys, problems };
}

export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
