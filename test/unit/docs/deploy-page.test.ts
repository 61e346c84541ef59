import { expect, it } from 'vitest';
import { bare, declarationsOf, projectText, rowsOf, sectionOf } from './page.js';

it('docs/deploy.md lets a plan past a guard by an option and a route that there are', () => {
  const rows = rowsOf(sectionOf(projectText('docs/deploy.md'), '## Alerts'));
  const then = rows.find(([alert]) => bare(alert) === 'FlagkeelGuardRefused')?.[2] ?? '';

  expect(then).toContain('`reconcile --approve HASH`');
  expect(declarationsOf('reconcile')).toContain('--approve <hash>');
  expect(then).toContain('(watch-operations.md#approving-what-is-held)');
  const told = sectionOf(projectText('docs/watch-operations.md'), '## Approving what is held');
  const [, route] = /127\.0\.0\.1:8080(\/\w+)/.exec(told) ?? [];
  expect(projectText('src/daemon/http/control-routes.ts')).toContain(`app.post('${route ?? ''}'`);
});
