import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/specs/read-config.js';
import { closingAt } from '../../../src/timing/windows.js';
import { treeOf } from '../../support/spec-tree.js';
import { examplesOf, fieldsOf, projectText } from './page.js';

const PAGE = projectText('docs/windows.md');

describe('docs/windows.md', () => {
  it('shows a valid config, which is read as the page says', async () => {
    const config = await readConfig(treeOf(examplesOf(PAGE)));

    if (!config) throw new Error('the example is invalid');
    const { windows = [], freezes = [] } = config;
    const isOpen = (text: string): boolean =>
      closingAt({ windows, freezes }, Date.parse(text)) === undefined;
    expect(isOpen('2026-12-01T22:59:59Z')).toBe(false);
    expect(isOpen('2026-12-02T08:00:00Z')).toBe(true);
    expect(isOpen('2026-12-02T16:00:00Z')).toBe(false);
  });

  it('names every field of a window and of a freeze', () => {
    const { properties } = JSON.parse(projectText('schemas/config.schema.json')) as {
      properties: Record<string, unknown>;
    };
    const fields = [...fieldsOf(properties['windows']), ...fieldsOf(properties['freezes'])];

    expect(fields.filter((field) => !new RegExp(`\`[^\`]*\\b${field}\``).test(PAGE))).toEqual([]);
  });
});
