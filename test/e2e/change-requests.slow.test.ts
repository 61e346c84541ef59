import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import type { CliResult } from '../support/cli.js';
import { startFlagkeel } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { callsOf, type ServiceCalls } from '../support/service-calls.js';
import { startTestService } from '../support/service.js';
import { flagText } from '../support/spec-texts.js';

/** A change request as the service answers it. */
interface Listed {
  readonly id: string;
  readonly status: string;
  readonly operationType: string;
  readonly title: string;
  readonly comment: string;
  readonly split: (WireDefinition & { readonly name: string }) | null;
  readonly segment: { readonly name: string; readonly keys: readonly string[] } | null;
}

const CONFIG = `workspace: Default
environments:
  staging: {}
  production: { protected: true, approvals: request }
`;

const scenario = useScenario();
let live: LiveWorkspace;
let approver: ServiceCalls;

/** `pay` is live at 10 %; from then on production wants an approval for each change. */
beforeEach(async () => {
  scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': pay(10) }, 'Add pay');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  const { service } = scenario;
  live = await liveWorkspace(service);
  await live.permit({ areApprovalsRequired: true });
  approver = callsOf({ origin: service.origin, key: await service.createKey('ana') });
});

function pay(on: number): string {
  return flagText('pay', on, { staging: '', production: '' });
}

/** All change requests that the service has, oldest first. */
async function requests(): Promise<readonly Listed[]> {
  const { data } = await live.ok<{ data: Listed[] }>('GET', '/changeRequests?limit=100');
  return data.reverse();
}

async function openRequests(): Promise<readonly Listed[]> {
  return (await requests()).filter(({ status }) => status === 'REQUESTED');
}

async function decide(id: string | undefined, status: string, by = approver): Promise<void> {
  await by.ok('PUT', `/changeRequests/${id ?? ''}`, { status, comment: 'Looked at it' });
}

function flat({ stdout }: CliResult): string {
  return stdout.replaceAll(/\s+/g, ' ');
}

