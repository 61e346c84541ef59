import { beforeEach, expect, it } from 'vitest';
import { flagkeel, flagkeelOnTerminal, startFlagkeel } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const ERASE = '\r\u001b[K';

const scenario = useScenario();
let args: readonly string[];
let env: Readonly<Record<string, string>>;

beforeEach(() => {
  env = { FLAGKEEL_API_KEY: scenario.service.key, TERM: 'xterm' };
  args = ['reconcile', '--url', scenario.service.origin, scenario.repository.directory];
  const alpha = flagText('alpha', 10, { staging: '' });
  scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/alpha.yaml': alpha }, 'Add alpha');
});

it('on a terminal, is one line that is gone when the report is printed', async () => {
  scenario.service.failAtRandom(() => 'slow');

  const { code, stdout } = await flagkeelOnTerminal(args, '', { env });

  expect(code).toBe(0);
  expect(stdout).toMatch(/looking at the service · \d+\/1 objects · \d+ requests?/);
  expect(stdout).toMatch(/applying · \d+\/2 steps · \d+ requests/);
  const report = stdout.slice(stdout.lastIndexOf(ERASE) + ERASE.length);
  expect(report).toContain('flag/alpha');
  expect(stdout.slice(0, stdout.lastIndexOf(ERASE))).not.toContain('flag/alpha');
});

it('elsewhere, says at once that the service makes it wait, and for how long', async () => {
  let isLimiting = true;
  scenario.service.failAtRandom(() => (isLimiting ? 429 : undefined));
  const run = startFlagkeel(args, { env });
  await run.says('waiting ');
  isLimiting = false;

  const { code, stderr } = await run.ended;

  expect(code).toBe(0);
  expect(stderr).toMatch(/^looking at the service · .*waiting \d+ s: .*the service/m);
});

it('with --log-format json, is lines of a log', async () => {
  let isLimiting = true;
  scenario.service.failAtRandom(() => (isLimiting ? 429 : undefined));
  const run = startFlagkeel([...args, '--log-format', 'json'], { env });
  await run.says('"msg":"progress"');
  isLimiting = false;

  const { stderr } = await run.ended;

  const [line = ''] = stderr.split('\n');
  expect(JSON.parse(line)).toMatchObject({ level: 'info', phase: 'look', total: 0 });
});

it('with --quiet, is nothing at all', async () => {
  scenario.service.failNext({ method: 'GET', path: /\/splits\/ws\// }, 429);
  scenario.service.failNext({ method: 'GET', path: /\/splits\/ws\// }, 429);

  const quiet = await flagkeel([...args, '--quiet'], { env });
  const onTerminal = await flagkeelOnTerminal([...args, '--quiet'], '', { env });

  expect(quiet).toMatchObject({ code: 0, stderr: '' });
  expect(onTerminal.stdout).not.toContain('looking');
});
