import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const NO_KILLS = 'kills: {}\n';
const KILLS = 'kills:\n  pay: { reason: "INC-1 double charges", by: ana }\n';

const flag = (percent: number, said = ''): string =>
  flagText('pay', percent, { staging: '', production: said });

const scenario = useScenario();
const { reconcile, run, dryRun } = scenario;
let live: LiveWorkspace;

async function isKilled(): Promise<boolean> {
  return (await live.definition('pay')).killed;
}

describe('a kill that git or a command orders', () => {
  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    const specs = { 'flagkeel.yaml': PROTECTED_CONFIG, 'kills/production.yaml': NO_KILLS };
    scenario.commit({ ...specs, 'flags/pay.yaml': flag(10) }, 'Add pay');
    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
  });

  /** Title and flag of every write since the last call, in order. */
  function writes(): string[] {
    return scenario.service.requests
      .splice(0)
      .filter(({ method }) => method !== 'GET')
      .map(
        ({ method, path, query }) =>
          `${method} ${path.split('/')[7] ?? ''}: ${query['title'] ?? ''}`,
      );
  }

  it.skipIf(process.platform !== 'linux')(
    'leaves the list as it was where the disk is full, and not cut, which would take kills back',
    async () => {
      const list = `${'# on-call owns this list\n'.repeat(4_000)}${KILLS.replace('pay', 'cart')}`;
      scenario.commit({ 'kills/production.yaml': list }, 'Kill cart');
      const { service, repository } = scenario;
      // A limit for the size of files stands for the full disk.
      const command = `trap '' XFSZ; ulimit -f 64; exec "$0" dist/main.js kill pay "$1" --environment production --reason INC-1`;
      const env = { ...process.env, FLAGKEEL_URL: service.origin, FLAGKEEL_API_KEY: service.key };
      const shell = promisify(execFile);

      const { stdout } = await shell(
        'sh',
        ['-c', command, process.execPath, repository.directory],
        { env },
      );

      expect(stdout).toMatch(/^The list was not changed: .*file too large.* Run this again in /m);
      expect(scenario.text('kills/production.yaml')).toBe(list);
      expect(await isKilled()).toBe(true);
    },
  );

  it('is sent first, with the title of its commit, and restored with that of another', async () => {
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay: double charges');
    scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay to 20 %');
    const planned = await dryRun();
    expect([await isKilled(), writes()]).toEqual([false, []]);
    const sent = await reconcile('--plan-hash', planned.planHash);

    expect(planned.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      'flag/pay@staging commit',
      'flag/pay@production kill',
    ]);
    expect(sent).toMatchObject({ code: 0 });
    expect(sent.stderr).toContain('killed flag/pay@production: Kill pay: double charges');
    expect(writes()).toEqual([
      'PATCH pay: Kill pay: double charges',
      'PATCH pay: Ramp pay to 20 %',
      'PATCH pay: Ramp pay to 20 %',
    ]);
    expect(await isKilled()).toBe(true);

    scenario.commit({ 'kills/production.yaml': NO_KILLS }, 'Bring pay back');
    expect((await dryRun()).changes.map(({ reason }) => reason)).toEqual(['restore']);
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect([await isKilled(), writes()]).toEqual([false, ['PATCH pay: Bring pay back']]);
  });

  it('is sent by the command at once, as its restore is, and the printed commits make git agree', async () => {
    const inProduction = ['pay', '--environment', 'production'];
    const nowhere = await run('kill', 'pay', '--environment', 'prod');
    const nobody = await run('kill', 'nobody', '--environment', 'production');
    expect(nowhere).toMatchObject({ code: 64 });
    expect(nowhere.stderr).toContain('flagkeel.yaml has "staging", "production"');
    expect(nobody).toMatchObject({ code: 6 });
    // It was sent by its name at once, and then to the environment by its id: the service said that there is none.
    expect(writes()).toEqual(
      Array.from({ length: 2 }, () => 'PATCH nobody: Kill nobody in production'),
    );

    const killed = await run('kill', ...inProduction, '--reason', "INC-1: it's off");
    expect(killed).toMatchObject({ code: 0 });
    expect([await isKilled(), writes()]).toEqual([true, ['PATCH pay: Kill pay in production']]);
    runInShell(killed.stdout);
    expect(scenario.repository.git('log', '-1', '--format=%s: %b')).toBe(
      "Kill pay in production: INC-1: it's off",
    );
    expect((await dryRun('--detailed-exitcode')).changes).toEqual([]);

    const files = {
      'kills/production.yaml': `# on-call\n${KILLS}`,
      'flags/pay.yaml': flag(10, 'killed: true, '),
      'flags/broken.yaml': 'flag: broken\n',
    };
    scenario.commit(files, 'Kill pay in its file too');
    expect(await reconcile()).toMatchObject({ code: 3 });
    scenario.service.requests.length = 0;
    const restored = await run('restore', ...inProduction);
    expect(restored).toMatchObject({ code: 0 });
    expect([await isKilled(), writes()]).toEqual([false, ['PATCH pay: Restore pay in production']]);
    expect(restored.stdout).toContain('flags/pay.yaml:7 says `killed: true`');
    runInShell(restored.stdout);
    expect(scenario.repository.git('show', 'HEAD:kills/production.yaml')).toBe(
      '# on-call\nkills: {}',
    );
    expect(restored.stdout).toContain('Until git agrees');
    scenario.commit({ 'flags/pay.yaml': flag(10) }, 'Order no kill of pay any more');
    expect((await run('restore', ...inProduction)).stdout).not.toContain('Until git agrees');
  });

  /** The commands that were printed, as a person would paste them. */
  function runInShell(printed: string): void {
    const commands = printed.split('\n').filter((line) => line.startsWith('  git '));
    expect(commands).toHaveLength(2);
    scenario.repository.shell(commands.join('\n'));
  }
});
