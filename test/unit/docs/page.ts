import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { anchorOf } from '../../../src/cli/code-entries.js';

/** Root of the project. */
export const PROJECT = join(import.meta.dirname, '../../..');

/** Text of a file of the project, for example `docs/specs.md`. */
export function projectText(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}

/** Text of the files that declare options of these commands: their own, and the one that commands share. */
export function declarationsOf(...commands: readonly string[]): string {
  const own = commands.map((name) => projectText(`src/cli/commands/${name}.ts`));
  const shared = ['options', 'reconcile-options', 'right-specs'].map((name) =>
    projectText(`src/cli/${name}.ts`),
  );
  return [...own, ...shared].join('');
}

/** Names of the files that declare commands, with their folder where they stand in one. */
export function commandFiles(): string[] {
  const names = readdirSync(join(PROJECT, 'src/cli/commands'), {
    recursive: true,
    encoding: 'utf8',
  });
  return names.filter((name) => name.endsWith('.ts')).map((name) => name.replace(/\.ts$/, ''));
}

/** The part of a page below one heading, up to the next of the same rank or a higher one. */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`no heading "${heading}"`);
  const rank = heading.indexOf(' ');
  const length = lines
    .slice(start + 1)
    .findIndex((line) => /^#{1,6} /.test(line) && line.indexOf(' ') <= rank);
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
}

/** Cells of the rows of all tables in the text, without the headings. */
export function rowsOf(text: string): string[][] {
  const lines = text.split('\n');
  return lines
    .filter((line, i) => line.startsWith('|') && !isRule(line) && !isRule(lines[i + 1] ?? ''))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function isRule(line: string): boolean {
  return /^\|( *:?-+:? *\|)+$/.test(line);
}

/** `` `word` `` → `word`. */
export function bare(cell = ''): string {
  return cell.replace(/^`(.*)`$/, '$1');
}

/**
 * Files that a page shows in fences: YAML by a comment in its first line, others by what stands behind the fence's
 * language.
 *
 * @throws Error a YAML fence names no file, or two name the same.
 */
export function examplesOf(page: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [, language, given, content = ''] of page.matchAll(
    /^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm,
  )) {
    const path = language === 'yaml' ? /^# (\S+)\n/.exec(content)?.[1] : given;
    if (path === undefined) {
      if (language === 'yaml') throw new Error(`an example names no file: ${content}`);
      continue;
    }
    if (path in files) throw new Error(`two examples of ${path}`);
    files[path] = content;
  }
  return files;
}

/** Links of a page to files or headings of the project that are not there. */
export function brokenLinks(path: string): string[] {
  const links = [...projectText(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !link.includes('://') && !isThere(path, link));
}

function isThere(from: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const path = file === '' ? from : join(dirname(from), file);
  if (!existsSync(join(PROJECT, path))) return false;
  if (heading === undefined) return true;
  const headings = [...projectText(path).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return headings.map(anchorOf).includes(heading);
}

/** Every field that a schema has, at any depth. */
export function fieldsOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') Object.keys(value as object).forEach((field) => found.add(field));
    fieldsOf(value, found);
  }
  return found;
}
