import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openRun } from '../../src/compose/run.js';
import { operatorSettings } from '../../src/compose/settings.js';
import { plan, reconcile } from '../../src/reconcile/reconcile.js';
import { RunCache } from '../../src/reconcile/cache.js';
import type { Applied, Planned } from '../../src/reconcile/context.js';
import { useScenario } from '../support/scenario.js';
import { PROTECTED_CONFIG } from '../support/spec-texts.js';

const CONFIG = `${PROTECTED_CONFIG}defaults: { trafficType: user }
prune: true
`;

const FLAGS = 12;

function flag(name: string, { on = 10, rule = '', more = '' } = {}): string {
  return `flag: ${name}
rolloutStatus: Ramping
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
${more}environments:
  staging:
${rule}    defaultRule: { "on": ${on}, "off": rest }
  production: { defaultRule: { "on": ${on}, "off": rest } }
`;
}

const BETA = (keys: string): string =>
  `segment: beta\nenvironments: { staging: { keys: [${keys}] }, production: { keys: [a] } }\n`;

const ASKS = (name: string): string =>
  `    rules: [{ if: { flag: ${name}, treatments: ["on"] }, serve: "on" }]\n`;

const IN_BETA = '    rules: [{ if: { segment: beta }, serve: "on" }]\n';

/** What is run, and the arguments of every git that was started by it. */
async function withCountedGit<T>(
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly commands: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-git-'));
  const [log, path] = [join(folder, 'log'), process.env['PATH'] ?? ''];
  const script = `#!/bin/sh\necho "$@" >> ${log}\nPATH=${path} exec git "$@"\n`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  process.env['PATH'] = `${folder}:${path}`;
  try {
    const result = await run();
    return { result, commands: readFileSync(log, 'utf8').trimEnd().split('\n') };
  } finally {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true });
  }
}

