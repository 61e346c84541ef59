import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { openDatabase } from '../support/database.js';
import { makeDirectory, makeRepository } from '../support/git.js';
import { startScripted } from '../support/http.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG, UNPROTECTED_CONFIG } from '../support/spec-texts.js';
import { Watching, type LogLine } from '../support/watching.js';

describe('watching many sources', () => {
  const scenario = useScenario();

  /** A daemon over these sources, which find their key in the file `key`. */
  function watch(...sources: readonly string[]): Watching {
    const folder = makeDirectory();
    writeFileSync(join(folder, 'key'), scenario.service.key);
    const rows = sources.map((each) => `  - { ${each}, apiKeyFile: key }\n`);
    const config = join(folder, 'sources.yaml');
    writeFileSync(config, `sources:\n${rows.join('')}`);
    const often = ['--interval', '300ms', '--jitter', '0', '--url', scenario.service.origin];
    const daemon = new Watching(['--config', config, ...often], {}, folder);
    onTestFinished(async () => {
      await daemon.stop('SIGKILL');
    });
    return daemon;
  }

  it('keeps each in line by itself: a broken one stops no other', async () => {
    const { repository: shop } = scenario;
    const app = makeRepository();
    const flag = (name: string) => ({
      'flagkeel.yaml': STAGING_CONFIG,
      [`flags/${name}.yaml`]: flagText(name, 10, { staging: '' }),
    });
    const commits = [shop.commit('Add pay', flag('pay')), app.commit('Add beta', flag('beta'))];
    const daemon = watch(
      `name: shop, directory: ${shop.directory}`,
      `name: app, repo: ${app.directory}, branch: main, schedule: "off"`,
      'name: gone, directory: nowhere',
    );

    expect(await daemon.ran(commits[0] ?? '', 'applied')).toMatchObject({ source: 'shop' });
    expect(await daemon.ran(commits[1] ?? '', 'applied')).toMatchObject({ source: 'app' });
    const gone = await daemon.line(
      ({ source, result }) => source === 'gone' && result === 'failed',
    );
    expect(gone.summary).toContain('nowhere');
    expect(await daemon.stop()).toBe(143);
  });

  it('keeps each environment by a source of its own: neither loses a commit, a lock or the branch to the other', async () => {
    const { repository: shop } = scenario;
    const flag = (percent: number) => ({ 'flags/pay.yaml': flagText('pay', percent) });
    shop.commit('Begin', { 'flagkeel.yaml': UNPROTECTED_CONFIG, ...flag(1) });
    const places = ['staging', 'production'];
    const daemon = watch(
      ...places.map(
        (name) => `name: ${name}, repo: ${shop.directory}, branch: main, environments: [${name}]`,
      ),
    );
    const ended = (name: string, revision: string) => (line: LogLine) =>
      line.source === name && line.revision === revision && line.result === 'applied';
    for (const percent of [10, 20, 30, 40]) {
      const commit = shop.commit('Ramp', flag(percent));
      for (const place of places) await daemon.line(ended(place, commit));
    }

    expect(daemon.lines.filter(({ level }) => ['warn', 'error'].includes(level))).toEqual([]);
  });

  it.each([
    [['--branch', 'main'], 'without --repo'],
    [['--schedule', 'often'], 'five fields of cron'],
    [['--interval', '1ms'], 'cannot look more often'],
    [['--repo', 'https://ana:secret@example.com/a.git'], 'it holds credentials'],
    [['--repo', '/srv/a.git', '--branch', '../up'], 'it is no branch'],
    [['--repo', '/srv/a.git', '--path', '../up'], 'inside the repository'],
    [['--config', '/nowhere/sources.yaml'], 'cannot read the sources'],
  ])('is refused at the command line: %j', async (args, why) => {
    const { code, stderr } = await flagkeel(['watch', ...args]);

    expect(stderr).toContain(why);
    expect(stderr).not.toContain('secret');
    expect(code).toBe(64);
  });

  it.each([
    ['--statuses', 'gitbucket'],
    ['--listen', '80 80'],
    ['--notify', 'ftp://127.0.0.1/hook'],
  ])('refuses %s %s before it asks the database of the replicas', async (...args) => {
    // Nobody listens there: who asks it first says so, after a while.
    const database = ['--database', 'postgres://nobody@127.0.0.1:1/none'];

    const { code, stderr } = await flagkeel(['watch', '.', ...database, ...args], {});

    expect(code, stderr).toBe(64);
    expect(stderr).not.toContain('database');
  });

  it.skipIf(lacks('postgresql'))(
    'ends where its port is taken, though it has opened the database',
    async () => {
      const postgres = await openDatabase();
      const taken = await startScripted(() => ({ status: 200 }));
      const { host } = new URL(taken.url);

      const args = ['watch', '.', '--database', postgres.url, '--listen', host];
      const { code, stderr } = await flagkeel(args, {});

      expect(code, stderr).toBe(7);
      await taken.close();
      await postgres.stop();
    },
  );
});
