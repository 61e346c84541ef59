import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { openDatabase } from '../support/database.js';
import { ConfigRepository } from '../support/git.js';
import { HttpGitServer } from '../support/git-server.js';
import { startScripted } from '../support/http.js';
import { lacks } from '../support/requirements.js';
import { startTestService } from '../support/service.js';
import { flagText } from '../support/spec-texts.js';
import { Watching, type LogLine } from '../support/watching.js';

const CONFIG = 'workspace: Default\nenvironments:\n  staging: {}\n';
const SEGMENT = 'trafficType: user\nenvironments:\n  staging: { keys: [user-1] }\n';

describe('watching many sources', () => {
  it('keeps each in line by itself: a broken one stops no other', async () => {
    const service = await startTestService();
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-watch-'));
    using shop = new ConfigRepository();
    using app = new ConfigRepository();
    shop.write({ 'flagkeel.yaml': CONFIG, 'segments/staff.yaml': `segment: staff\n${SEGMENT}` });
    app.write({ 'flagkeel.yaml': CONFIG, 'segments/beta.yaml': `segment: beta\n${SEGMENT}` });
    const commits = [shop.commit('Add staff'), app.commit('Add beta')] as const;
    writeFileSync(join(folder, 'key'), service.key);
    writeFileSync(
      join(folder, 'sources.yaml'),
      `sources:
  - { name: shop, directory: ${shop.directory}, apiKeyFile: key }
  - { name: app, repo: ${app.directory}, branch: main, apiKeyFile: key, schedule: "off" }
  - { name: gone, directory: nowhere, apiKeyFile: key }
`,
    );
    const args = ['--config', join(folder, 'sources.yaml'), '--interval', '300ms'];
    const daemon = new Watching([...args, '--url', service.origin], {}, folder);
    try {
      expect(await daemon.ran(commits[0], 'applied')).toMatchObject({ source: 'shop' });
      expect(await daemon.ran(commits[1], 'applied')).toMatchObject({ source: 'app' });
      const gone = await daemon.line(
        ({ source, result }) => source === 'gone' && result === 'failed',
      );
      expect(gone.summary).toContain('nowhere');
      expect(await daemon.stop()).toBe(143);
    } finally {
      await daemon.stop('SIGKILL');
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('keeps each environment by a source of its own: neither loses a commit, a lock or the branch to the other', async () => {
    const service = await startTestService();
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-watch-'));
    using shop = new ConfigRepository();
    const both = `workspace: Default\nenvironments:\n  staging: {}\n  production: {}\n`;
    shop.commit('Begin', { 'flagkeel.yaml': both, 'flags/pay.yaml': flagText('pay', 1) });
    const source = (name: string): string =>
      `  - { name: ${name}, repo: ${shop.directory}, branch: main, environments: [${name}] }\n`;
    const config = join(folder, 'sources.yaml');
    writeFileSync(config, `sources:\n${source('staging')}${source('production')}`);
    const args = [
      '--config',
      config,
      '--interval',
      '300ms',
      '--jitter',
      '0',
      '--url',
      service.origin,
    ];
    const daemon = new Watching(args, { FLAGKEEL_API_KEY: service.key }, folder);
    const ended = (name: string, revision: string) => (line: LogLine) =>
      line.source === name && line.revision === revision && line.result === 'applied';
    try {
      for (const percent of [10, 20, 30, 40]) {
        const commit = shop.commit('Ramp', { 'flags/pay.yaml': flagText('pay', percent) });
        await daemon.line(ended('staging', commit));
        await daemon.line(ended('production', commit));
      }

      const bad = daemon.lines.filter(({ level }) => ['warn', 'error'].includes(level));
      expect(bad).toEqual([]);
    } finally {
      await daemon.stop('SIGKILL');
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('shares the state of a checkout over its origin, if the operator names that server', async () => {
    const service = await startTestService();
    const server = await HttpGitServer.start();
    using shop = new ConfigRepository();
    const files = { 'flagkeel.yaml': CONFIG, 'segments/staff.yaml': `segment: staff\n${SEGMENT}` };
    const commit = shop.commit('Add staff', files);
    shop.git('push', '--quiet', server.repository, 'HEAD:refs/heads/main');
    shop.git('remote', 'add', 'origin', server.url);
    const config = join(server.root, 'sources.yaml');
    writeFileSync(config, `sources:\n  - { name: shop, directory: ${shop.directory} }\n`);
    const env = {
      FLAGKEEL_API_KEY: service.key,
      FLAGKEEL_GIT_TOKEN: server.token,
      FLAGKEEL_GIT_ORIGINS: new URL(server.url).origin,
    };
    const daemon = new Watching(['--config', config, '--url', service.origin], env);
    try {
      await daemon.ran(commit, 'applied');
      const refs = ['-C', server.repository, 'for-each-ref', 'refs/flagkeel'];
      expect(execFileSync('git', refs, { encoding: 'utf8' })).toContain('refs/flagkeel/');
    } finally {
      await daemon.stop('SIGKILL');
      await server.stop();
      await service.stop();
    }
  });

  it.each([
    [['--branch', 'main'], 'without --repo'],
    [['--schedule', 'often'], 'five fields of cron'],
    [['--interval', '1ms'], 'cannot look more often'],
    [['--repo', 'https://ana:secret@example.com/a.git'], 'it holds credentials'],
    [['--repo', 'http://example.com/a.git'], 'http is for loopback alone'],
    [['--repo', 'ext::sh -c id'], 'neither https, ssh nor a path'],
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
