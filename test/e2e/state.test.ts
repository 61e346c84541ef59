import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagkeel, type CliResult } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG =
  'workspace: Default\nprune: true\nenvironments:\n  staging: {}\n  production: { protected: true }\n';

interface PlanJson {
  readonly stateless: boolean;
  readonly changes: { id: string; reason: string }[];
  readonly withheld: { id: string; reason: string; why: string }[];
  readonly unknowns?: { code: string; message: string }[];
}

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

async function planOf(directory: string): Promise<PlanJson & { stderr: string }> {
  const { stdout, stderr } = await flagkeel(
    ['reconcile', '--dry-run', '--format', 'json', '--url', scenario.service.origin, directory],
    { env: scenario.env },
  );
  return { ...(JSON.parse(stdout) as PlanJson), stderr };
}

/** Without the service: no URL, no key. */
async function offline(...args: readonly string[]): Promise<CliResult> {
  return flagkeel([...args, scenario.repository.directory]);
}

function stateRef(): string {
  return scenario.repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel/');
}

describe('the state commands', () => {
  it('list and show what is remembered, offline', async () => {
    const head = scenario.repository.git('rev-parse', 'HEAD');

    const list = await offline('state', 'list');
    const show = await offline('state', 'show', 'flag/alpha');

    expect(list, list.stderr).toMatchObject({ code: 0 });
    expect(list.stdout.split('\n').map((line) => line.trim().split(/\s+/).join(' '))).toEqual([
      ...[
        'flag/alpha',
        'flag/alpha@production',
        'flag/alpha@staging',
        'flag/beta',
        'flag/beta@production',
        'flag/beta@staging',
        'segment/staff',
        'segment/staff@staging',
      ].map((id) => `${id} ${head.slice(0, 8)}`),
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
    expect(scenario.service.requests).toEqual([]);
  });

  it('rm forgets: what left the specs is not pruned, what stands there is adopted again', async () => {
    expect(await offline('state', 'rm', 'flag/alpha')).toMatchObject({ code: 0 });
    expect(await offline('state', 'rm', 'flag/beta')).toMatchObject({ code: 0 });
    scenario.repository.remove('flags/alpha.yaml');
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Retire alpha, ramp beta');
    // What the newest commit changed would be seen from history.
    scenario.commit({ 'notes.md': 'Nothing of a flag' }, 'Take notes');

    const plan = await planOf(scenario.repository.directory);

    expect(plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      'flag/beta@staging adopt',
    ]);
    expect(plan.withheld.map(({ id, why }) => `${id} ${why}`)).toEqual([
      'flag/beta@production adopt-needed',
    ]);
  });

  it('rm refuses what is not there', async () => {
    const before = scenario.repository.git('rev-parse', stateRef());

    const refused = await offline('state', 'rm', 'flag/alpha@staging');

    expect(refused.code).toBe(64);
    expect(scenario.repository.git('rev-parse', stateRef())).toBe(before);
  });

  it('rebuild remembers what is equal after the state was lost, and writes nothing to the service', async () => {
    scenario.repository.git('update-ref', '-d', stateRef());
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Ramp beta');

    const rebuilt = await run('state', 'rebuild');

    expect(rebuilt, rebuilt.stderr).toMatchObject({ code: 0 });
    expect(rebuilt.stdout).toContain('  flag/beta@production\n');
    expect(writes()).toEqual([]);
    scenario.commit({ 'flags/alpha.yaml': flagText('alpha', 20) }, 'Ramp alpha');
    expect(
      (await planOf(scenario.repository.directory)).changes.map(
        ({ id, reason }) => `${id} ${reason}`,
      ),
    ).toEqual([
      'flag/alpha@staging commit',
      'flag/beta@staging adopt',
      'flag/alpha@production commit',
    ]);
  });

  it('rebuild takes the place of a state that cannot be read', async () => {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: scenario.repository.directory,
      input: '{',
      encoding: 'utf8',
    }).trim();
    const tree = execFileSync('git', ['mktree'], {
      cwd: scenario.repository.directory,
      input: `120000 blob ${blob}\trun.json\n`,
      encoding: 'utf8',
    }).trim();
    scenario.repository.git(
      'update-ref',
      stateRef(),
      scenario.repository.git('commit-tree', '-m', 'x', tree),
    );
    const broken = await run('reconcile');
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.stderr).toContain('flagkeel state rebuild');

    expect(await run('state', 'rebuild')).toMatchObject({ code: 0 });

    expect(await run('reconcile', '--dry-run', '--detailed-exitcode')).toMatchObject({ code: 0 });
    expect(writes()).toEqual([]);
  });

  it('history tells the applies, and of one object only those that touched it', async () => {
    const head = scenario.commit(
      { 'flags/alpha.yaml': flagText('alpha', 20) },
      'Ramp alpha to 20 %',
    );
    expect(await run('reconcile')).toMatchObject({ code: 0 });

    const all = await offline('history', '--format', 'json');
    const alpha = await offline('history', 'flag/alpha');
    const beta = await offline('history', 'flag/beta');

    const { applies } = JSON.parse(all.stdout) as {
      applies: { time: string; head: string; counts: object; changes: object[] }[];
    };
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
  });
});

