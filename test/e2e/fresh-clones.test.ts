import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { flagkeel, type CliResult } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG = 'workspace: Default\nenvironments:\n  production: { protected: true }\n';
const flag = (name: string, percent: number): string => flagText(name, percent, { production: '' });

/** What one job of CI printed. */
interface Job extends CliResult {
  readonly changes: readonly string[];
  readonly withheld: readonly string[];
  readonly unknowns: readonly string[];
}

/** A repository on a git server, and CI that clones it anew for each push. */
describe('fresh clones, one after the other', { timeout: 300_000 }, () => {
  const scenario = useScenario();
  let origin: string;

  beforeEach(() => {
    origin = join(makeDirectory(), 'origin.git');
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
    scenario.repository.git('remote', 'add', 'origin', origin);
  });

  function cloned(): string {
    const clone = makeDirectory();
    execFileSync('git', ['clone', '--quiet', origin, clone]);
    return clone;
  }

  /** Commits, pushes, and runs CI as it would for that push. */
  async function push(message: string, files: Readonly<Record<string, string>>): Promise<Job> {
    scenario.commit(files, message);
    scenario.repository.git('push', '--quiet', 'origin', 'main');
    const result = await scenario.runAt(cloned(), 'reconcile', '--format', 'json');
    const { changes, withheld, unknowns = [] } = JSON.parse(result.stdout) as PlanDocument;
    return {
      ...result,
      changes: changes
        .filter(({ id }) => id.includes('@'))
        .map(({ id, reason, outcome = '', title }) => `${id} ${reason} ${outcome}: ${title ?? ''}`),
      withheld: withheld.map(({ id, why }) => `${id} ${why}`),
      unknowns: unknowns.map(({ code }) => code),
    };
  }

  /** The whole story; what differs from one to the other is returned. */
  async function story(): Promise<readonly Job[]> {
    const jobs = [
      await push('Add alpha and beta', {
        'flagkeel.yaml': CONFIG,
        'flags/alpha.yaml': flag('alpha', 10),
        'flags/beta.yaml': flag('beta', 10),
      }),
      await push('Ramp alpha to 20 %', { 'flags/alpha.yaml': flag('alpha', 20) }),
    ];
    const live = await liveWorkspace(scenario.service);
    await live.set('beta', { trafficAllocation: 50 });
    jobs.push(await push('Ramp alpha to 40 %', { 'flags/alpha.yaml': flag('alpha', 40) }));
    expect(await live.definition('beta')).toMatchObject({ trafficAllocation: 50 });
    return jobs;
  }

  const APPLIED = [
    [
      'flag/alpha@production commit applied: Add alpha and beta',
      'flag/beta@production commit applied: Add alpha and beta',
    ],
    ['flag/alpha@production commit applied: Ramp alpha to 20 %'],
    ['flag/alpha@production commit applied: Ramp alpha to 40 %'],
  ];

  it('share what they remember where they may push: each applies its commit, a hand edit is drift', async () => {
    const jobs = await story();

    expect(jobs.map(({ changes }) => changes)).toEqual(APPLIED);
    const drift = ['flag/beta@production drift-reported'];
    expect(jobs.map(({ withheld }) => withheld)).toEqual([[], [], drift]);
    expect(jobs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(jobs.flatMap(({ unknowns }) => unknowns)).toEqual([]);
    const history = await scenario.runAt(cloned(), 'history', 'flag/alpha');
    expect(history.stdout, history.stderr).toContain('Ramp alpha to 40 %');
  });

  it('wait for the lock that another machine left, until it is broken by hand', async () => {
    await push('Add alpha', { 'flagkeel.yaml': CONFIG, 'flags/alpha.yaml': flag('alpha', 10) });
    const { repository } = scenario;
    const state = execFileSync('git', ['for-each-ref', '--format=%(refname)', 'refs/flagkeel/'], {
      ...{ cwd: origin, encoding: 'utf8' },
    }).trim();
    const lock = state.replace('refs/flagkeel/', 'refs/flagkeel-lock/');
    const message = 'elsewhere process 7\nuntil 2999-01-01T00:00:00.000Z';
    const held = repository.git('commit-tree', '-m', message, 'HEAD^{tree}');
    repository.git('push', '--quiet', 'origin', `${held}:${lock}`);
    scenario.commit({ 'flags/alpha.yaml': flag('alpha', 20) }, 'Ramp alpha to 20 %');
    repository.git('push', '--quiet', 'origin', 'main');
    const clone = cloned();

    const refused = await scenario.runAt(clone, 'reconcile');
    const unlocked = await flagkeel(['state', 'unlock', clone]);

    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('held by elsewhere process 7');
    expect(unlocked).toMatchObject({ code: 0 });
    expect(unlocked.stdout).toContain('elsewhere process 7');
    expect(await scenario.runAt(clone, 'reconcile')).toMatchObject({ code: 0 });
  });

  it('go by history where they may not push: each applies its commit and says what it cannot share, a hand edit is held', async () => {
    const hook = join(origin, 'hooks', 'update');
    writeFileSync(hook, '#!/bin/sh\ncase "$1" in refs/flagkeel*) exit 1;; esac\n');
    chmodSync(hook, 0o755);

    const jobs = await story();

    expect(jobs.map(({ changes }) => changes)).toEqual(APPLIED);
    const held = ['flag/beta@production adopt-needed'];
    expect(jobs.map(({ withheld }) => withheld)).toEqual([[], [], held]);
    expect(jobs.map(({ code }) => code)).toEqual([0, 0, 8]);
    const alone = ['state-not-shared'];
    const lost = ['nothing-remembered', 'state-not-shared'];
    expect(jobs.map(({ unknowns }) => unknowns)).toEqual([alone, alone, lost]);
    expect(jobs[0]?.stderr).toContain('a fresh clone will apply what its own push changed');
    expect(execFileSync('git', ['for-each-ref', 'refs/flagkeel*'], { cwd: origin }).length).toBe(0);
  });
});
