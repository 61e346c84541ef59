import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { duration, moment } from '../../../src/cli/options.js';
import { makeDirectory } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

const DAY_MS = 86_400_000;
const UNIT = 'Expected a duration with its unit: 15s, 15m or 15h.';
const OFFSET = 'Expected a time with its offset';

it.each([
  ['watch . --interval 15', UNIT],
  ['watch . --jitter 15', UNIT],
  ['watch . --debounce 15', UNIT],
  ['watch . --lease 15', UNIT],
  ['reconcile . --timeout 15', UNIT],
  ['reconcile . --lock-timeout 15', UNIT],
  ['service --requests-expire 15', UNIT],
  ['service --log-expires 15', UNIT],
  ['service keys create ci --expires 15', UNIT],
  ['plan --at tomorrow', OFFSET],
  // The zone of this machine does not matter.
  ['plan --at 2026-11-24T09:00', OFFSET],
  ['reconcile --at 2026-11-24T09:00Z', 'cannot use --at without --dry-run'],
  ['reconcile --plan-hash abc', 'it is not "sha256:" and 64 hex digits'],
  ['reconcile --approve abc', 'it is not "sha256:" and 64 hex digits'],
  ['reconcile --override-window=', 'cannot use --override-window without a reason'],
])('`%s` is refused with a line that helps', async (line, why) => {
  const { exitCode, stderr } = await cliRun(line.split(' '));

  expect(exitCode).toBe(64);
  expect(stderr).toContain(why);
});

it('`watch --config` shows what is wrong with the file in lines of their own', async () => {
  const file = join(makeDirectory(), 'sources.yaml');
  writeFileSync(file, 'sources:\n  - { name: shop, folder: shop }\n');

  const { exitCode, stderr } = await cliRun(['watch', '--config', file]);

  expect(exitCode).toBe(64);
  expect(stderr.split('\n')).toEqual(
    expect.arrayContaining([
      `cannot use the sources in "${file}"`,
      expect.stringMatching(/^ +2 \| {3}- \{ name: shop, folder: shop \}$/),
      expect.stringMatching(/^ +\| +\^+$/),
    ]),
  );
});

describe('a moment or a duration on the command line', () => {
  it('is a day, a time, or so long ago; 0 needs no unit', () => {
    expect(moment('2026-10-03')).toBe(Date.UTC(2026, 9, 3));
    expect(moment('2026-10-03T22:14Z')).toBe(Date.UTC(2026, 9, 3, 22, 14));
    const [before, found, after] = [Date.now(), moment('7d'), Date.now()];
    expect(found).toBeGreaterThanOrEqual(before - 7 * DAY_MS);
    expect(found).toBeLessThanOrEqual(after - 7 * DAY_MS);
    expect(duration('2d')).toBe(2 * DAY_MS);
    expect(duration('0')).toBe(0);
  });

  it.each(['', 'yesterday', '7', '2026', '2026-13-45', '3 October', '7days'])(
    'is not "%s"',
    (text) => {
      expect(() => moment(text)).toThrow(InvalidArgumentError);
    },
  );
});

it.each([
  ['watch', ['(default: 30s)', '(default: 500ms)', '(default: 15s)']],
  ['reconcile', ['(default: 0)', '(default: 30s)']],
])('the help of %s shows each duration as it can be typed', async (command, shown) => {
  const { stdout } = await cliRun([command, '--help', '--all']);

  for (const each of shown) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(each);
  expect(stdout).not.toMatch(/\(default: [1-9]\d*\)/);
});
