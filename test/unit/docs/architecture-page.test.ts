import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** `room/file` of the page that are meant as files of `src/`, with the functions that are named right behind them. */
function namedFiles(): { file: string; functions: string[] }[] {
  const mentions = [...PAGE.matchAll(/`((?:[a-z-]+\/)+[a-z-]+)`((?:[\s(]+`#?\w+\(\)`)*)/g)];
  return mentions.map(([, file = '', behind = '']) => ({
    file,
    functions: [...behind.matchAll(/`(\w+)\(\)`/g)].map(([, name = '']) => name),
  }));
}

/** The text of a file of `src/`, of all files of a room by its subject, or undefined where there is neither. */
function textOf(file: string): string | undefined {
  const path = join(ROOT, 'src', `${file}.ts`);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

describe('the map of the house', () => {
  it('names files that are there', () => {
    const files = namedFiles().map(({ file }) => file);
    const missing = files.filter(
      (file) => textOf(file) === undefined && !existsSync(join(ROOT, 'src', file)),
    );

    expect(files.length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });

  it('names functions that the files before them have', () => {
    const named = namedFiles().flatMap(({ file, functions }) =>
      functions.map((name) => ({ name, text: textOf(file) ?? '', file })),
    );
    const missing = named.filter(({ name, text }) => !new RegExp(`\\b${name}\\b`).test(text));

    expect(named.length).toBeGreaterThan(10);
    expect(missing.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
  });
});
