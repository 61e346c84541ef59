import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const flag = (percent: number, name = 'pay'): string => flagText(name, percent, { staging: '' });

/** Without a backstop that a test would wait for, and without a moment of waiting for more. */
const PROMPT = ['--interval', '1h', '--debounce', '50ms', '--schedule', 'off'];

/** A volume whose kernel tells nothing: the library looks by itself, in an hour. */
const NO_EVENTS = { CHOKIDAR_USEPOLLING: '1', CHOKIDAR_INTERVAL: '3600000' };

describe('watching a directory', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let watching: Watching | undefined;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-watch-'));
    live = await liveWorkspace(scenario.service);
    scenario.repository.write({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) });
  });

  afterEach(async () => {
    await watching?.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  function watch(
    directory = scenario.repository.directory,
    args: readonly string[] = PROMPT,
    env: Readonly<Record<string, string>> = {},
  ): Watching {
    watching = new Watching([...args, '--url', scenario.service.origin, directory], {
      FLAGKEEL_API_KEY: scenario.service.key,
      ...env,
    });
    return watching;
  }

  /** Percentage that the service has for the flag; undefined: there is no such flag. */
  async function percent(name = 'pay'): Promise<number | undefined> {
    const path = `/splits/ws/${live.id}/${name}/environments/${live.staging}`;
    const { body } = await live.call('GET', path);
    const { defaultRule } = body as { defaultRule?: { treatment: string; size: number }[] };
    return defaultRule?.find(({ treatment }) => treatment === 'on')?.size;
  }

  it('applies every commit as far as it is right, plans what is not committed, and runs at SIGHUP', async () => {
    const first = scenario.commit({ 'flags/cart.yaml': flag(1, 'cart') }, 'Add pay and cart');
    const daemon = watch();
    await daemon.ran(first, 'applied');
    expect([await percent(), await percent('cart')]).toEqual([10, 1]);

    const second = scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay');
    const run = await daemon.ran(second, 'applied');
    expect(run).toMatchObject({ level: 'info', source: 'default' });
    expect(await percent()).toBe(20);

    scenario.service.requests.length = 0;
    scenario.repository.write({ 'flags/pay.yaml': flag(50) });
    // The file of the second commit may have been seen before the commit was.
    const line = await daemon.line(
      ({ msg, revision }) => msg.startsWith('local changes') && revision === second,
    );
    expect(line).toMatchObject({ level: 'warn' });
    expect(line.summary).toContain('1 to update');
    expect(await percent()).toBe(20);
    // Only of what the edit touches: nobody lists all flags for it.
    const lists = scenario.service.requests.filter(({ path }) =>
      /\/splits\/ws\/[^/]+(?:\?|$)/.test(path),
    );
    expect(lists).toEqual([]);

    const broken = {
      'flags/pay.yaml': `${flag(50)}nonsense: 1\n`,
      'flags/cart.yaml': flag(2, 'cart'),
    };
    await daemon.ran(scenario.commit(broken, 'Break pay, ramp cart'), 'degraded');
    expect([await percent(), await percent('cart')]).toEqual([20, 2]);
    daemon.signal('SIGHUP');
    await daemon.line(({ triggers }) => triggers?.includes('signal') === true);
    const mended = scenario.commit({ 'flags/pay.yaml': flag(30) }, 'Mend pay');
    await daemon.ran(mended, 'applied');
    expect(await percent()).toBe(30);
    const told = daemon.lines.filter(({ msg }) => msg === 'diagnostic');
    expect(told.map(({ file, code }) => `${String(file)} ${String(code)}`)).toEqual([
      'flags/pay.yaml unknown-field',
    ]);

    const bad = scenario.commit({ 'flagkeel.yaml': 'nonsense' }, 'Break everything');
    await daemon.ran(bad, 'invalid');
    daemon.signal('SIGHUP');
    await daemon.line(({ again }) => again === true);
    const last = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(40) };
    await daemon.ran(scenario.commit(last, 'Mend it'), 'applied');
    expect(await percent()).toBe(40);
    expect(await daemon.stop('SIGINT')).toBe(130);
  });

  it('follows a link that is swapped, as git-sync does', async () => {
    const clone = (name: string): string => {
      const target = join(folder, name);
      execFileSync('git', ['clone', '--quiet', scenario.repository.directory, target]);
      return target;
    };
    const first = scenario.repository.commit('Add pay');
    const link = join(folder, 'current');
    symlinkSync(clone('one'), link);
    const daemon = watch(link);
    await daemon.ran(first, 'applied');

    const second = scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay');
    symlinkSync(clone('two'), join(folder, 'next'));
    renameSync(join(folder, 'next'), link);

    await daemon.ran(second, 'applied');
    expect(await percent()).toBe(20);
  });

  it('follows the volume of a ConfigMap, without git', async () => {
    const volume = join(folder, 'volume');
    const fill = (version: string, size: number): void => {
      mkdirSync(join(volume, version, 'flags'), { recursive: true });
      writeFileSync(join(volume, version, 'flagkeel.yaml'), STAGING_CONFIG);
      writeFileSync(join(volume, version, 'flags/pay.yaml'), flag(size));
    };
    fill('..one', 10);
    symlinkSync('..one', join(volume, '..data'));
    symlinkSync('..data/flagkeel.yaml', join(volume, 'flagkeel.yaml'));
    symlinkSync('..data/flags', join(volume, 'flags'));
    const daemon = watch(volume, PROMPT, { FLAGKEEL_STATE_DIR: join(folder, 'state.git') });
    await daemon.until(async () => (await percent()) === 10);

    fill('..two', 20);
    symlinkSync('..two', join(volume, '..data_tmp'));
    renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
    rmSync(join(volume, '..one'), { recursive: true });

    await daemon.until(async () => (await percent()) === 20);
  });

  it('finds by the clock what no event tells', async () => {
    const first = scenario.repository.commit('Add pay');
    const often = ['--interval', '200ms', '--debounce', '50ms'];
    const daemon = watch(scenario.repository.directory, often, NO_EVENTS);
    await daemon.ran(first, 'applied');

    scenario.repository.write({ 'flags/pay.yaml': flag(20) });
    await daemon.ran(scenario.repository.commit('Ramp pay'), 'applied');

    expect(await percent()).toBe(20);
  });
});