describe('a run that looks at what was touched', () => {
  const scenario = useScenario({ strict: false });
  let memory: RunCache;

  beforeEach(async () => {
    memory = new RunCache();
    const flags = Array.from({ length: FLAGS }, (_, index) => `f-${index}`);
    scenario.commit(
      {
        'flagkeel.yaml': CONFIG,
        'segments/beta.yaml': BETA('a, b'),
        ...Object.fromEntries(flags.map((name) => [`flags/${name}.yaml`, flag(name)])),
        'flags/f-1.yaml': flag('f-1', { rule: IN_BETA }),
      },
      'First',
    );
    await cycle();
  });

  async function open(options: {
    touchedSince?: 'memory' | undefined;
    since?: string;
    dryRun?: boolean;
    memory?: RunCache;
  }) {
    const { memory: own = memory, ...flags } = options;
    return openRun(
      scenario.repository.directory,
      { environment: [], only: [], lockTimeout: 0, url: scenario.service.origin, ...flags },
      {
        settings: operatorSettings(scenario.env),
        signal: new AbortController().signal,
        note: () => undefined,
        memory: own,
      },
    );
  }

  /** One run of a process that goes on. */
  async function cycle({ touched = true, signal = new AbortController().signal } = {}): Promise<
    Planned | Applied
  > {
    scenario.service.requests.length = 0;
    await using run = await open({ touchedSince: touched ? 'memory' : undefined });
    return await reconcile(run.context, {
      openWriter: run.openWriter,
      now: Date.now,
      signal,
      progress: {},
      note: {},
      onKill: () => undefined,
    });
  }

  /** What a run would plan that looks at everything and remembers nothing. */
  async function fullPlan(): Promise<Planned> {
    await using run = await open({ dryRun: true, memory: new RunCache() });
    return await plan(run.context);
  }

  function readsBeforeWrite(): number {
    return scenario.service.requests.findIndex(({ method }) => method !== 'GET');
  }

  async function live(name: string, environment: string, path: string, value: unknown) {
    const base = `${scenario.service.origin}/internal/api/v2`;
    const answer = await fetch(`${base}/splits/ws/Default/${name}/environments/${environment}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${scenario.service.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify([{ op: 'replace', path, value }]),
    });
    expect(answer.status).toBe(200);
  }

  it('asks six questions at most before it writes a flag, and as many to be sure', async () => {
    scenario.commit(
      {
        'flags/f-7.yaml': flag('f-7', { on: 50, more: 'description: Seven\n' }),
      },
      'Ramp seven',
    );

    const result = await cycle();

    expect(result).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect(result.plan.changes.map(({ id }) => id)).toEqual([
      'flag/f-7',
      'flag/f-7@staging',
      'flag/f-7@production',
    ]);
    expect(readsBeforeWrite()).toBeLessThanOrEqual(6);
    expect(scenario.service.requests.length).toBeLessThanOrEqual(5 + 3 + 3);
  });

  it('starts five processes of git at most', async () => {
    scenario.commit({ 'flags/f-7.yaml': flag('f-7', { on: 50 }) }, 'Ramp seven');
    await cycle();
    scenario.commit({ 'flags/f-8.yaml': flag('f-8', { on: 50 }) }, 'Ramp eight');

    const { result, commands } = await withCountedGit(cycle);

    expect(result.plan.changes).toHaveLength(2);
    expect(commands.map((each) => each.split(' ').find((word) => /^[a-z]/.test(word)))).toEqual([
      'cat-file',
      'diff-tree',
      'log',
      'fast-import',
      'update-ref',
    ]);
  });

  it('asks for the place alone where nothing was touched', async () => {
    const result = await cycle();

    expect(result).toMatchObject({ converged: true, plan: { observed: 'touched', changes: [] } });
    expect(
      scenario.service.requests.map(({ method, path }) => `${method} ${path.split('/')[4] ?? ''}`),
    ).toEqual(['GET workspaces', 'GET environments']);
  });

  it('plans what a run plans that looks at everything, commit after commit', async () => {
    const commits: (() => void)[] = [
      () => {
        scenario.repository.write({ 'flags/new.yaml': flag('new', { rule: IN_BETA }) });
      },
      () => {
        scenario.repository.write({ 'segments/beta.yaml': BETA('b, c') });
      },
      () => {
        scenario.repository.write({ 'flags/f-10.yaml': flag('f-10', { rule: ASKS('f-1') }) });
      },
      () => {
        scenario.repository.write({ 'flags/f-11.yaml': flag('f-11', { rule: ASKS('f-10') }) });
      },
      () => {
        scenario.repository.write({ 'segments/beta.yaml': BETA('b, c, d') });
      },
      () => {
        scenario.repository.write({ 'flags/f-1.yaml': flag('f-1', { on: 30, rule: IN_BETA }) });
      },
      () => {
        scenario.repository.write({ 'flags/f-2.yaml': flag('f-2', { more: 'tags: [two]\n' }) });
      },
      () => {
        scenario.repository.write({ 'kills/staging.yaml': 'kills: { f-3: { reason: broken } }\n' });
      },
      () => {
        scenario.repository.write({ 'kills/staging.yaml': 'kills: {}\n' });
      },
      () => {
        scenario.repository.remove('flags/f-4.yaml');
      },
      () => {
        scenario.repository.write({ 'flags/f-5.yaml': `# a word\n${flag('f-5')}` });
      },
      () => {
        scenario.repository.move('flags/f-6.yaml', 'flags/moved/f-6.yaml');
      },
      () => {
        scenario.repository.write({
          'flagkeel.yaml': CONFIG.replace('prune: true', 'prune: false'),
        });
      },
      () => {
        scenario.repository.remove('flags/f-11.yaml');
      },
    ];
    for (const [index, change] of commits.entries()) {
      change();
      scenario.repository.commit(`Commit ${index}`);
      const full = await fullPlan();

      const result = await cycle();

      expect(result.plan.observed).toBe('touched');
      expect(result.planHash).toBe(full.planHash);
      expect(result.plan.withheld.map(({ id, why }) => [id, why])).toEqual(
        full.plan.withheld.map(({ id, why }) => [id, why]),
      );
      expect(result.impacts).toEqual(full.impacts);
      expect(result).toMatchObject({ converged: true });
    }
  });

  it('claims nothing of drift elsewhere, and looks again at drift that a full run saw and left', async () => {
    await live('f-9', 'production', '/trafficAllocation', 50);
    const blind = await cycle();
    expect(blind.plan).toMatchObject({ observed: 'touched', changes: [], withheld: [] });

    const full = await cycle({ touched: false });
    expect(full.plan).toMatchObject({ observed: 'full', withheld: [{ why: 'drift-reported' }] });

    expect((await cycle()).plan.withheld).toMatchObject([
      { id: 'flag/f-9@production', why: 'drift-reported' },
    ]);
    await live('f-9', 'production', '/trafficAllocation', 100);
    expect((await cycle()).plan).toMatchObject({
      withheld: [],
      unchanged: expect.arrayContaining(['flag/f-9']) as unknown,
    });
    expect((await cycle()).plan.unchanged).toEqual([]);
  });

  it('looks again at a change that was not made', async () => {
    scenario.commit({ 'flags/f-8.yaml': flag('f-8', { on: 20 }) }, 'Ramp eight');

    const broken = await cycle({ signal: AbortSignal.abort('SIGTERM') });
    expect(broken).toMatchObject({ converged: false, plan: { observed: 'touched' } });
    const again = await cycle();

    expect(again).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect((await fullPlan()).plan.changes).toEqual([]);
  });

  it('looks at everything where the process has just begun, or nothing was ever applied', async () => {
    memory = new RunCache();
    expect((await cycle()).plan.observed).toBe('full');
    expect((await cycle()).plan.observed).toBe('touched');

    const [ref = ''] = scenario.repository
      .git('for-each-ref', '--format=%(refname)', 'refs/flagkeel')
      .split('\n');
    scenario.repository.git('update-ref', '-d', ref);
    expect((await cycle()).plan.observed).toBe('full');
  });

  it('is asked for by --touched over the state of an earlier run, and says what it did not look at', async () => {
    scenario.commit({ 'flags/f-7.yaml': flag('f-7', { on: 50 }) }, 'Ramp seven');

    const { stdout, code } = await scenario.reconcile('--touched');

    expect(code).toBe(0);
    expect(stdout).toContain('drift elsewhere was not');
    const planned = await scenario.dryRun<{ observed: string; changes: unknown[] }>('--touched');
    expect(planned).toMatchObject({ observed: 'touched', changes: [], code: 0 });
    expect((await scenario.dryRun<{ observed: string }>()).observed).toBe('full');
  });

  it('plans a review by what it is about, without a memory', async () => {
    scenario.commit({ 'flags/f-7.yaml': flag('f-7', { on: 50 }) }, 'Ramp seven');
    const options = { since: 'HEAD~1', dryRun: true, memory: new RunCache() };
    scenario.service.requests.length = 0;

    await using run = await open(options);
    const reviewed = await plan(run.context);

    expect(reviewed.plan).toMatchObject({ observed: 'touched' });
    expect(scenario.service.requests.length).toBeLessThanOrEqual(4 + 1 + 2);
    expect(reviewed.planHash).toBe((await fullPlan()).planHash);
  });
});
