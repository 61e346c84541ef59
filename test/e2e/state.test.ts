import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { flagkeel, MAIN, start, type CliResult } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { stateRef } from '../support/pipeline-world.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG =
  'workspace: Default\nprune: true\nenvironments:\n  staging: {}\n  production: { protected: true }\n';

const scenario = useScenario();
const { run, writes } = scenario;

beforeEach(async () => {
  scenario.commit(
    {
      'flagkeel.yaml': CONFIG,
      'flags/alpha.yaml': flagText('alpha', 10),
      'flags/beta.yaml': flagText('beta', 10),
      'segments/staff.yaml':
        'segment: staff\ntrafficType: user\nenvironments:\n  staging: { keys: [u-1] }\n',
    },
    'Add two flags and the staff',
  );
  expect(await run('reconcile')).toMatchObject({ code: 0 });
  scenario.service.requests.length = 0;
});

async function planOf(
  directory: string,
  ...options: readonly string[]
): Promise<PlanDocument & { stderr: string }> {
  const words = ['reconcile', '--dry-run', '--format', 'json', ...options];
  const { stdout, stderr } = await scenario.runAt(directory, ...words);
  return { ...(JSON.parse(stdout) as PlanDocument), stderr };
}

/** Without the service: no URL, no key. */
async function offline(...args: readonly string[]): Promise<CliResult> {
  return flagkeel([...args, scenario.repository.directory]);
}

const reasons = (changes: PlanDocument['changes']): string[] =>
  changes.map(({ id, reason }) => `${id} ${reason}`);

/** As an account that may read the repository and not write it. */
async function lookingOn(...args: readonly string[]): Promise<CliResult> {
  const { directory } = scenario.repository;
  execFileSync('chmod', ['-R', 'a+rX,a-w', directory]);
  const isRoot = process.getuid?.() === 0;
  const account = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const words = [...(isRoot ? account : []), process.execPath, MAIN, ...args, directory];
  return start(words, '', { env: { ...scenario.env, FLAGKEEL_URL: scenario.service.origin } })
    .ended;
}

