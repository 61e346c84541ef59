import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { StatusDocument } from '../../src/daemon/http/view-routes.js';
import { startTestForge } from '../support/forge.js';
import { makeDirectory } from '../support/git.js';
import { startScripted } from '../support/http.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { sendPushWebhook } from '../support/push-webhook.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const flag = (percent: number, name = 'pay'): string => flagText(name, percent, { staging: '' });

const scenario = useScenario();

/** A daemon over a directory with a port, a receiver of messages and a forge; it looks at events and requests alone. */
async function watch() {
  const folder = makeDirectory();
  const receiver = await startScripted(() => ({ status: 200 }));
  const forge = await startTestForge('github');
  onTestFinished(async () => {
    await receiver.close();
    await forge.close();
  });
  writeFileSync(join(folder, 'tokens'), 'the-token\n');
  writeFileSync(join(folder, 'secrets'), 'the-secret\n');
  const daemon = scenario.watch(
    [
      ...['--interval', '1h', '--listen', '127.0.0.1:0', '--notify', `${receiver.url}/hook`],
      ...['--token-file', join(folder, 'tokens')],
      ...['--webhook-secret-file', join(folder, 'secrets')],
      ...['--statuses', 'github:acme/flags', '--forge-url', forge.url],
    ],
    { ...scenario.env, FLAGKEEL_FORGE_TOKEN: forge.token },
  );
  const { url } = await daemon.line(({ msg }) => msg === 'watching');
  return { daemon, receiver, forge, url: String(url) };
}

it('a daemon applies every commit as far as it is right, plans what is not committed, runs when it is asked to, and says so everywhere', async () => {
  const { repository, service, commit } = scenario;
  const live = await liveWorkspace(service);
  const shares = async (): Promise<number[]> =>
    Promise.all(['pay', 'cart'].map(async (name) => live.share(name, 'staging')));
  const files = {
    'flagkeel.yaml': STAGING_CONFIG,
    'flags/pay.yaml': flag(10),
    'flags/cart.yaml': flag(1, 'cart'),
  };
  const first = commit(files, 'Add pay and cart');
  const { daemon, receiver, forge, url } = await watch();
  await daemon.ran(first, 'applied');
  expect(await shares()).toEqual([10, 1]);

  const second = commit({ 'flags/pay.yaml': flag(20) }, 'Ramp pay');
  const run = await daemon.ran(second, 'applied');
  expect(run).toMatchObject({ level: 'info', source: 'default' });

  service.requests.length = 0;
  repository.write({ 'flags/pay.yaml': flag(50) });
  // The file of the second commit may have been seen before the commit was.
  const line = await daemon.line(
    ({ msg, revision }) => msg.startsWith('local changes') && revision === second,
  );
  expect(line).toMatchObject({ level: 'warn' });
  expect(line.summary).toContain('1 to update');
  expect(await shares()).toEqual([20, 1]);
  // Only of what the edit touches: nobody lists all flags for it.
  const lists = service.requests.filter(({ path }) => /\/splits\/ws\/[^/]+(?:\?|$)/.test(path));
  expect(lists).toEqual([]);

  const broken = {
    'flags/pay.yaml': `${flag(50)}nonsense: 1\n`,
    'flags/cart.yaml': flag(2, 'cart'),
  };
  await daemon.ran(commit(broken, 'Break pay, ramp cart'), 'degraded');
  expect(await shares()).toEqual([20, 2]);
  daemon.signal('SIGHUP');
  await daemon.line(({ triggers }) => triggers?.includes('signal') === true);
  const mended = commit({ 'flags/pay.yaml': flag(30) }, 'Mend pay');
  await daemon.ran(mended, 'applied');
  const told = daemon.lines.filter(({ msg }) => msg === 'diagnostic');
  expect(told.map(({ file, code }) => `${String(file)} ${String(code)}`)).toEqual([
    'flags/pay.yaml unknown-field',
  ]);

  const bad = commit({ 'flagkeel.yaml': 'nonsense' }, 'Break everything');
  await daemon.ran(bad, 'invalid');
  daemon.signal('SIGHUP');
  await daemon.line(({ again }) => again === true);
  const last = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(40) };
  const newest = commit(last, 'Mend it');
  await daemon.ran(newest, 'applied');
  expect(await shares()).toEqual([40, 2]);

  const push = { commit: newest, cloneUrl: repository.directory };
  expect(await sendPushWebhook(url, 'the-secret', push)).toBe(202);
  await daemon.line(({ triggers }) => triggers?.includes('webhook') === true);
  const headers = { authorization: 'Bearer the-token' };
  const asked = await fetch(`${url}/reconcile`, { method: 'POST', headers });
  expect(asked.status).toBe(202);
  await daemon.line(({ triggers }) => triggers?.includes('request') === true);

  const { sources } = (await (await fetch(`${url}/status`)).json()) as StatusDocument;
  expect(sources).toMatchObject([
    { verdict: { level: 'fine' }, applied: { subject: 'Mend it' }, ready: true },
  ]);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/flagkeel_runs_total\{source="default",result="applied"\} 4/);
  expect(metrics).toMatch(/_requests_total\{method="GET",route="\/workspaces",status="200"\} \d/);
  await daemon.until(() => receiver.seen.length > 0, 'a message');
  expect(JSON.parse(receiver.seen[0]?.body ?? '')).toMatchObject({ event: 'changed' });

  const following = await fetch(`${url}/events`);
  expect(await daemon.stop('SIGINT')).toBe(130);
  expect(await following.text()).toContain('retry');
  const contexts = ['flagkeel-watch', 'flagkeel-watch/staging'];
  const lastOf = (sha: string): unknown[] =>
    contexts.map(
      (name) => forge.statuses.findLast((s) => s.sha === sha && s.context === name)?.state,
    );
  expect([first, bad].map(lastOf)).toEqual([
    ['success', 'success'],
    ['failure', 'failure'],
  ]);
  // The stop may have interrupted its last run.
  for (const state of lastOf(newest)) expect(state).toMatch(/success|error/);
  expect(JSON.stringify(daemon.lines)).not.toContain(forge.token);
});
