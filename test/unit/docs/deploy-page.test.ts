import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bare, declarationsOf, projectText, rowsOf, sectionOf } from './page.js';

it('docs/deploy.md lets a plan past a guard by an option that there is, and by no route', () => {
  const rows = rowsOf(sectionOf(projectText('docs/deploy.md'), '## Alerts'));
  const then = rows.find(([alert]) => bare(alert) === 'FlaghoistGuardRefused')?.[2] ?? '';

  expect(then).toContain('`reconcile --approve HASH`');
  expect(declarationsOf('reconcile')).toContain('--approve <hash>');
  const routes = readdirSync(new URL('../../../src/daemon/http', import.meta.url));
  expect(routes.length).toBeGreaterThan(0);
  for (const file of routes)
    expect(projectText(`src/daemon/http/${file}`)).not.toMatch(/\/approve/);
});