describe('a change where the service requires approvals, with `approvals: request`', () => {
  it('is submitted, shown, live once approved, renewed when git changes it, not repeated once rejected, and withdrawn when git takes it back', async () => {
    scenario.commit({ 'flags/pay.yaml': pay(20) }, 'Ramp pay\n\nLooks good so far.');
    const submitted = await scenario.reconcile();
    expect(submitted).toMatchObject({ code: 8 });
    const [request, ...others] = await requests();
    const { id } = request ?? { id: '' };
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      status: 'REQUESTED',
      operationType: 'UPDATE',
      title: 'Ramp pay',
      split: { name: 'pay', defaultRule: [{ treatment: 'on', size: 20 }, expect.anything()] },
    });
    expect(request?.comment).toContain('from flags/pay.yaml:');
    expect(request?.comment).toContain('Looks good so far.');
    expect(flat(submitted)).toContain(`waits for approval: change request ${id}`);
    expect(await live.share('pay')).toBe(10);

    const plan = await scenario.run('plan');
    const document = await scenario.dryRun();
    const shown = await scenario.run('state', 'show', 'flag/pay');
    const listed = await scenario.run('state', 'list');
    expect(plan).toMatchObject({ code: 0 });
    expect(flat(plan)).toMatch(
      new RegExp(`waits for approval: change request ${id} by \\S+, \\d+ min; have it decided`),
    );
    expect(document.withheld).toMatchObject([
      { id: 'flag/pay@production', why: 'approval-needed', request: { id, is: 'open' } },
    ]);
    expect(shown.stdout).toContain(id);
    expect(listed.stdout).toContain(`waits for approval: change request ${id} by `);

    expect(await scenario.reconcile()).toMatchObject({ code: 8 });
    expect(await requests()).toHaveLength(1);
    await decide(id, 'APPROVED');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect(await live.share('pay')).toBe(20);
    expect(await requests()).toMatchObject([{ status: 'PUBLISHED' }]);

    scenario.commit({ 'flags/pay.yaml': pay(30) }, 'Ramp pay further');
    await scenario.reconcile();
    scenario.commit({ 'flags/pay.yaml': pay(40) }, 'Ramp pay by far');
    expect(await scenario.reconcile()).toMatchObject({ code: 8 });
    expect((await requests()).slice(1)).toMatchObject([
      { status: 'WITHDRAWN' },
      { status: 'REQUESTED', split: { defaultRule: [{ size: 40 }, { size: 60 }] } },
    ]);

    await decide((await openRequests())[0]?.id, 'REJECTED');
    const again = await scenario.reconcile();
    expect(again).toMatchObject({ code: 8 });
    expect(flat(again)).toMatch(/change request \S+ by \S+ was rejected; change it in git/);
    expect((await requests()).slice(2)).toMatchObject([{ status: 'REJECTED' }]);
    scenario.commit({ 'flags/pay.yaml': pay(45) }, 'Ramp pay with care');
    expect(await scenario.reconcile()).toMatchObject({ code: 8 });

    scenario.commit({ 'flags/pay.yaml': pay(20) }, 'Back');
    const planned = await scenario.run('plan');
    expect(flat(planned)).toContain('will be withdrawn: git asks for something else by now.');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect((await requests()).at(-1)).toMatchObject({ status: 'WITHDRAWN' });
  });

  it('is left to its author where another key runs by now, with exit 8 and the way out', async () => {
    scenario.commit({ 'flags/pay.yaml': pay(20) }, 'Ramp pay');
    await scenario.reconcile();
    const [asked] = await openRequests();
    scenario.commit({ 'flags/pay.yaml': pay(10) }, 'Back');
    const key = await scenario.service.createKey('ben', { workspaces: ['Default'] });

    const left = await scenario.runWith({ env: { FLAGKEEL_API_KEY: key } }, 'reconcile');

    expect(left).toMatchObject({ code: 8 });
    expect(flat(left)).toContain('was not withdrawn: cannot withdraw change request');
    expect(flat(left)).toContain('have it rejected, or withdraw it with the key that submitted it');
    expect(await openRequests()).toEqual([asked]);
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect(await openRequests()).toEqual([]);
  });
});

it.each(['reset-after', 'reset-before', '503'] as const)(
  'never two requests for one change when the service fails in the middle (%s)',
  async (fault) => {
    scenario.commit({ 'flags/pay.yaml': pay(20) }, 'Ramp pay');
    const match = { method: 'POST', path: /changeRequests/ };
    scenario.service.failNext(match, fault === '503' ? 503 : fault);

    expect(await scenario.reconcile()).toMatchObject({ code: 8 });
    expect(await scenario.reconcile()).toMatchObject({ code: 8 });

    expect(scenario.service.faultsLeft()).toBe(0);
    expect(await requests()).toHaveLength(1);
  },
);

it('a strict service, which has no change requests, is left to a person, with exit 8 and the reason', async () => {
  const store = { kind: 'directory', path: join(makeDirectory(), 'store') } as const;
  const first = await startTestService({ store });
  await (await liveWorkspace(first)).permit({ areApprovalsRequired: true });
  await first.stop();
  const strict = await startTestService({ store, strict: true });
  onTestFinished(async () => strict.stop());
  const words = ['reconcile', '--url', strict.origin, scenario.repository.directory];
  const env = { FLAGKEEL_API_KEY: strict.key };

  const held = await startFlagkeel(words, { env }).ended;
  const again = await startFlagkeel(words, { env }).ended;

  expect([held.code, again.code]).toEqual([8, 8]);
  expect(flat(again)).toContain('has no change requests to ask for one');
  const { requests: sent } = strict;
  expect(sent.filter(({ method, path }) => method === 'POST' && path.includes('changeR'))).toEqual(
    [],
  );
});
