import { describe, expect, it } from 'vitest';
import { readWatchConfig } from '../../../src/specs/read-config.js';
import { bare, examplesOf, fieldsOf, projectText, rowsOf, sectionOf } from './page.js';

const PAGE = projectText('docs/watch.md');

/** What `/status` can say of a run. */
const { run } = (
  JSON.parse(projectText('schemas/status.schema.json')) as {
    $defs: {
      run: { properties: { triggers: { items: { enum: string[] } }; result: { enum: string[] } } };
    };
  }
).$defs;

function firstCells(heading: string): string[] {
  return rowsOf(sectionOf(PAGE, heading)).map(([cell]) => bare(cell));
}

describe('docs/watch.md', () => {
  it('explains exactly the triggers and the results that there are', () => {
    expect(firstCells('## What starts a run').toSorted()).toEqual(
      run.properties.triggers.items.enum.toSorted(),
    );
    expect(firstCells('## How a run ends')).toEqual(run.properties.result.enum);
  });

  it('shows a valid file of sources, and names every field of one', () => {
    const text = examplesOf(PAGE)['sources.yaml'] ?? '';
    expect(readWatchConfig('sources.yaml', Buffer.from(text))).toMatchObject({ ok: true });

    const fields = fieldsOf(JSON.parse(projectText('schemas/watch.schema.json')));
    expect([...fields].filter((field) => !new RegExp(`\\b${field}\\b`).test(PAGE))).toEqual([]);
  });
});
