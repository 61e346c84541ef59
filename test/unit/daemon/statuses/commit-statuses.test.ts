import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCommitStatuses, readStatuses } from '../../../../src/compose/operations.js';
import { createLog } from '../../../../src/platform/log.js';
import { aRun, aSource, DaemonInMemory } from '../../../support/daemon-view.js';
import { startTestForge, type TestForge } from '../../../support/forge.js';
import { aReport } from '../../../support/plan-builder.js';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const WHOLE = 'flagkeel-watch';
const CONTEXTS = [WHOLE, `${WHOLE}/staging`, `${WHOLE}/production`];
const TOKEN = 'FLAGKEEL_FORGE_TOKEN';

describe.each(['github', 'gitlab'] as const)('statuses on commits of %s', (kind) => {
  let forge: TestForge;
  let daemon: DaemonInMemory;
  let logged: string;
  let closing: (() => Promise<void>)[];

  beforeEach(async () => {
    forge = await startTestForge(kind);
    daemon = new DaemonInMemory(aSource({ name: 'default' }));
    logged = '';
    closing = [];
  });

  afterEach(async () => {
    for (const close of closing) await close();
    await forge.close();
  });

  function open(members: { forgeUrl?: string; environment?: Record<string, string> } = {}) {
    const { forgeUrl = forge.url, environment = { [TOKEN]: forge.token } } = members;
    const stream = { write: (line: string) => (logged += line) };
    const plan = readStatuses(
      { statuses: `${kind}:acme/flags`, forgeUrl, publicUrl: 'https://flags.example.com/' },
      [{ name: 'default', place: { directory: '.' } }],
      environment,
    );
    const log = createLog({ level: 'debug', format: 'json', stream });
    const statuses = openCommitStatuses(daemon, plan, { environment, log });
    closing.push(statuses.close);
    return statuses;
  }

  const PENDING = kind === 'github' ? 'pending' : 'running';
  const ERROR = kind === 'github' ? 'error' : 'failed';

  function begin(commit: string): void {
    daemon.begin({ id: 'run', commit });
  }

  function end(commit: string, result: 'in-sync' | 'failed' | 'interrupted' = 'in-sync'): void {
    daemon.end(aRun(aReport(), { commit, result, id: '20260101-7' }));
  }

  /** States in their order, by commit and context. */
  function told(commit: string, context = WHOLE): string[] {
    return forge.statuses
      .filter((status) => status.sha === commit && status.context === context)
      .map(({ state }) => state);
  }

  async function settled(): Promise<void> {
    const deadline = Date.now() + 10_000;
    const count = (): number => (logged.match(/"msg":"commit status/g) ?? []).length;
    for (let before = -1; before !== count() || before === 0;) {
      if (Date.now() > deadline) throw new Error(`no status was told:\n${logged}`);
      before = count();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  it('are pending from the beginning of a run, and closed at its end, all of them', async () => {
    const statuses = open();
    begin(A);
    await settled();
    end(A);
    await statuses.close();

    for (const context of CONTEXTS) expect(told(A, context)).toEqual([PENDING, 'success']);
  });

  if (kind === 'github') {
    it('link to the page of the run', async () => {
      const statuses = open();
      end(A);
      await statuses.close();

      expect(forge.statuses[0]?.link).toBe('https://flags.example.com/runs/20260101-7');
    });
  }

  it('say nothing again of a commit whose end is the same, and all of one that is another', async () => {
    const statuses = open();
    for (const result of ['in-sync', 'in-sync', 'failed', 'in-sync'] as const) {
      begin(A);
      end(A, result);
      await settled();
    }
    await statuses.close();

    expect(told(A)).toEqual([PENDING, 'success', ERROR, 'success']);
  });

  it('are closed when the daemon stops, though the run never told its end', async () => {
    const statuses = open();
    begin(A);
    await settled();
    await statuses.close();

    for (const context of CONTEXTS) expect(told(A, context)).toEqual([PENDING, ERROR]);
    expect(daemon.listeners).toBe(0);
  });

  it('of a run that broke off are closed when the next one begins', async () => {
    const statuses = open();
    begin(A);
    await settled();
    begin(B);
    await settled();

    expect(told(A)).toEqual([PENDING, ERROR]);
    expect(told(B)).toEqual([PENDING]);
    await statuses.close();
  });

  it('of an environment that the commit takes away are closed as well', async () => {
    const statuses = open();
    begin(A);
    await settled();
    daemon.show(aSource({ name: 'default', environments: ['staging'] }));
    end(A);
    await statuses.close();

    expect(told(A, `${WHOLE}/production`)).toEqual([PENDING, 'success']);
  });

  it('are left to the replica that keeps the source now', async () => {
    const statuses = open();
    begin(A);
    await settled();
    daemon.show(aSource({ name: 'default', leader: false }));
    end(A, 'interrupted');
    await statuses.close();

    expect(told(A)).toEqual([PENDING]);
  });

  it('that the forge did not take at the end are told with the next run', async () => {
    const statuses = open();
    begin(A);
    await settled();
    forge.forbidWrites();
    end(A);
    await settled();
    forge.allowWrites();
    begin(B);
    end(B);
    await statuses.close();

    for (const context of CONTEXTS) expect(told(A, context).at(-1)).toBe('success');
    expect(told(B).at(-1)).toBe('success');
    expect(logged).toContain('commit status failed');
    expect(logged).not.toContain(forge.token);
  });

  it('of a forge that never answers wait in bounds, and are given up when the daemon stops', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const statuses = open({ forgeUrl: `http://127.0.0.1:${String(port)}` });
    for (let run = 0; run < 100; run += 1) {
      const commit = String(run).padStart(40, '0');
      begin(commit);
      end(commit);
    }

    await statuses.close();

    expect(logged).toContain('too many are waiting');
    expect(/"untold":(\d+)/.exec(logged)?.[1]).toBe('200');
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('are refused without a token, or where one would go in the clear', () => {
    expect(() => open({ environment: {} })).toThrow(TOKEN);
    expect(() => open({ forgeUrl: 'http://forge.example.com' })).toThrow('https only');
  });
});
