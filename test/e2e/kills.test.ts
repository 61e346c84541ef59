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

  async function killLive(killed = true): Promise<void> {
    const operation = { op: 'replace', path: '/killed', value: killed };
    await call('PATCH', `${await place()}?title=t&comment=c`, [operation]);
    scenario.service.requests.length = 0;
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

  async function addStranger(): Promise<void> {
    const { objects } = (await call('GET', '/workspaces')) as { objects: { id: string }[] };
    const ws = objects[0]?.id ?? '';
    await call('POST', `/splits/ws/${ws}/trafficTypes/user`, { name: 'theirs' });
    await call('POST', await place('theirs'), {
      treatments: [{ name: 'on' }, { name: 'off' }],
      defaultTreatment: 'off',
      defaultRule: [{ treatment: 'on', size: 100 }],
    });
    scenario.service.requests.length = 0;
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

  it('a live kill survives an unrelated commit that patches the same definition', async () => {
    await killLive();
    scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay to 20 %');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
    expect(writes()).toHaveLength(2);
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

  it('a list that is removed restores nothing, also where the flag says `killed: false`', async () => {
    scenario.commit(
      {
        'kills/production.yaml': KILLS,
        'flags/pay.yaml': flag(10, 'killed: false, '),
      },
      'Kill pay',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.repository.remove('kills/production.yaml');
    scenario.repository.commit('Remove the list');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
  });

  it('lost state restores nothing', async () => {
    scenario.commit(
      {
        'kills/production.yaml': KILLS,
        'flags/pay.yaml': flag(10, 'killed: false, '),
      },
      'Kill pay',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    for (const line of scenario.repository
      .git('for-each-ref', '--format=%(refname)', 'refs/flagkeel')
      .split('\n'))
      scenario.repository.git('update-ref', '-d', line);
    scenario.commit({ 'kills/production.yaml': NO_KILLS }, 'Bring pay back');

    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
  });

  it('a live kill is taken back by a `killed: false` that came after it was seen, and by none before', async () => {
    scenario.commit(
      { 'flags/pay.yaml': flag(10, 'killed: false, ') },
      'Say that pay is not killed',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    await killLive();
    scenario.commit({ 'flags/pay.yaml': flag(20, 'killed: false, ') }, 'Ramp pay to 20 %');
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect((await dryRun()).withheld.map(({ why }) => why)).toEqual(['live-kill']);
    scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Leave the kill to the service');
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(true);
  });

  it('a live kill is restored by a later `killed: false`', async () => {
    await killLive();
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(true);
    scenario.commit({ 'flags/pay.yaml': flag(10, 'killed: false, ') }, 'Bring pay back');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(false);
    expect(writes()).toEqual(['PATCH pay: Bring pay back']);
  });

  it('a kill is sent although another spec is invalid', async () => {
    scenario.commit(
      {
        'kills/production.yaml': KILLS,
        'flags/broken.yaml': 'flag: broken\nnonsense: 1\n',
      },
      'Kill pay beside a broken flag',
    );

    const dry = await reconcile('--dry-run');
    expect(dry.code).toBe(3);
    expect(dry.stderr).toContain('a run would still kill flag/pay@production');
    expect(scenario.service.requests).toEqual([]);

    const sent = await reconcile();

    expect(sent.code).toBe(3);
    expect(sent.stderr).toContain('nothing but the kills was sent');
    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Kill pay beside a broken flag']);
  });

  it('a kill is sent although a guard refuses the plan', async () => {
    scenario.commit(
      {
        'kills/production.yaml': KILLS,
        'flags/pay.yaml': flag(10),
        'flagkeel.yaml': `${PROTECTED_CONFIG}prune: true\nguards: { maxDeletes: 0 }\n`,
        'flags/old.yaml': flag(10)
          .replace('flag: pay', 'flag: old')
          .replace(/ {2}production.*\n/, ''),
      },
      'Kill pay and add old',
    );
    scenario.commit({ 'kills/production.yaml': NO_KILLS }, 'Not yet');
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
    scenario.repository.remove('flags/old.yaml');
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Remove old, kill pay');

    const sent = await reconcile();

    expect(sent.code).toBe(4);
    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Remove old, kill pay']);
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

  it('a kill is sent although the rest of the service cannot be read', async () => {
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay');
    for (let times = 0; times < 20; times += 1)
      scenario.service.failNext({ method: 'GET', path: /\/rolloutStatuses$/ }, 503);

    const sent = await reconcile('--timeout', '2s');

    expect(sent.code).toBe(6);
    expect(await isKilled()).toBe(true);
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

  it('a flag of another repository is killed and restored, and nothing else of it is written', async () => {
    await addStranger();
    scenario.commit(
      { 'kills/production.yaml': 'kills:\n  theirs: { reason: INC-2 }\n' },
      'Kill theirs',
    );
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await isKilled('theirs')).toBe(true);
    scenario.commit({ 'kills/production.yaml': NO_KILLS }, 'Bring theirs back');
    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled('theirs')).toBe(false);
    expect(writes()).toEqual(['PATCH theirs: Kill theirs', 'PATCH theirs: Bring theirs back']);
    expect((await dryRun('--prune')).changes).toEqual([]);
  });

  it('a filter of the operator leaves the kills of other environments to another run', async () => {
    scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay');

    expect(await reconcile('--environment', 'staging')).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(false);
    expect(await reconcile('--environment', 'production')).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
  });

  it('a HEAD that was gone beyond kills nothing', async () => {
    const old = scenario.commit({ 'kills/production.yaml': KILLS }, 'Kill pay');
    scenario.commit({ 'kills/production.yaml': NO_KILLS }, 'Bring pay back');
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.repository.git('checkout', '--quiet', old);

    expect(await reconcile()).toMatchObject({ code: 7 });

    expect(await isKilled()).toBe(false);
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
