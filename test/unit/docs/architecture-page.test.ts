import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT, projectText } from './page.js';

const PAGE = projectText('ARCHITECTURE.md');

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
  const path = join(PROJECT, 'src', `${file}.ts`);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

it('ARCHITECTURE.md names files that are there, and functions that the files before them have', () => {
  const named = namedFiles();
  const isThere = (file: string): boolean =>
    textOf(file) !== undefined || existsSync(join(PROJECT, 'src', file));
  const functions = named.flatMap(({ file, functions: names }) =>
    names.map((name) => ({ name, file })),
  );
  const missing = functions.filter(
    ({ name, file }) => !new RegExp(`\\b${name}\\b`).test(textOf(file) ?? ''),
  );

  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ file }) => !isThere(file))).toEqual([]);
  expect(functions.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

it('ARCHITECTURE.md has a row for each folder and each file of src/', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z-]+(?:\.ts)?)\/?` /gm)].map(([, room]) => room);

  expect(rows.toSorted()).toEqual(readdirSync(join(PROJECT, 'src')).toSorted());
});

it('CONTRIBUTING.md names files and folders that are there', () => {
  const paths = /`((?:src|test|docs|schemas|scripts)\/[\w./-]*)`/g;
  const named = [...projectText('CONTRIBUTING.md').matchAll(paths)].map(([, path = '']) => path);

  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
});
