import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const flag = (percent: number, name = 'pay'): string => flagText(name, percent, { staging: '' });

const scenario = useScenario();

it('a daemon converges after the service, its key or its disk was lost, and breaks a long run off for a kill', async () => {
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

  service.failAtRandom(() => 'reset-before');
  const away = ramp(20);
  expect((await daemon.ran(away, 'failed')).level).toBe('error');
  service.failAtRandom(() => undefined);
  expect((await daemon.ran(away, 'applied')).triggers).toContain('retry');
  expect(await live.share('pay', 'staging')).toBe(20);

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

  // Without this the run is over before a loaded machine has told the daemon of the kill.
  service.failAtRandom((method) => (method === 'POST' ? 'slow' : undefined));
  const names = Array.from({ length: 80 }, (_, i) => `flag-${i}`);
  const files = names.map((name) => [`flags/${name}.yaml`, flag(1, name)]);
  const many = commit(Object.fromEntries(files) as Record<string, string>, 'Add many flags');
  // Not a read: what is written may be planned before it is committed.
  await daemon.until(() =>
    service.requests.some(({ method, path }) => method === 'POST' && path.includes('/flag-1/')),
  );
  const order = { 'kills/staging.yaml': 'kills:\n  pay: { reason: INC-1 }\n' };
  const kill = commit(order, 'Kill pay');
  await daemon.ran(many, 'interrupted');
  service.failAtRandom(() => undefined);
  const killed = await daemon.line(({ msg }) => msg === 'kill');
  expect(killed).toMatchObject({ object: 'flag/pay@staging', revision: kill });
  expect(await live.definition('pay', 'staging')).toMatchObject({ killed: true });
  expect((await daemon.ran(kill, 'applied')).triggers).toContain('kill');
  expect(await live.share('flag-79', 'staging')).toBe(1);
});
