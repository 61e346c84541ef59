import { expect, it } from 'vitest';
import { readWatchConfig } from '../../../src/specs/read-config.js';
import { cliRun } from '../../support/terminal.js';

const OPTIONS: readonly (readonly [string, string])[] = [
  ['watch .', '--interval'],
  ['watch .', '--jitter'],
  ['watch .', '--debounce'],
  ['watch .', '--lease'],
  ['reconcile .', '--timeout'],
  ['reconcile .', '--lock-timeout'],
  ['service', '--requests-expire'],
  ['service', '--log-expires'],
  ['service keys create ci', '--expires'],
];

it.each(OPTIONS)('`%s %s 15` is refused with a line that works', async (command, option) => {
  const refused = await cliRun([...command.split(' '), option, '15']);

  expect(refused.exitCode).toBe(64);
  expect(refused.stderr).toContain(`${option} <duration>`);
  expect(refused.stderr).toContain('Expected a duration with its unit: 15s, 15m or 15h.');
});

it('takes 0 without a unit, since it has none', async () => {
  const ended = await cliRun(['validate', '/nowhere', '--lock-timeout', '0']);

  expect(ended.stderr).not.toContain('duration');
});

it.each([
  ['watch', ['(default: 30s)', '(default: 500ms)', '(default: 15s)']],
  ['reconcile', ['(default: 0)', '(default: 30s)']],
])('the help of %s shows each duration as it can be typed', async (command, shown) => {
  const { stdout } = await cliRun([command, '--help', '--all']);

  for (const each of shown) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(each);
  expect(stdout).not.toMatch(/\(default: [1-9]\d*\)/);
});

it.each([
  ['15s', true],
  ['0', true],
  ['15', false],
])('an interval of %s in a file of sources is taken: %s', (interval, isTaken) => {
  const text = `sources:\n  - { name: shop, directory: shop, interval: '${interval}' }\n`;

  const read = readWatchConfig('sources.yaml', Buffer.from(text));

  expect(read.ok).toBe(isTaken);
  if (!isTaken) expect(JSON.stringify(read)).toContain('a duration with its unit, such as 30s');
});
