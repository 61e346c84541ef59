import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG =
  'workspace: Default\nstate: { push: true }\nenvironments:\n  production: { protected: true }\n';

const flag = (percent: number): string => flagText('alpha', percent, { production: '' });

describe('a state that is pushed', () => {
  const scenario = useScenario();
  let elsewhere: string;
  let origin: string;

  beforeEach(() => {
    elsewhere = makeDirectory();
    origin = join(elsewhere, 'origin.git');
    scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/alpha.yaml': flag(10) }, 'Add alpha');
    execFileSync('git', ['clone', '--quiet', '--bare', scenario.repository.directory, origin]);
    scenario.repository.git('remote', 'add', 'origin', origin);
  });

  function refs(): string[] {
    const prefixes = ['refs/flagkeel', 'refs/flagkeel-lock', 'refs/flagkeel-origin'];
    const names = execFileSync('git', ['for-each-ref', '--format=%(refname)', ...prefixes], {
      cwd: origin,
      encoding: 'utf8',
    });
    return names.trim().split('\n');
  }

  it('is shared before anything is sent, pushed by writes alone, locked by others, and known to a fresh clone', async () => {
    const { repository, reconcile, runAt } = scenario;
    const hook = join(origin, 'hooks', 'pre-receive');
    const refuse = (): void => {
      writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    };
    refuse();
    const unshared = await reconcile();
    expect(unshared.code).toBe(1);
    expect(unshared.stderr).toContain('cannot push');
    expect(scenario.writes()).toEqual([]);

    rmSync(hook);
    const first = await reconcile();
    expect(first, first.stderr).toMatchObject({ code: 0 });
    expect(refs()).toEqual([expect.stringMatching(/^refs\/flagkeel\/[^/]+\/[0-9a-f]{8}$/)]);

    refuse();
    const idle = await reconcile();
    expect(idle, idle.stderr).toMatchObject({ code: 0 });
    expect(idle.stdout).toContain('In sync');
    rmSync(hook);

    scenario.commit({ 'flags/alpha.yaml': flag(20) }, 'Ramp alpha');
    repository.git('push', '--quiet', 'origin', 'main');
    const clone = join(elsewhere, 'clone');
    execFileSync('git', ['clone', '--quiet', origin, clone]);
    const list = await runAt(clone, 'state', 'list');
    expect(list.stdout, list.stderr).toContain('flag/alpha@production');
    const history = await runAt(clone, 'history', 'flag/alpha');
    expect(history.stdout, history.stderr).toContain('applied create flag/alpha@production');

    const lock = (refs()[0] ?? '').replace('refs/flagkeel/', 'refs/flagkeel-lock/');
    const message = 'elsewhere process 7\nuntil 2999-01-01T00:00:00.000Z';
    const held = repository.git('commit-tree', '-m', message, 'HEAD^{tree}');
    repository.git('push', '--quiet', 'origin', `${held}:${lock}`);
    const refused = await runAt(clone, 'reconcile');
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('held by elsewhere process 7');
    const unlocked = await flagkeel(['state', 'unlock', clone]);
    expect(unlocked, unlocked.stderr).toMatchObject({ code: 0 });
    expect(unlocked.stdout).toContain('elsewhere process 7');

    const run = await runAt(clone, 'reconcile', '--format', 'json');
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(run.stdout)).toMatchObject({
      changes: [{ id: 'flag/alpha@production', reason: 'commit', outcome: 'applied' }],
    });
    expect(await reconcile('--dry-run', '--detailed-exitcode')).toMatchObject({ code: 0 });
  });
});
