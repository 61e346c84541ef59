import { describe, expect, it } from 'vitest';
import { brokenLinks } from './page.js';

describe.each([
  'docs/getting-started.md',
  'docs/specs.md',
  'docs/lint.md',
  'docs/plan.md',
  'docs/operations.md',
  'docs/testing.md',
  'docs/container.md',
  'docs/deploy.md',
])('%s', (path) => {
  it('links to headings and files that there are', () => {
    expect(brokenLinks(path)).toEqual([]);
  });
});
