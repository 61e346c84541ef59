import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagkeel, type CliResult } from '../support/cli.js';
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
    elsewhere = mkdtempSync(join(tmpdir(), 'flagkeel-e2e-'));
    origin = join(elsewhere, 'origin.git');
    scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/alpha.yaml': flag(10) }, 'Add alpha');
    execFileSync('git', ['clone', '--quiet', '--bare', scenario.repository.directory, origin]);
    scenario.repository.git('remote', 'add', 'origin', origin);
  });

  afterEach(() => {
    rmSync(elsewhere, { recursive: true, force: true });
  });

  async function reconcile(directory: string, ...args: readonly string[]): Promise<CliResult> {
    return flagkeel(['reconcile', ...args, '--url', scenario.service.origin, directory], {
      env: scenario.env,
    });
  }

  function refs(): string[] {
    const prefixes = ['refs/flagkeel', 'refs/flagkeel-lock', 'refs/flagkeel-origin'];
    const names = execFileSync('git', ['for-each-ref', '--format=%(refname)', ...prefixes], {
      cwd: origin,
      encoding: 'utf8',
    });
    return names.trim().split('\n');
  }

  it('is shared before anything is sent, pushed by writes alone, locked by others, and known to a fresh clone', async () => {
    const { repository, env } = scenario;
    const hook = join(origin, 'hooks', 'pre-receive');
    const refuse = (): void => {
      writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    };
    refuse();
    const unshared = await reconcile(repository.directory);
    expect(unshared.code).toBe(1);
    expect(unshared.stderr).toContain('cannot push');
    expect(scenario.writes()).toEqual([]);

    rmSync(hook);
    const first = await reconcile(repository.directory);
    expect(first, first.stderr).toMatchObject({ code: 0 });
    expect(refs()).toEqual([expect.stringMatching(/^refs\/flagkeel\/[^/]+\/[0-9a-f]{8}$/)]);

    refuse();
    const idle = await reconcile(repository.directory);
    expect(idle, idle.stderr).toMatchObject({ code: 0 });
    expect(idle.stdout).toContain('In sync');
    rmSync(hook);

    scenario.commit({ 'flags/alpha.yaml': flag(20) }, 'Ramp alpha');
    repository.git('push', '--quiet', 'origin', 'main');
    const clone = join(elsewhere, 'clone');
    execFileSync('git', ['clone', '--quiet', origin, clone]);
    const fresh = ['--url', scenario.service.origin, clone];
    const list = await flagkeel(['state', 'list', ...fresh], { env });
    expect(list.stdout, list.stderr).toContain('flag/alpha@production');
    const history = await flagkeel(['history', 'flag/alpha', ...fresh], { env });
    expect(history.stdout, history.stderr).toContain('applied create flag/alpha@production');

    const lock = (refs()[0] ?? '').replace('refs/flagkeel/', 'refs/flagkeel-lock/');
    const message = 'elsewhere process 7\nuntil 2999-01-01T00:00:00.000Z';
    const held = repository.git('commit-tree', '-m', message, 'HEAD^{tree}');
    repository.git('push', '--quiet', 'origin', `${held}:${lock}`);
    const refused = await reconcile(clone);
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('held by elsewhere process 7');
    const unlocked = await flagkeel(['state', 'unlock', clone]);
    expect(unlocked, unlocked.stderr).toMatchObject({ code: 0 });
    expect(unlocked.stdout).toContain('elsewhere process 7');

    const run = await reconcile(clone, '--format', 'json');
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(run.stdout)).toMatchObject({
      changes: [{ id: 'flag/alpha@production', reason: 'commit', outcome: 'applied' }],
    });
    const inSync = await reconcile(repository.directory, '--dry-run', '--detailed-exitcode');
    expect(inSync).toMatchObject({ code: 0 });
  });
});
