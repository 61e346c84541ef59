import { describe, expect, it } from 'vitest';
import { readWatchConfig } from '../../../src/specs/read-config.js';
import {
  declarationsOf,
  bare,
  examplesOf,
  fieldsOf,
  projectText,
  rowsOf,
  sectionOf,
} from './page.js';

const PAGE = projectText('docs/watch.md');

/** Members of a union of strings in the types of the daemon. */
function wordsOf(type: string): string[] {
  const source = projectText('src/daemon/view.ts');
  const body = new RegExp(`export type ${type} =([^]*?);\\n\\n`).exec(source)?.[1] ?? '';
  return [...body.matchAll(/'([a-z-]+)'/g)].map(([, word = '']) => word);
}

function firstCells(heading: string): string[] {
  return rowsOf(sectionOf(PAGE, heading)).map(([cell]) => bare(cell));
}

describe('docs/watch.md', () => {
  it('explains exactly the triggers and the results that there are', () => {
    expect(firstCells('## What starts a run').toSorted()).toEqual(wordsOf('Trigger').toSorted());
    expect(firstCells('## How a run ends')).toEqual(wordsOf('RunResult'));
  });

  it('shows a valid file of sources, and names every field of one', () => {
    const text = examplesOf(PAGE)['sources.yaml'] ?? '';
    expect(readWatchConfig('sources.yaml', Buffer.from(text))).toMatchObject({ ok: true });

    const fields = fieldsOf(JSON.parse(projectText('schemas/watch.schema.json')));
    expect([...fields].filter((field) => !new RegExp(`\\b${field}\\b`).test(PAGE))).toEqual([]);
  });

  it('names only options that the command has', () => {
    const source = declarationsOf('watch');
    const named = [...PAGE.matchAll(/(--[a-z][a-z-]+)/g)].map(([, option = '']) => option);
    expect(named.filter((option) => !source.includes(`'${option}`))).toEqual([]);
  });
});