describe('the state commands', () => {
  it('show an account that may only read what runs of another one remember', async () => {
    const list = await lookingOn('state', 'list');
    const history = await lookingOn('history', 'flag/alpha');
    const forgotten = await lookingOn('state', 'rm', 'flag/alpha');

    expect(list, list.stderr).toMatchObject({ code: 0 });
    expect(list.stdout).toContain('flag/alpha@production');
    expect(history.stdout).toContain('applied create flag/alpha@production');
    expect(forgotten).toMatchObject({ code: 1 });
    expect(forgotten.stderr).toContain('Permission denied');
  });

  it('tell once of a run that had nothing to write', async () => {
    scenario.repository.git('update-ref', '-d', stateRef(scenario));
    expect(await run('reconcile')).toMatchObject({ code: 0 });

    expect((await offline('history')).stdout).toMatch(/^\S+ \w+ {2}Apply \w+: 0 changes\n$/);
  });

  it('list, show and tell offline what was applied; rm forgets it, so that it is adopted and not pruned', async () => {
    const first = scenario.repository.git('rev-parse', 'HEAD');
    const head = scenario.commit(
      { 'flags/alpha.yaml': flagText('alpha', 20) },
      'Ramp alpha to 20 %',
    );
    expect(await run('reconcile')).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;

    const list = await offline('state', 'list');
    const show = await offline('state', 'show', 'flag/alpha');
    expect(list, list.stderr).toMatchObject({ code: 0 });
    expect(list.stdout.split('\n').map((line) => line.trim().split(/\s+/).join(' '))).toEqual([
      `flag/alpha ${first.slice(0, 8)}`,
      `flag/alpha@production ${head.slice(0, 8)}`,
      `flag/alpha@staging ${head.slice(0, 8)}`,
      ...[
        'flag/beta',
        'flag/beta@production',
        'flag/beta@staging',
        'segment/staff',
        'segment/staff@staging',
      ].map((id) => `${id} ${first.slice(0, 8)}`),
      '',
    ]);
    const shown = JSON.parse(show.stdout) as { environments: Record<string, object> };
    expect(Object.values(shown.environments)).toContainEqual(
      expect.objectContaining({
        environment: 'production',
        commit: head,
        spec: expect.objectContaining({ trafficAllocation: 100 }) as object,
      }),
    );
    expect(await offline('state', 'show', 'flag/nobody')).toMatchObject({ code: 64 });

    const all = await offline('history', '--format', 'json');
    const alpha = await offline('history', 'flag/alpha');
    const beta = await offline('history', 'flag/beta');
    const { applies } = JSON.parse(all.stdout) as { applies: object[] };
    expect(applies).toHaveLength(2);
    expect(applies[0]).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      head,
      counts: { applied: 2 },
      changes: [
        {
          outcome: 'applied',
          action: 'update',
          id: 'flag/alpha@staging',
          title: 'Ramp alpha to 20 %',
        },
        { id: 'flag/alpha@production' },
      ],
    });
    expect(alpha.stdout).toContain('applied update flag/alpha@production: Ramp alpha to 20 %');
    expect(alpha.stdout).not.toContain('beta');
    expect(beta.stdout).not.toContain('Ramp alpha');
    expect(beta.stdout).toContain('applied create flag/beta@production');
    expect(scenario.service.requests).toEqual([]);

    const before = scenario.repository.git('rev-parse', stateRef(scenario));
    expect(await offline('state', 'rm', 'flag/alpha@staging')).toMatchObject({ code: 64 });
    expect(scenario.repository.git('rev-parse', stateRef(scenario))).toBe(before);
    expect(await offline('state', 'rm', 'flag/alpha')).toMatchObject({ code: 0 });
    expect(await offline('state', 'rm', 'flag/beta')).toMatchObject({ code: 0 });
    scenario.repository.remove('flags/alpha.yaml');
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Retire alpha, ramp beta');
    // What the newest commit changed would be seen from history.
    scenario.commit({ 'notes.md': 'Nothing of a flag' }, 'Take notes');
    const plan = await planOf(scenario.repository.directory);
    expect(reasons(plan.changes)).toEqual(['flag/beta@staging adopt']);
    expect(plan.withheld.map(({ id, why }) => `${id} ${why}`)).toEqual([
      'flag/beta@production adopt-needed',
    ]);
  });

  it('rebuild remembers what is equal where the state cannot be read or is lost, and writes nothing to the service', async () => {
    const blob = git(['hash-object', '-w', '--stdin'], '{');
    const tree = git(['mktree'], `120000 blob ${blob}\trun.json\n`);
    const unreadable = scenario.repository.git('commit-tree', '-m', 'x', tree);
    scenario.repository.git('update-ref', stateRef(scenario), unreadable);
    const broken = await run('reconcile');
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.stderr).toContain('flagkeel state rebuild');
    expect(await run('state', 'rebuild')).toMatchObject({ code: 0 });
    expect(await run('reconcile', '--dry-run', '--detailed-exitcode')).toMatchObject({ code: 0 });

    scenario.repository.git('update-ref', '-d', stateRef(scenario));
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Ramp beta');
    const rebuilt = await run('state', 'rebuild');
    expect(rebuilt, rebuilt.stderr).toMatchObject({ code: 0 });
    expect(rebuilt.stdout).toContain('  flag/beta@production\n');
    expect(writes()).toEqual([]);
    scenario.commit({ 'flags/alpha.yaml': flagText('alpha', 20) }, 'Ramp alpha');
    expect(reasons((await planOf(scenario.repository.directory)).changes)).toEqual([
      'flag/alpha@staging commit',
      'flag/beta@staging adopt',
      'flag/alpha@production commit',
    ]);

    const one = await run('state', 'rebuild', '--only', 'flag/beta');
    expect(one.stdout).toContain('Recorded 1 object that is equal to HEAD.');
  });

  function git(args: readonly string[], input: string): string {
    const { directory: cwd } = scenario.repository;
    return execFileSync('git', args, { cwd, input, encoding: 'utf8' }).trim();
  }
});

