import { beforeEach, describe, expect, it } from 'vitest';
import { flagkeelOnTerminal, type CliResult } from '../support/cli.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { TEST_SEED } from '../support/service.js';
import { flagText } from '../support/spec-texts.js';

const SEED = {
  workspaces: TEST_SEED.workspaces.flatMap((workspace) => [
    workspace,
    { ...workspace, name: 'Other' },
  ]),
};

describe('specs of one workspace', () => {
  const scenario = useScenario({ seed: SEED });
  const { reconcile, writes, dryRun } = scenario;

  beforeEach(async () => {
    writeConfig('Default');
    scenario.commit({ 'flags/pay.yaml': flagText('pay', 0, { staging: '' }) }, 'Add a flag');
    expect(await reconcile()).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
  });

  function writeConfig(workspace: string): void {
    scenario.repository.write({
      'flagkeel.yaml': `workspace: ${workspace}\nenvironments:\n  staging: {}\n  production: {}\n`,
    });
  }

  async function answer(text: string): Promise<CliResult> {
    return flagkeelOnTerminal(
      ['reconcile', '--force', '--url', scenario.service.origin, scenario.repository.directory],
      text,
      { env: scenario.env },
    );
  }

  function moveTo(workspace: string): void {
    writeConfig(workspace);
    scenario.repository.commit(`Name the workspace ${workspace}`);
  }

  it('in another one than last time need --force with the hash of this plan', async () => {
    moveTo('Other');
    const { planHash, guards, code } = await dryRun();
    const run = await reconcile();
    expect([code, run.code]).toEqual([4, 4]);
    expect(guards).toMatchObject([{ guard: 'anotherWorkspace', found: 1 }]);
    const text = run.stdout.replace(/\s+/g, ' ');
    expect(text).toContain(
      `applied to workspace ${guards?.[0]?.workspace ?? '?'} so far (1 objects)`,
    );
    expect(text).toContain('and never to Other (');
    expect(text).toContain(`--force --approve ${planHash}`);

    expect(await reconcile('--approve', planHash)).toMatchObject({ code: 4 });
    const forced = await reconcile('--force');
    expect(forced.code).toBe(4);
    expect(forced.stderr).toContain('--force asks on a terminal');
    expect(writes()).toEqual([]);
    expect(await reconcile('--force', '--approve', planHash)).toMatchObject({ code: 0 });
    expect(await reconcile()).toMatchObject({ code: 0 });

    // It has a state of that workspace already.
    moveTo('Default');
    expect(await reconcile()).toMatchObject({ code: 0 });
  });

  it.skipIf(lacks('script'))(
    'in another one are asked about on a terminal, and nothing but yes is a yes',
    async () => {
      moveTo('Other');
      const refused = await answer('y\n');
      expect(refused.code).toBe(4);
      expect(refused.stdout).toContain('Apply it all the same?');
      expect(writes()).toEqual([]);

      expect(await answer('yes\n')).toMatchObject({ code: 0 });
      expect(writes()).not.toEqual([]);
    },
  );
});
