import type { Problem } from './source-text.js';

type Row = readonly { readonly text: string; readonly from: number }[];

/** Key → attribute → value, of a CSV file (RFC 4180) with the header `key,<attribute>,…`. An empty cell says nothing. */
export function parseIdentitiesCsv(text: string): {
  keys: Record<string, Record<string, string>>;
  problems: Problem[];
} {
  const keys = Object.create(null) as Record<string, Record<string, string>>;
  const problems: Problem[] = [];
  const fail = (from: number, code: Problem['code'], message: string): void => {
    problems.push({ severity: 'error', code, span: { from, to: from + 1 }, message });
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
      fail(
        first.from,
        'csv-syntax',
        `the line has ${line.length} cells, the header ${names.length}`,
      );
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

/** Undefined where a quote is never closed. */
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
