import { expect, it } from 'vitest';
import { cliRun } from '../../support/terminal.js';

it.each([
  [['plan', '--at', 'tomorrow'], 'Expected a time with its offset'],
  // What this machine calls nine is nobody's business.
  [['plan', '--at', '2026-11-24T09:00'], 'Expected a time with its offset'],
  [['reconcile', '--at', '2026-11-24T09:00Z'], 'cannot use --at without --dry-run'],
  [['reconcile', '--override-window', ' '], 'cannot use --override-window without a reason'],
])('refuses %j', async (args, why) => {
  const { exitCode, stderr } = await cliRun(args);

  expect(exitCode).toBe(64);
  expect(stderr).toContain(why);
});