it('a run that history cannot tell everything says so, plans all the same, and prunes nothing', async () => {
  const { repository } = scenario;
  repository.remove('flags/alpha.yaml');
  scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Retire alpha, ramp beta');
  const newest = ['flag/beta@staging commit', 'flag/beta@production commit'];
  const clone = join(makeDirectory(), 'clone');
  const ref = stateRef(scenario);
  repository.git('clone', '--quiet', '--depth', '1', `file://${repository.directory}`, clone);
  repository.git('push', '--quiet', clone, `${ref}:${ref}`);
  const shallow = await planOf(clone);

  const orphan = repository.git('commit-tree', '-m', 'All in one', repository.git('write-tree'));
  repository.git('reset', '--quiet', '--hard', orphan);
  repository.git('reflog', 'expire', '--expire=now', '--all');
  repository.git('gc', '--quiet', '--prune=now');
  const rewritten = await planOf(repository.directory, '--allow-older');

  const plans = [shallow, rewritten];
  const codes = plans.map(({ unknowns }) => unknowns?.map(({ code }) => code));
  expect(codes).toEqual([['shallow-clone'], ['missing-commits']]);
  expect(shallow.stderr).toContain('the clone is shallow');
  expect(rewritten.stderr).toContain('not in this repository');
  expect(plans.map(({ changes }) => reasons(changes))).toEqual([newest, newest]);
  for (const { withheld } of plans)
    expect(withheld).toContainEqual(
      expect.objectContaining({ id: 'flag/alpha', why: 'no-witness' }),
    );
});

describe('in a partial clone, which lacks the files of older commits', () => {
  const runInClone = async (...args: readonly string[]) => scenario.runAt(partialClone(), ...args);

  function partialClone(): string {
    const { repository } = scenario;
    const clone = join(makeDirectory(), 'clone');
    const ref = stateRef(scenario);
    repository.git('config', 'uploadpack.allowFilter', 'true');
    repository.git('clone', '-q', '--filter=blob:none', `file://${repository.directory}`, clone);
    repository.git('push', '--quiet', clone, `${ref}:${ref}`);
    return clone;
  }

  it('a run that adds a kill to another change sends both', async () => {
    const kill = { 'kills/staging.yaml': 'kills: { alpha: { reason: INC-1 } }\n' };
    scenario.commit({ ...kill, 'flags/beta.yaml': flagText('beta', 50) }, 'Kill alpha, ramp beta');

    const ran = await runInClone('reconcile');

    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stderr).toContain('killed flag/alpha@staging: Kill alpha, ramp beta\n');
    expect(writes()).toHaveLength(3);
  });

  it('a run that adds a kill to a list sends it, and names the older list, which may have held more', async () => {
    const killed = (list: string) => ({ 'kills/staging.yaml': `kills: ${list}\n` });
    scenario.commit(killed('{}'), 'Prepare for trouble');
    expect(await run('reconcile')).toMatchObject({ code: 0 });
    scenario.commit(killed('{ alpha: { reason: INC-1 } }'), 'Kill alpha');

    const clone = partialClone();
    const ran = await scenario.runAt(clone, 'reconcile');

    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toContain('killed flag/alpha@staging: Kill alpha\n');
    expect(ran.stderr).toMatch(/cannot read "kills\/staging.yaml" of commit \w{8}: .*--refetch/);
    execFileSync('git', ['-C', clone, 'fetch', '--quiet', '--refetch', '--no-filter']);
    expect(await scenario.runAt(clone, 'reconcile')).toMatchObject({ code: 0 });
  });

  it('a plan that finds a kill by hand is made, without a look for its order in older commits', async () => {
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 30) }, 'Ramp beta');
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Ramp beta on');
    await (await liveWorkspace(scenario.service)).set('alpha', { killed: true });

    const planned = await runInClone('plan');

    expect(planned, planned.stderr).toMatchObject({ code: 0 });
  });

  it('a run names the file that proves a removal and is missing, and a command that fetches it', async () => {
    scenario.repository.remove('flags/alpha.yaml');
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Retire alpha, ramp beta');

    const ran = await runInClone('reconcile');

    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toMatch(
      /cannot read "flags\/alpha.yaml" of commit \w{8}: .*git fetch --refetch --no-filter/,
    );
    expect(writes()).toEqual([]);
  });
});
