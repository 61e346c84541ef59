import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFlagkeel, type CliResult } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const NAMES = Array.from({ length: 12 }, (_, i) => `flag-${i}`);

describe.each(['auto', 'true'])('two clones that run at once, with state.push: %s', (push) => {
  const scenario = useScenario();
  let folder: string;
  let clones: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-e2e-'));
    const config = `workspace: Default\nstate: { push: ${push} }\nenvironments:\n  staging: {}\n  production: { protected: true }\n`;
    scenario.commit({ 'flagkeel.yaml': config, ...flags(10) }, 'Add flags');
    const origin = join(folder, 'origin.git');
    execFileSync('git', ['clone', '--quiet', '--bare', scenario.repository.directory, origin]);
    clones = ['one', 'two'].map((name) => join(folder, name));
    for (const clone of clones) execFileSync('git', ['clone', '--quiet', origin, clone]);
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function flags(percent: number): Record<string, string> {
    const text = (name: string): string => flagText(name, percent, { staging: '', production: '' });
    return Object.fromEntries(NAMES.map((name) => [`flags/${name}.yaml`, text(name)]));
  }

  async function start(clone: string | undefined, ...args: readonly string[]): Promise<CliResult> {
    const words = ['reconcile', ...args, '--url', scenario.service.origin, clone ?? ''];
    return startFlagkeel(words, { env: scenario.env }).ended;
  }

  it('exclude each other: the second is refused before it sends anything', async () => {
    const [one, two] = clones;
    scenario.service.failNext({ method: 'POST' }, 'hold');
    const first = start(one, '--concurrency', '1');
    await scenario.service.held();

    const refused = await start(two);
    scenario.service.release();

    expect(refused).toMatchObject({ code: 7, stdout: '' });
    expect(refused.stderr).toContain('cannot lock the shared state');
    expect(await first).toMatchObject({ code: 0 });
    expect(scenario.writes()).toHaveLength(3 * NAMES.length);
  });

  it('wait for each other with --lock-timeout, and the second finds nothing to do', async () => {
    const runs = await Promise.all(
      clones.map(async (each) => start(each, '--lock-timeout', '60s')),
    );

    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const summaries = runs.map(({ stdout }) => stdout.trimEnd().split('\n').at(-1));
    expect(summaries.toSorted()).toEqual([
      expect.stringContaining('Applied: 36 created'),
      expect.stringMatching(/^In sync: 36 objects equal/),
    ]);
    expect(scenario.writes()).toHaveLength(3 * NAMES.length);
  });
});
