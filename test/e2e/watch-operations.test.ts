import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StatusDocument } from '../../src/daemon/http/view-routes.js';
import { startScripted, type ScriptedServer } from '../support/http.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const flag = (percent: number): string => flagText('pay', percent, { staging: '' });

/** Nothing but what is asked for makes it run: no event of the kernel, no interval, no schedule. */
const ASKED_ONLY = ['--interval', '1h', '--debounce', '10ms', '--schedule', 'off'];
const NO_EVENTS = { CHOKIDAR_USEPOLLING: '1', CHOKIDAR_INTERVAL: '3600000' };

describe('a watching daemon with a port', () => {
  const scenario = useScenario();
  let receiver: ScriptedServer;
  let folder: string;
  let daemon: Watching;
  let url: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-watch-'));
    await liveWorkspace(scenario.service);
    receiver = await startScripted(() => ({ status: 200 }));
    writeFileSync(join(folder, 'tokens'), 'the-token\n');
    writeFileSync(join(folder, 'secrets'), 'the-secret\n');
    scenario.repository.write({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) });
    const surface = [
      ...['--listen', '127.0.0.1:0', '--notify', `${receiver.url}/hook`],
      ...['--token-file', join(folder, 'tokens')],
      ...['--webhook-secret-file', join(folder, 'secrets')],
    ];
    const args = [
      ...ASKED_ONLY,
      ...surface,
      '--url',
      scenario.service.origin,
      scenario.repository.directory,
    ];
    const first = scenario.repository.commit('Add pay');
    daemon = new Watching(args, { FLAGKEEL_API_KEY: scenario.service.key, ...NO_EVENTS });
    ({ url } = (await daemon.line(({ msg }) => msg === 'watching')) as unknown as {
      url: string;
    });
    await daemon.ran(first, 'applied');
  });

  afterEach(async () => {
    await daemon.stop('SIGKILL');
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function status(): Promise<StatusDocument> {
    return (await (await fetch(`${url}/status`)).json()) as StatusDocument;
  }

  async function ask(path: string, body: object): Promise<number> {
    const headers = { authorization: 'Bearer the-token', 'content-type': 'application/json' };
    return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
      .status;
  }

  async function push(): Promise<number> {
    const body = JSON.stringify({ ref: 'refs/heads/main' });
    const signature = createHmac('sha256', 'the-secret').update(body).digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push' };
    return (await fetch(`${url}/webhook`, { method: 'POST', headers, body })).status;
  }

  it('shows what it did, runs at a webhook, is held by request, and ends though a page follows it', async () => {
    const { sources } = await status();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    await daemon.until(() => receiver.seen.length > 0, 'a message');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(sources).toMatchObject([
      { verdict: { level: 'fine' }, environments: [{ name: null }, { name: 'staging' }] },
    ]);
    expect(sources[0]?.applied?.subject).toBe('Add pay');
    expect(metrics).toMatch(/flagkeel_runs_total\{source="default",result="applied"\} 1/);
    expect(metrics).toMatch(
      /flagkeel_service_requests_total\{method="GET",route="\/workspaces",status="200"\} \d/,
    );
    expect(JSON.parse(receiver.seen[0]?.body ?? '')).toMatchObject({ event: 'changed' });

    const second = scenario.commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay');
    expect(await push()).toBe(202);
    expect((await daemon.ran(second, 'applied')).triggers).toContain('webhook');

    expect(await ask('/suspend', { reason: 'INC-4711', for: '1h' })).toBe(202);
    const third = scenario.commit({ 'flags/pay.yaml': flag(30) }, 'Ramp pay on');
    expect(await ask('/reconcile', {})).toBe(202);
    await daemon.ran(third, 'suspended');
    expect((await status()).sources[0]).toMatchObject({
      verdict: { level: 'attention', detail: 'INC-4711' },
      suspended: { reason: 'INC-4711' },
    });
    expect(await ask('/resume', {})).toBe(202);
    expect(await ask('/reconcile', {})).toBe(202);
    await daemon.ran(third, 'applied');
    expect((await status()).verdict.level).toBe('fine');

    const following = await fetch(`${url}/events`);
    expect(await daemon.stop('SIGTERM')).toBe(143);
    expect(await following.text()).toContain('retry');
  });
});