describe('a run that cannot know everything plans all the same, and prunes nothing', () => {
  let elsewhere: string;

  beforeEach(() => {
    elsewhere = mkdtempSync(join(tmpdir(), 'flagkeel-e2e-'));
    scenario.repository.remove('flags/alpha.yaml');
    scenario.commit({ 'flags/beta.yaml': flagText('beta', 50) }, 'Retire alpha, ramp beta');
  });

  afterEach(() => {
    rmSync(elsewhere, { recursive: true, force: true });
  });

  function git(...args: readonly string[]): void {
    execFileSync('git', args, { cwd: elsewhere, stdio: 'pipe' });
  }

  function deletions({ changes }: PlanJson): string[] {
    return changes.filter(({ reason }) => reason === 'prune').map(({ id }) => id);
  }

  it('with the state lost, in which history tells what the newest commit changed', async () => {
    scenario.repository.git('update-ref', '-d', stateRef());

    const plan = await planOf(scenario.repository.directory);

    expect(deletions(plan)).toEqual([]);
    expect(plan.changes).toEqual([
      expect.objectContaining({ id: 'flag/beta@staging', reason: 'commit' }),
      expect.objectContaining({ id: 'flag/beta@production', reason: 'commit' }),
    ]);
    expect(plan.withheld).toEqual([]);
  });

  it('without git', async () => {
    execFileSync('cp', ['-r', ...['flagkeel.yaml', 'flags', 'segments'], elsewhere], {
      cwd: scenario.repository.directory,
    });

    const plan = await planOf(elsewhere);

    expect(plan.stateless).toBe(true);
    expect(plan.stderr).toContain('nothing is remembered between runs');
    expect(deletions(plan)).toEqual([]);
    expect(plan.changes).toEqual([
      expect.objectContaining({ id: 'flag/beta@staging', reason: 'unknown' }),
    ]);
  });

  it('in a shallow clone', async () => {
    git('clone', '--quiet', '--depth', '1', `file://${scenario.repository.directory}`, '.');
    git('fetch', '--quiet', 'origin', `${stateRef()}:${stateRef()}`);

    const plan = await planOf(elsewhere);

    expect(plan.stderr).toContain('the clone is shallow');
    expect(plan.unknowns).toMatchObject([{ code: 'shallow-clone' }]);
    expect(deletions(plan)).toEqual([]);
    expect(plan.changes).toEqual([
      expect.objectContaining({ id: 'flag/beta@staging', reason: 'commit' }),
      expect.objectContaining({ id: 'flag/beta@production', reason: 'commit' }),
    ]);
    expect(plan.withheld.every(({ why }) => why === 'no-witness')).toBe(true);
    expect(plan.withheld.map(({ id }) => id)).toContain('flag/alpha');
  });

  it('with a rewritten history whose old commits are gone', async () => {
    const tree = scenario.repository.git('write-tree');
    const orphan = scenario.repository.git('commit-tree', '-m', 'All in one', tree);
    scenario.repository.git('reset', '--quiet', '--hard', orphan);
    scenario.repository.git('reflog', 'expire', '--expire=now', '--all');
    scenario.repository.git('gc', '--quiet', '--prune=now');

    const plan = await planOf(scenario.repository.directory);

    expect(plan.stderr).toContain('not in this repository');
    expect(plan.unknowns).toMatchObject([{ code: 'missing-commits' }]);
    expect(deletions(plan)).toEqual([]);
    expect(plan.changes.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      'flag/beta@staging commit',
      'flag/beta@production commit',
    ]);
    expect(plan.withheld.map(({ why }) => why)).toContain('no-witness');
  });
});
