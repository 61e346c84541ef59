import { describe, expect, it } from 'vitest';
import type { CliResult } from '../support/cli.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const REFUSED = 'changes in this environment need an approval';
const KILLS = 'kills/production.yaml';

const scenario = useScenario();
let live: LiveWorkspace;

/** The change requests, newest first, and whether `pay` is killed. */
async function found(): Promise<{ requests: string[]; killed: boolean }> {
  const list = await live.ok<{ data: { operationType: string; status: string }[] }>(
    'GET',
    '/changeRequests?limit=100',
  );
  const { killed } = await live.definition('pay');
  const requests = list.data.map(({ operationType, status }) => `${operationType} ${status}`);
  return { requests, killed };
}

const said = ({ stdout, stderr }: CliResult): string => (stdout + stderr).replaceAll(/\s+/g, ' ');
const inProduction = ['pay', '--environment', 'production'];

async function begin(approvals: string): Promise<void> {
  const config = `workspace: Default\nenvironments:\n  production: { approvals: ${approvals} }\n`;
  const files = {
    'flagkeel.yaml': config,
    'flags/pay.yaml': flagText('pay', 10, { production: '' }),
  };
  scenario.commit(files, 'Add pay');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  live = await liveWorkspace(scenario.service);
  await live.permit({ areApprovalsRequired: true });
}

describe('where the service requires approvals', () => {
  it.each([
    [
      'request',
      { killing: ['KILL REQUESTED'], restoring: ['RESTORE REQUESTED', 'KILL WITHDRAWN'] },
    ],
    ['report', { killing: [], restoring: [] }],
  ])(
    'kill and restore wait for a person, and `approvals: %s` says who asks',
    async (way, asked) => {
      await begin(way);
      const kill = await scenario.run('kill', ...inProduction);
      scenario.commit({ [KILLS]: 'kills:\n  pay: { reason: INC-1 }\n' }, 'Kill pay');
      const lane = await scenario.reconcile('--kills');
      // Neither asks for an approval: nobody may wait for one in an incident.
      expect([kill.code, lane.code]).toEqual([1, 5]);
      expect(said(kill)).toContain(REFUSED);
      expect(said(lane)).toContain(REFUSED);
      expect(await found()).toEqual({ requests: [], killed: false });
      expect(await scenario.reconcile()).toMatchObject({ code: 8 });
      expect(await found()).toEqual({ requests: asked.killing, killed: false });

      await live.permit({ areApprovalsRequired: false });
      expect(await scenario.reconcile()).toMatchObject({ code: 0 });
      await live.permit({ areApprovalsRequired: true });
      const before = await found();
      const restore = await scenario.run('restore', ...inProduction);
      expect(restore.code).toBe(1);
      expect(said(restore)).toContain(REFUSED);
      expect(await found()).toEqual({ ...before, killed: true });
      scenario.commit({ [KILLS]: 'kills: {}\n' }, 'Bring pay back');
      expect(await scenario.reconcile()).toMatchObject({ code: 8 });
      expect(await found()).toEqual({ requests: asked.restoring, killed: true });
    },
  );

  it('the service may let kills pass, which then go at once, by hand and by git', async () => {
    await begin('request');
    await live.permit({ allowKills: true });

    expect(await scenario.run('kill', ...inProduction)).toMatchObject({ code: 0 });
    expect(await found()).toEqual({ requests: [], killed: true });
    expect(await scenario.reconcile('--kills')).toMatchObject({ code: 0 });
  });
});
