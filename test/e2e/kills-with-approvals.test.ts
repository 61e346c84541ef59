import { expect, it } from 'vitest';
import type { CliResult } from '../support/cli.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const REFUSED = 'changes in this environment need an approval';
const CONFIG = 'workspace: Default\nenvironments:\n  production: { approvals: request }\n';
const list = (entries: string) => ({ 'kills/production.yaml': `kills: ${entries}\n` });

const scenario = useScenario();
const byHand = async (word: 'kill' | 'restore'): Promise<CliResult> =>
  scenario.run(word, 'pay', '--environment', 'production');
const said = ({ code, stdout, stderr }: CliResult): string =>
  `${String(code)}: ${stdout}${stderr}`.replaceAll(/\s+/g, ' ');

it('kill and restore of git ask for an approval where the service requires one; those of an incident do not', async () => {
  const files = { 'flags/pay.yaml': flagText('pay', 10, { production: '' }) };
  scenario.commit({ 'flagkeel.yaml': CONFIG, ...files }, 'Add pay');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  const live = await liveWorkspace(scenario.service);
  const found = async () => {
    const { data } = await live.ok<{ data: { operationType: string; status: string }[] }>(
      'GET',
      '/changeRequests?limit=100',
    );
    const requests = data.map(({ operationType, status }) => `${operationType} ${status}`);
    return [(await live.definition('pay')).killed, ...requests];
  };
  await live.permit({ areApprovalsRequired: true });

  const kill = await byHand('kill');
  scenario.commit(list('{ pay: { reason: INC-1 } }'), 'Kill pay');
  const lane = await scenario.reconcile('--kills');
  expect(said(kill)).toMatch(new RegExp(`^1: .*${REFUSED}`));
  expect(said(lane)).toMatch(new RegExp(`^5: .*${REFUSED}`));
  expect(await found()).toEqual([false]);
  expect(await scenario.reconcile()).toMatchObject({ code: 8 });
  expect(await found()).toEqual([false, 'KILL REQUESTED']);

  await live.permit({ areApprovalsRequired: false });
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  await live.permit({ areApprovalsRequired: true });
  expect(said(await byHand('restore'))).toMatch(new RegExp(`^1: .*${REFUSED}`));
  scenario.commit(list('{}'), 'Bring pay back');
  expect(await scenario.reconcile()).toMatchObject({ code: 8 });
  expect(await found()).toEqual([true, 'RESTORE REQUESTED', 'KILL WITHDRAWN']);
});
