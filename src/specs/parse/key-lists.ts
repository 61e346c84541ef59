import { problemAt, type Problem } from './source-text.js';
import { MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';

type Row = readonly { readonly text: string; readonly from: number }[];

/** Of a CSV file (RFC 4180) with the header `key,<attribute>,…`. An empty cell leaves its attribute out. */
export function parseIdentitiesCsv(text: string): {
  keys: Record<string, Record<string, string>>;
  problems: Problem[];
} {
  const keys = Object.create(null) as Record<string, Record<string, string>>;
  const problems: Problem[] = [];
  const fail = (from: number, code: Problem['code'], message: string): void => {
    problems.push(problemAt(code, { from, to: from + 1 }, message));
  };
  const rows = rowsOf(text);
  if (rows === undefined) {
    fail(Math.max(0, text.lastIndexOf('"')), 'csv-syntax', 'a quote is opened and never closed');
    return { keys, problems };
  }
  const [header = [], ...lines] = rows;
  const names = header.map((cell) => cell.text.trim());
  if (names[0] !== 'key') fail(0, 'csv-syntax', 'the first column must be headed "key"');
  if (new Set(names).size !== names.length) fail(0, 'csv-syntax', 'two columns have one heading');
  for (const line of lines) {
    const [first, ...cells] = line;
    if (first === undefined || (first.text === '' && cells.length === 0)) continue;
    if (line.length !== names.length) {
      const message = `the line has ${line.length} cells, the header ${names.length}`;
      fail(first.from, 'csv-syntax', message);
    } else if (first.text === '') {
      fail(first.from, 'csv-syntax', 'the line has no key');
    } else if (Object.hasOwn(keys, first.text)) {
      fail(first.from, 'duplicate-identity', `key "${first.text}" stands here twice`);
    } else {
      const said = cells.map((cell, i) => [names[i + 1] ?? '', cell.text] as const);
      keys[first.text] = Object.fromEntries(said.filter(([, value]) => value !== ''));
    }
  }
  return { keys, problems };
}

/** The lines of the file; undefined if a quote is never closed, or text follows a closing quote. */
function rowsOf(text: string): Row[] | undefined {
  const rows: { text: string; from: number }[][] = [[]];
  const cell = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
  let at = 0;
  while (at < text.length) {
    cell.lastIndex = at;
    const match = cell.exec(text);
    if (match === null || (match[0] === '' && text[at] === '"')) return undefined;
    rows.at(-1)?.push({ text: match[1]?.replaceAll('""', '"') ?? match[2] ?? '', from: at });
    at += match[0].length;
    const end = /^(?:,|\r?\n|\r|$)/.exec(text.slice(at, at + 2));
    if (end === null) return undefined;
    at += end[0].length;
    if (end[0] === ',' && at >= text.length) rows.at(-1)?.push({ text: '', from: at });
    if (end[0] !== ',' && at < text.length) rows.push([]);
  }
  return rows;
}

/** One key on each line, trimmed; skips blank lines and comments (`#`). Stops far above what a segment can hold. */
export function parseKeyFile(text: string): { keys: string[]; problems: Problem[] } {
  const keys: string[] = [];
  const problems: Problem[] = [];
  let from = 0;
  for (const line of text.split('\n')) {
    const key = line.trim();
    const start = from + line.indexOf(key);
    from += line.length + 1;
    if (key === '' || key.startsWith('#')) continue;
    if (hasControlCharacter(key)) {
      const span = { from: start, to: start + key.length };
      problems.push(problemAt('invalid-key', span, 'the key holds a control character'));
    }
    keys.push(key);
    if (keys.length > MAX_KEYS_PER_SEGMENT * 10) break;
  }
  return { keys, problems };
}

/** Whether the text has a control character, which includes tabs and line breaks. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
