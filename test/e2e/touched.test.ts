import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openRun } from '../../src/compose/run.js';
import { operatorSettings } from '../../src/compose/settings.js';
import { reconcile } from '../../src/reconcile/reconcile.js';
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
    // On a busy machine what was read would be too old to be written over, and be read again.
    const started = Date.now();
    await using run = await open({ touchedSince: touched ? 'memory' : undefined });
    return await reconcile(run.context, {
      openWriter: run.openWriter,
      now: () => started,
      signal,
      progress: {},
      note: {},
      onKill: () => undefined,
    });
  }

  function readsBeforeWrite(): number {
    return scenario.service.requests.findIndex(({ method }) => method !== 'GET');
  }

  it('asks for the place, and for each object that was touched a few questions, by few processes of git', async () => {
    const idle = await cycle();
    expect(idle).toMatchObject({ converged: true, plan: { observed: 'touched', changes: [] } });
    expect(
      scenario.service.requests.map(({ method, path }) => `${method} ${path.split('/')[4] ?? ''}`),
    ).toEqual(['GET workspaces', 'GET environments']);

    const seven = flag('f-7', { on: 50, more: 'description: Seven\n' });
    scenario.commit({ 'flags/f-7.yaml': seven }, 'Ramp seven');
    const done = await cycle();
    expect(done).toMatchObject({ converged: true, plan: { observed: 'touched' } });
    expect(done.plan.changes.map(({ id }) => id)).toEqual([
      'flag/f-7',
      'flag/f-7@staging',
      'flag/f-7@production',
    ]);
    expect(readsBeforeWrite()).toBeLessThanOrEqual(6);
    expect(scenario.service.requests.length).toBeLessThanOrEqual(5 + 3 + 3);

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

  it('is asked for by --touched over the state of an earlier run, and says what it did not look at', async () => {
    scenario.commit({ 'flags/f-7.yaml': flag('f-7', { on: 50 }) }, 'Ramp seven');

    const { stdout, code } = await scenario.reconcile('--touched');

    expect(code).toBe(0);
    expect(stdout).toContain('drift elsewhere was not');
    const planned = await scenario.dryRun<{ observed: string; changes: unknown[] }>('--touched');
    expect(planned).toMatchObject({ observed: 'touched', changes: [], code: 0 });
    expect((await scenario.dryRun<{ observed: string }>()).observed).toBe('full');
  });
});
