import { beforeEach, describe, expect, it } from 'vitest';
import { watchHere, type InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const flag = (percent: number): string => flagText('pay', percent, { staging: '' });

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe('what may be asked of a daemon', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let watched: InProcessDaemon;
  let first: string;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    const kills = { 'kills/staging.yaml': 'kills: {}\n' };
    const files = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10), ...kills };
    first = scenario.commit(files, 'Add pay');
    watched = await watchHere(scenario);
  });

  function ramp(percent: number): string {
    return scenario.commit({ 'flags/pay.yaml': flag(percent) }, `Ramp pay to ${percent} %`);
  }

  function killPay(): string {
    const kills = 'kills:\n  pay: { reason: INC-1 }\n';
    return scenario.commit({ 'kills/staging.yaml': kills }, 'Kill pay');
  }

  async function definition(): Promise<{ killed: boolean; on: number }> {
    const { killed } = await live.definition('pay', 'staging');
    return { killed, on: await live.share('pay', 'staging') };
  }

  it('shows where it stands, what git keeps killed, what is wrong in a broken commit, and that the config suspends it', async () => {
    const { repository, service } = scenario;
    expect(watched.view).toMatchObject({
      ...{ location: repository.directory, service: service.origin, workspace: 'Default' },
      ...{ seen: { commit: first, subject: 'Add pay' }, applied: { commit: first } },
      runs: [{ triggers: ['start'], result: 'applied', commit: first, subject: 'Add pay' }],
    });
    expect(watched.runs[0]?.text).toContain('Applied: 2 created');
    expect(watched.runs[0]?.requests).toBeGreaterThan(5);

    watched.daemon.override('other', { suspension: { reason: 'INC-1', until: inAnHour() } });
    watched.daemon.trigger('other', 'request');
    expect([watched.view.suspended, watched.runs.length]).toEqual([null, 1]);

    const kills = 'kills:\n  pay: { reason: INC-1 double charges, by: ana }\n';
    scenario.commit({ 'kills/staging.yaml': kills }, 'Kill pay');
    const killed = await watched.run();
    scenario.commit({ 'flags/pay.yaml': `${flag(10)}trafic: 5\n` }, 'Misspell a field');
    const broken = await watched.run();
    expect(killed.kills).toEqual([
      { id: 'flag/pay@staging', reason: 'INC-1 double charges', by: 'ana', since: null },
    ]);
    expect(killed.diagnostics).toBeUndefined();
    expect(broken.diagnostics).toMatchObject([
      { severity: 'error', code: 'unknown-field', file: 'flags/pay.yaml', column: 1 },
    ]);

    const suspended = { 'flagkeel.yaml': `${STAGING_CONFIG}suspend: true\n` };
    scenario.commit({ ...suspended, 'flags/pay.yaml': flag(10) }, 'Suspend');
    await watched.run();
    const reason = '`suspend: true` in flagkeel.yaml';
    expect(watched.view.suspended).toEqual({ reason, until: null });
  });

  it('plans and writes nothing but kills while it is suspended, and catches up when it is resumed', async () => {
    watched.daemon.override('default', { suspension: { reason: 'INC-1', until: inAnHour() } });
    await watched.until(() => watched.view.suspended?.reason === 'INC-1');
    ramp(20);
    const held = await watched.run();
    expect(held.result).toBe('suspended');
    expect(held.plan?.withheld.map(({ why }) => why)).toEqual(['suspended']);
    expect(held.text.match(/Suspended until .*: INC-1\./g)).toHaveLength(1);
    expect(held.text).not.toContain('suspend: true');
    expect(await definition()).toEqual({ killed: false, on: 10 });
    killPay();
    await watched.run();
    expect(await definition()).toEqual({ killed: true, on: 10 });

    watched.daemon.override(null, { suspension: null });
    await watched.until(() => watched.runs.at(-1)?.result === 'applied');
    expect(watched.view.suspended).toBeNull();
    expect(await definition()).toEqual({ killed: true, on: 20 });
  });

  it('makes one run of all that it is asked for before the run has chosen its commit', async () => {
    const before = watched.runs.length;
    watched.daemon.trigger(null, 'request');
    watched.daemon.override('default', { suspension: { reason: 'INC-1', until: inAnHour() } });
    watched.daemon.trigger('default', 'webhook');
    const asked = new Date().toISOString();
    await watched.rest(before + 1);

    const runs = watched.runs.slice(before).map(({ result, triggers }) => [result, ...triggers]);
    expect(runs).toEqual([['suspended', 'request', 'webhook']]);
    expect(watched.runs.at(-1)?.startedAt.localeCompare(asked)).toBeGreaterThanOrEqual(0);
  });

  it('stays at the commit that it is pinned to but for newer kills, and leaves it when it is unpinned', async () => {
    ramp(20);
    await watched.run();
    watched.daemon.override('default', {
      pin: { commit: first, reason: 'Roll back', until: inAnHour() },
    });
    await watched.until(() => watched.runs.at(-1)?.commit === first);
    const third = ramp(30);
    const pinned = await watched.run();
    expect(pinned).toMatchObject({ commit: first, subject: 'Add pay' });
    expect(await definition()).toEqual({ killed: false, on: 10 });
    expect(watched.view).toMatchObject({
      seen: { commit: third },
      pinned: { reason: 'Roll back' },
    });

    const last = killPay();
    await watched.run();
    expect(await definition()).toEqual({ killed: true, on: 10 });
    await watched.run();
    expect(await definition()).toEqual({ killed: true, on: 10 });

    watched.daemon.override('default', { pin: null });
    await watched.until(() => watched.runs.at(-1)?.commit === last);
    expect(await definition()).toEqual({ killed: true, on: 30 });
  });
});
