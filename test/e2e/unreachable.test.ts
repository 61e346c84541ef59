import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const SOCKET_LOG = fileURLToPath(new URL('../support/socket-log.mjs', import.meta.url));

/** Behind the lines of progress that a slow machine prints. */
const ONE_SENTENCE = /^((reading|looking) .+\n)*flagkeel: cannot .+\n {2}[A-Z]+: .+\n$/;

describe('a service that cannot be read', () => {
  const scenario = useScenario();

  beforeEach(() => {
    const banner = flagText('banner', 0, { staging: '' });
    const files = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/banner.yaml': banner };
    scenario.commit(files, 'Add the banner');
  });

  it('lacks the workspace or a key, refuses the key, or is down: exit 6 and one sentence, and no state is left', async () => {
    const { directory } = scenario.repository;
    const keyless = await flagkeel(['reconcile', '--url', scenario.service.origin, directory]);
    expect(keyless.code).toBe(6);
    expect(keyless.stderr).toMatch(
      /^(reading .+\n)?flagkeel: cannot .+FLAGKEEL_API_KEY_FILE.+\n {2}NO_KEY: .+\n$/,
    );
    expect(scenario.service.requests).toEqual([]);

    const wrong = `${scenario.service.key.slice(0, -6)}aaaaaa`;
    const refused = await scenario.runWith({ env: { FLAGKEEL_API_KEY: wrong } }, 'reconcile');
    expect(refused.code).toBe(6);
    expect(refused.stderr).toMatch(ONE_SENTENCE);
    expect(refused.stdout + refused.stderr).not.toContain(wrong);

    const misspelt = { 'flagkeel.yaml': STAGING_CONFIG.replace('Default', 'Defualt') };
    scenario.commit(misspelt, 'Name another workspace');
    const nowhere = await scenario.run('reconcile');
    expect(nowhere.code).toBe(6);
    expect(nowhere.stderr).toContain('cannot find workspace "Defualt"');
    expect(nowhere.stderr).toContain('"Default"');
    expect(scenario.writes()).toEqual([]);

    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG }, 'Name the right one');
    const narrow = await scenario.service.createKey('narrow', { environments: ['production'] });
    const unseen = await scenario.runWith({ env: { FLAGKEEL_API_KEY: narrow } }, 'reconcile');
    expect(unseen.code).toBe(6);
    expect(unseen.stderr).toContain('the key sees "production" there');
    await scenario.service.stop();
    const run = await scenario.run('reconcile', '--timeout', '2s');
    expect(run.code).toBe(6);
    expect(run.stdout).toBe('');
    // It tries for two seconds, and after one it says what it does.
    expect(run.stderr).toMatch(ONE_SENTENCE);
    expect(scenario.repository.git('for-each-ref', 'refs/flagkeel')).toBe('');
  });

  it('is one that the operator did not allow: exit 6, the line to set, and not a byte is sent', async () => {
    const proposed = 'https://flags.attacker.example:8443';
    const config = `${STAGING_CONFIG}service: { url: "${proposed}" }\n`;
    scenario.commit({ 'flagkeel.yaml': config }, 'Send the key elsewhere');
    const sockets = join(scenario.repository.directory, '.git', 'sockets.log');
    writeFileSync(sockets, '');
    const noting = { NODE_OPTIONS: `--import=${SOCKET_LOG}`, SOCKET_LOG: sockets };

    const run = await flagkeel(['reconcile', scenario.repository.directory], {
      env: { ...noting, ...scenario.env, FLAGKEEL_ORIGINS: 'https://admin.example.com' },
    });

    expect(run.code).toBe(6);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain(`FLAGKEEL_ORIGINS=https://admin.example.com,${proposed}`);
    expect(readFileSync(sockets, 'utf8')).toBe('');
    // The note itself works: an allowed service is connected to.
    await scenario.runWith({ env: { ...noting, ...scenario.env } }, 'reconcile');
    expect(readFileSync(sockets, 'utf8')).toContain('connect');
  });
});
