import { beforeEach, describe, expect, it } from 'vitest';
import { openCheckout } from '../../src/git/checkout.js';
import { openStateHome } from '../../src/state/open.js';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const NO_KILLS = 'kills: {}\n';
const KILLS = 'kills:\n  pay: { reason: "INC-1 double charges", by: ana }\n';

const flag = (percent: number, said = ''): string =>
  flagText('pay', percent, { staging: '', production: said });

interface PlanJson {
  readonly planHash: string;
  readonly changes: { id: string; reason: string; title: string; outcome?: string }[];
  readonly withheld: { id: string; why: string }[];
}

describe('kills', () => {
  const scenario = useScenario();
  const { call, run, reconcile } = scenario;
  const dryRun = scenario.dryRun<PlanJson>;

  beforeEach(async () => {
    scenario.commit(
      {
        'flagkeel.yaml': PROTECTED_CONFIG,
        'flags/pay.yaml': flag(10),
        'kills/production.yaml': NO_KILLS,
      },
      'Add pay',
    );
    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
  });

  async function place(name = 'pay', environment = 'production'): Promise<string> {
    const { objects } = (await call('GET', '/workspaces')) as { objects: { id: string }[] };
    const ws = objects[0]?.id ?? '';
    const environments = (await call('GET', `/environments/ws/${ws}`)) as {
      id: string;
      name: string;
    }[];
    const id = environments.find((each) => each.name === environment)?.id ?? '';
    return `/splits/ws/${ws}/${name}/environments/${id}`;
  }

  async function isKilled(name = 'pay', environment = 'production'): Promise<boolean> {
    return ((await call('GET', await place(name, environment))) as { killed: boolean }).killed;
  }
  /** Title and place of every write, in order. */
  function writes(): string[] {
    return scenario.service.requests
      .filter(({ method }) => method !== 'GET')
      .map(
        ({ method, path, query }) =>
          `${method} ${path.split('/')[7] ?? ''}: ${query['title'] ?? ''}`,
      );
  }

  it('a kill is planned in a dry run and sent by a run, with the title of its commit', async () => {
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay: double charges');
    scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay to 20 %');

    const planned = await dryRun();
    expect(await isKilled()).toBe(false);
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
    expect((await dryRun()).changes).toEqual([]);
  });

  it('an entry that is gone while its list stands is restored with the title of that commit', async () => {
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay');
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
    scenario.commit({ 'kills/production.yaml': NO_KILLS }, 'Bring pay back');

    expect((await dryRun()).changes.map(({ reason }) => reason)).toEqual(['restore']);
    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(false);
    expect(writes()).toEqual(['PATCH pay: Bring pay back']);
  });

  it('a kill is sent although the repository is suspended', async () => {
    scenario.commit(
      {
        'kills/production.yaml': KILLS,
        'flags/pay.yaml': flag(20),
        'flagkeel.yaml': `${PROTECTED_CONFIG}suspend: true\n`,
      },
      'Kill pay, suspend the rest',
    );

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Kill pay, suspend the rest']);
  });

  it('a kill is sent although another run holds the state', async () => {
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay');
    const checkout = await openCheckout(scenario.repository.directory);
    const workspaceId = (await place()).split('/')[3] ?? '';
    const held = { checkout, workspaceId, origin: scenario.service.origin, directory: '' };
    const lock = await (await openStateHome(held))?.lock(0);

    const sent = await reconcile();

    lock?.();
    await checkout.close();
    expect(sent.code).toBe(7);
    expect(await isKilled()).toBe(true);
  });

  it('the command kills at once, and its commit makes git agree', async () => {
    const acted = await run(
      'kill',
      'pay',
      '--environment',
      'production',
      '--reason',
      "INC-1: it's off",
    );

    expect(acted).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Kill pay in production']);
    runInShell(acted.stdout);
    expect(scenario.repository.git('log', '-1', '--format=%s: %b')).toBe(
      "Kill pay in production: INC-1: it's off",
    );
    expect((await dryRun('--detailed-exitcode')).changes).toEqual([]);
  });

  it('the other command restores at once, and its commit makes git agree', async () => {
    scenario.commit(
      {
        'kills/production.yaml': `# on-call\n${KILLS}`,
        'flags/pay.yaml': flag(10, 'killed: true, '),
        'flags/broken.yaml': 'flag: broken\n',
      },
      'Kill pay',
    );
    expect(await reconcile()).toMatchObject({ code: 3 });
    scenario.service.requests.length = 0;

    const acted = await run('restore', 'pay', '--environment', 'production');

    expect(acted).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(false);
    expect(writes()).toEqual(['PATCH pay: Restore pay in production']);
    expect(acted.stdout).toContain('flags/pay.yaml:7 says `killed: true`');
    runInShell(acted.stdout);
    expect(scenario.repository.git('show', 'HEAD:kills/production.yaml')).toBe(
      '# on-call\nkills: {}',
    );
  });

  it('the command names what is wrong: an environment, a flag without a definition', async () => {
    const nowhere = await run('kill', 'pay', '--environment', 'prod');
    const nobody = await run('kill', 'nobody', '--environment', 'production');

    expect(nowhere).toMatchObject({ code: 64 });
    expect(nowhere.stderr).toContain('flagkeel.yaml has "staging", "production"');
    expect(nobody).toMatchObject({ code: 6 });
    // It was sent by its name at once, and then to the environment by its id: the service said that there is none.
    expect(writes()).toEqual(
      Array.from({ length: 2 }, () => 'PATCH nobody: Kill nobody in production'),
    );
  });

  /** The commands that were printed, as a person would paste them. */
  function runInShell(printed: string): void {
    const commands = printed.split('\n').filter((line) => line.startsWith('  git '));
    expect(commands).toHaveLength(2);
    scenario.repository.shell(commands.join('\n'));
  }
});
