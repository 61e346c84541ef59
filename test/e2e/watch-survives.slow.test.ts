import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const flag = (percent: number, name = 'pay'): string => flagText(name, percent, { staging: '' });

const QUICK = ['--interval', '300ms', '--debounce', '50ms', '--schedule', 'off'];

describe('a daemon that things happen to', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let daemon: Watching;
  let folder: string;
  let first: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-watch-'));
    live = await liveWorkspace(scenario.service);
    writeFileSync(join(folder, 'key'), scenario.service.key);
    first = scenario.commit(
      { 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) },
      'Add pay',
    );
    daemon = watch();
    await daemon.ran(first, 'applied');
  });

  afterEach(async () => {
    await daemon.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  function watch(env: Readonly<Record<string, string>> = {}): Watching {
    const args = [
      ...QUICK,
      '--timeout',
      '1s',
      '--url',
      scenario.service.origin,
      scenario.repository.directory,
    ];
    return new Watching(args, { FLAGKEEL_API_KEY_FILE: join(folder, 'key'), ...env });
  }

  function ramp(percent: number): string {
    return scenario.commit({ 'flags/pay.yaml': flag(percent) }, `Ramp pay to ${percent} %`);
  }

  async function definition(name = 'pay'): Promise<{ killed: boolean; on: number | undefined }> {
    const path = `/splits/ws/${live.id}/${name}/environments/${live.staging}`;
    const { body } = await live.call('GET', path);
    const { defaultRule, killed } = body as {
      killed: boolean;
      defaultRule: { treatment: string; size: number }[];
    };
    return { killed, on: defaultRule.find(({ treatment }) => treatment === 'on')?.size };
  }

  it('converges after the service was down, without anybody doing anything', async () => {
    scenario.service.failAtRandom(() => 'reset-before');
    const second = ramp(20);

    const failed = await daemon.ran(second, 'failed');
    expect(failed.level).toBe('error');
    scenario.service.failAtRandom(() => undefined);
    const retried = await daemon.ran(second, 'applied');

    expect(retried.triggers).toContain('retry');
    expect((await definition()).on).toBe(20);
  });

  it('picks a key up that was rotated in its file', async () => {
    const rotated = await scenario.service.createKey('rotated');
    writeFileSync(join(folder, 'key'), 'fka_made_up_and_wrong');
    const second = ramp(20);
    await daemon.ran(second, 'failed');

    writeFileSync(join(folder, 'key'), rotated);
    daemon.signal('SIGHUP');

    await daemon.ran(second, 'applied');
    expect((await definition()).on).toBe(20);
  });

  it('waits for a checkout that was deleted, and goes on when it is back', async () => {
    const second = ramp(20);
    await daemon.ran(second, 'applied');
    renameSync(scenario.repository.directory, `${scenario.repository.directory}-away`);
    await daemon.line(({ msg }) => msg === 'source out of reach');

    renameSync(`${scenario.repository.directory}-away`, scenario.repository.directory);
    await daemon.line(({ msg }) => msg === 'source within reach again');
    await daemon.ran(ramp(30), 'applied');

    expect((await definition()).on).toBe(30);
  });

  it('ends a run after its request under way when a commit adds a kill', async () => {
    // Without this the run is over before a loaded machine has told the daemon of the kill.
    scenario.service.failAtRandom((method) => (method === 'POST' ? 'slow' : undefined));
    const names = Array.from({ length: 80 }, (_, i) => `flag-${i}`);
    const many = scenario.commit(
      Object.fromEntries(names.map((name) => [`flags/${name}.yaml`, flag(1, name)])),
      'Add many flags',
    );
    // Not a read: what is written may be planned before it is committed.
    await daemon.until(() =>
      scenario.service.requests.some(
        ({ method, path }) => method === 'POST' && path.includes('/flag-1/'),
      ),
    );
    const kill = scenario.commit(
      { 'kills/staging.yaml': 'kills:\n  pay: { reason: INC-1 }\n' },
      'Kill pay',
    );

    await daemon.ran(many, 'interrupted');
    scenario.service.failAtRandom(() => undefined);
    const killed = await daemon.line(({ msg }) => msg === 'kill');
    expect(killed).toMatchObject({ object: 'flag/pay@staging', revision: kill });
    expect((await definition()).killed).toBe(true);
    const run = await daemon.ran(kill, 'applied');

    expect(run.triggers).toContain('kill');
    expect((await definition('flag-79')).on).toBe(1);
  });

  it('converges after the disk was full', async () => {
    const limit = (bytes: string): void => {
      execFileSync('prlimit', ['--pid', String(daemon.pid), `--fsize=${bytes}`]);
    };
    limit('0:unlimited');
    const second = ramp(20);
    await daemon.ran(second, 'failed');

    limit('unlimited:unlimited');

    await daemon.ran(second, 'applied');
    expect((await definition()).on).toBe(20);
  });
});
