import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCheckout } from '../../src/git/checkout.js';
import { openStateHome } from '../../src/git/state-home.js';
import { flaghoist, type CliResult } from '../support/cli.js';
import { ConfigRepository } from '../support/config-repository.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG =
  'workspace: Default\nenvironments:\n  staging: {}\n  production: { protected: true }\n';
const NO_KILLS = 'kills: {}\n';
const KILLS = 'kills:\n  pay: { reason: "INC-1 double charges", by: ana }\n';

function flag(percent: number, said = ''): string {
  return `flag: pay
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${percent}, "off": rest } }
  production: { ${said}defaultRule: { "on": ${percent}, "off": rest } }
`;
}

interface PlanJson {
  readonly planHash: string;
  readonly changes: { id: string; reason: string; title: string; outcome?: string }[];
  readonly withheld: { id: string; why: string }[];
}

describe('kills', () => {
  let repository: ConfigRepository;
  let service: TestService;

  beforeEach(async () => {
    repository = new ConfigRepository();
    service = await startTestService();
    repository.write({
      'flaghoist.yaml': CONFIG,
      'flags/pay.yaml': flag(10),
      'kills/production.yaml': NO_KILLS,
    });
    repository.commit('Add pay');
    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });
    service.requests.length = 0;
  });

  afterEach(async () => {
    await service.stop();
    repository[Symbol.dispose]();
  });

  async function run(...args: readonly string[]): Promise<CliResult> {
    return flaghoist([...args, '--url', service.origin, repository.directory], {
      env: { FLAGHOIST_API_KEY: service.key },
    });
  }

  async function reconcile(...args: readonly string[]): Promise<CliResult> {
    return run('reconcile', ...args);
  }

  async function dryRun(...args: readonly string[]): Promise<PlanJson> {
    const { stdout } = await reconcile('--dry-run', '--format', 'json', ...args);
    return JSON.parse(stdout) as PlanJson;
  }

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${service.origin}/internal/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json();
  }

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
    service.requests.length = 0;
  }

  /** Title and place of every write, in order. */
  function writes(): string[] {
    return service.requests
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
    service.requests.length = 0;
  }

  it('a kill is planned in a dry run and sent by a run, with the title of its commit', async () => {
    repository.write({ 'kills/production.yaml': KILLS });
    repository.commit('Kill pay: double charges');
    repository.write({ 'flags/pay.yaml': flag(20) });
    repository.commit('Ramp pay to 20 %');

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
      'PATCH pay: Ramp pay to 20 % (+1 more)',
    ]);
    expect(await isKilled()).toBe(true);
    expect((await dryRun()).changes).toEqual([]);
  });

  it('a live kill survives an unrelated commit that patches the same definition', async () => {
    await killLive();
    repository.write({ 'flags/pay.yaml': flag(20) });
    repository.commit('Ramp pay to 20 %');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
    expect(writes()).toHaveLength(2);
  });

  it('an entry that is gone while its list stands is restored with the title of that commit', async () => {
    repository.write({ 'kills/production.yaml': KILLS });
    repository.commit('Kill pay');
    expect(await reconcile()).toMatchObject({ code: 0 });
    service.requests.length = 0;
    repository.write({ 'kills/production.yaml': NO_KILLS });
    repository.commit('Bring pay back');

    expect((await dryRun()).changes.map(({ reason }) => reason)).toEqual(['restore']);
    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(false);
    expect(writes()).toEqual(['PATCH pay: Bring pay back']);
  });

  it('a list that is removed restores nothing, also where the flag says `killed: false`', async () => {
    repository.write({
      'kills/production.yaml': KILLS,
      'flags/pay.yaml': flag(10, 'killed: false, '),
    });
    repository.commit('Kill pay');
    expect(await reconcile()).toMatchObject({ code: 0 });
    repository.remove('kills/production.yaml');
    repository.commit('Remove the list');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
  });

  it('lost state restores nothing', async () => {
    repository.write({
      'kills/production.yaml': KILLS,
      'flags/pay.yaml': flag(10, 'killed: false, '),
    });
    repository.commit('Kill pay');
    expect(await reconcile()).toMatchObject({ code: 0 });
    for (const line of repository
      .git('for-each-ref', '--format=%(refname)', 'refs/flaghoist')
      .split('\n'))
      repository.git('update-ref', '-d', line);
    repository.write({ 'kills/production.yaml': NO_KILLS });
    repository.commit('Bring pay back');

    expect(await reconcile('--adopt')).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
  });

  it('a live kill is taken back by a `killed: false` that came after it was seen, and by none before', async () => {
    repository.write({ 'flags/pay.yaml': flag(10, 'killed: false, ') });
    repository.commit('Say that pay is not killed');
    expect(await reconcile()).toMatchObject({ code: 0 });
    await killLive();
    repository.write({ 'flags/pay.yaml': flag(20, 'killed: false, ') });
    repository.commit('Ramp pay to 20 %');
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect((await dryRun()).withheld.map(({ why }) => why)).toEqual(['live-kill']);
    repository.write({ 'flags/pay.yaml': flag(20) });
    repository.commit('Leave the kill to the service');
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(true);
  });

  it('a live kill is restored by a later `killed: false`', async () => {
    await killLive();
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(true);
    repository.write({ 'flags/pay.yaml': flag(10, 'killed: false, ') });
    repository.commit('Bring pay back');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(false);
    expect(writes()).toEqual(['PATCH pay: Bring pay back']);
  });

  it('a kill is sent although another spec is invalid', async () => {
    repository.write({
      'kills/production.yaml': KILLS,
      'flags/broken.yaml': 'flag: broken\nnonsense: 1\n',
    });
    repository.commit('Kill pay beside a broken flag');

    const dry = await reconcile('--dry-run');
    expect(dry.code).toBe(3);
    expect(dry.stderr).toContain('a run would still kill flag/pay@production');
    expect(service.requests).toEqual([]);

    const sent = await reconcile();

    expect(sent.code).toBe(3);
    expect(sent.stderr).toContain('nothing but the kills was sent');
    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Kill pay beside a broken flag']);
  });

  it('a kill is sent although a guard refuses the plan', async () => {
    repository.write({
      'kills/production.yaml': KILLS,
      'flags/pay.yaml': flag(10),
      'flaghoist.yaml': `${CONFIG}prune: true\nguards: { maxDeletes: 0 }\n`,
      'flags/old.yaml': flag(10)
        .replace('flag: pay', 'flag: old')
        .replace(/ {2}production.*\n/, ''),
    });
    repository.commit('Kill pay and add old');
    repository.write({ 'kills/production.yaml': NO_KILLS });
    repository.commit('Not yet');
    expect(await reconcile()).toMatchObject({ code: 0 });
    service.requests.length = 0;
    repository.remove('flags/old.yaml');
    repository.write({ 'kills/production.yaml': KILLS });
    repository.commit('Remove old, kill pay');

    const sent = await reconcile();

    expect(sent.code).toBe(4);
    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Remove old, kill pay']);
  });

  it('a kill is sent although the repository is suspended', async () => {
    repository.write({
      'kills/production.yaml': KILLS,
      'flags/pay.yaml': flag(20),
      'flaghoist.yaml': `${CONFIG}suspend: true\n`,
    });
    repository.commit('Kill pay, suspend the rest');

    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
    expect(writes()).toEqual(['PATCH pay: Kill pay, suspend the rest']);
  });

  it('a kill is sent although the rest of the service cannot be read', async () => {
    repository.write({ 'kills/production.yaml': KILLS });
    repository.commit('Kill pay');
    for (let times = 0; times < 20; times += 1)
      service.failNext({ method: 'GET', path: /\/rolloutStatuses$/ }, 503);

    const sent = await reconcile('--timeout', '2s');

    expect(sent.code).toBe(6);
    expect(await isKilled()).toBe(true);
  });

  it('a kill is sent although another run holds the state', async () => {
    repository.write({ 'kills/production.yaml': KILLS });
    repository.commit('Kill pay');
    const checkout = await openCheckout(repository.directory);
    const workspaceId = (await place()).split('/')[3] ?? '';
    const held = { checkout, workspaceId, origin: service.origin, directory: '' };
    const lock = await (await openStateHome(held))?.lock(0);

    const sent = await reconcile();

    lock?.();
    await checkout.close();
    expect(sent.code).toBe(7);
    expect(await isKilled()).toBe(true);
  });

  it('a flag of another repository is killed and restored, and nothing else of it is written', async () => {
    await addStranger();
    repository.write({ 'kills/production.yaml': 'kills:\n  theirs: { reason: INC-2 }\n' });
    repository.commit('Kill theirs');
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await isKilled('theirs')).toBe(true);
    repository.write({ 'kills/production.yaml': NO_KILLS });
    repository.commit('Bring theirs back');
    expect(await reconcile()).toMatchObject({ code: 0 });

    expect(await isKilled('theirs')).toBe(false);
    expect(writes()).toEqual(['PATCH theirs: Kill theirs', 'PATCH theirs: Bring theirs back']);
    expect((await dryRun('--prune')).changes).toEqual([]);
  });

  it('a filter of the operator leaves the kills of other environments to another run', async () => {
    repository.write({ 'kills/production.yaml': KILLS });
    repository.commit('Kill pay');

    expect(await reconcile('--environment', 'staging')).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(false);
    expect(await reconcile('--environment', 'production')).toMatchObject({ code: 0 });

    expect(await isKilled()).toBe(true);
  });

  it('a HEAD that was gone beyond kills nothing', async () => {
    repository.write({ 'kills/production.yaml': KILLS });
    const old = repository.commit('Kill pay');
    repository.write({ 'kills/production.yaml': NO_KILLS });
    repository.commit('Bring pay back');
    expect(await reconcile()).toMatchObject({ code: 0 });
    repository.git('checkout', '--quiet', old);

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
    expect(repository.git('log', '-1', '--format=%s: %b')).toBe(
      "Kill pay in production: INC-1: it's off",
    );
    expect((await dryRun('--detailed-exitcode')).changes).toEqual([]);
  });

  it('the other command restores at once, and its commit makes git agree', async () => {
    repository.write({
      'kills/production.yaml': `# on-call\n${KILLS}`,
      'flags/pay.yaml': flag(10, 'killed: true, '),
      'flags/broken.yaml': 'flag: broken\n',
    });
    repository.commit('Kill pay');
    expect(await reconcile()).toMatchObject({ code: 3 });
    service.requests.length = 0;

    const acted = await run('restore', 'pay', '--environment', 'production');

    expect(acted).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(false);
    expect(writes()).toEqual(['PATCH pay: Restore pay in production']);
    expect(acted.stdout).toContain('flags/pay.yaml:7 says `killed: true`');
    runInShell(acted.stdout);
    expect(repository.git('show', 'HEAD:kills/production.yaml')).toBe('# on-call\nkills: {}');
  });

  it('the command names what is wrong: an environment, a flag without a definition', async () => {
    const nowhere = await run('kill', 'pay', '--environment', 'prod');
    const nobody = await run('kill', 'nobody', '--environment', 'production');

    expect(nowhere).toMatchObject({ code: 64 });
    expect(nowhere.stderr).toContain('flaghoist.yaml has "staging", "production"');
    expect(nobody).toMatchObject({ code: 6 });
    expect(writes()).toEqual([]);
  });

  /** The commands that were printed, as a person would paste them. */
  function runInShell(printed: string): void {
    const commands = printed.split('\n').filter((line) => line.startsWith('  git '));
    expect(commands).toHaveLength(2);
    repository.shell(commands.join('\n'));
  }
});
