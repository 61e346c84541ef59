import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const flag = (percent: number): string => flagText('pay', percent, { staging: '' });

const scenario = useScenario();

it('a daemon converges after its key or its disk was lost', async () => {
  const { service, commit } = scenario;
  const live = await liveWorkspace(service);
  const keyFile = join(makeDirectory(), 'key');
  writeFileSync(keyFile, service.key);
  const ramp = (percent: number): string =>
    commit({ 'flags/pay.yaml': flag(percent) }, `Ramp pay to ${percent} %`);
  const first = commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) }, 'Add pay');
  const often = ['--interval', '300ms', '--timeout', '1s'];
  const daemon = scenario.watch(often, { FLAGKEEL_API_KEY_FILE: keyFile });
  await daemon.ran(first, 'applied');

  const rotated = await service.createKey('rotated');
  writeFileSync(keyFile, 'fka_made_up_and_wrong');
  const locked = ramp(30);
  await daemon.ran(locked, 'failed');
  writeFileSync(keyFile, rotated);
  daemon.signal('SIGHUP');
  await daemon.ran(locked, 'applied');
  expect(await live.share('pay', 'staging')).toBe(30);

  const limit = (bytes: string): void => {
    execFileSync('prlimit', ['--pid', String(daemon.pid), `--fsize=${bytes}`]);
  };
  limit('0:unlimited');
  const full = ramp(40);
  await daemon.ran(full, 'failed');
  limit('unlimited:unlimited');
  await daemon.ran(full, 'applied');
  expect(await live.share('pay', 'staging')).toBe(40);
});
