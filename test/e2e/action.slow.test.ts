import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startTestRunner, type ActionResult, type TestRunner } from '../support/action.js';
import { githubJob, startTestForge, type TestForge } from '../support/forge.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const flag = (percent: number): string => flagText('alpha', percent, { staging: '' });

describe('the GitHub action', () => {
  const scenario = useScenario();
  let forge: TestForge;
  let runner: TestRunner;
  let base: string;

  beforeEach(async () => {
    forge = await startTestForge('github');
    runner = await startTestRunner();
    onTestFinished(async () => {
      await runner[Symbol.asyncDispose]();
      await forge.close();
    });
    const files = { 'flagkeel.yaml': STAGING_CONFIG, 'flags/alpha.yaml': flag(10) };
    base = scenario.commit(files, 'Add a flag');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    scenario.repository.git('checkout', '--quiet', '-b', 'ramp');
    scenario.commit({ 'flags/alpha.yaml': flag(25) }, 'Ramp alpha');
    scenario.service.requests.length = 0;
  });

  async function act(
    inputs: Readonly<Record<string, string>>,
    terminateAfter?: () => Promise<void>,
  ): Promise<ActionResult> {
    const head = { sha: scenario.repository.git('rev-parse', 'HEAD'), repo: { id: 1 } };
    const pull = { number: 7, head, base: { sha: base, repo: { id: 1 } } };
    const { GITHUB_TOKEN: token, ...env } = githubJob(forge, runner.temporary, {
      pull_request: pull,
    });
    const given = {
      url: scenario.service.origin,
      key: scenario.service.key,
      'forge-token': token,
    };
    return runner.action(
      { ...given, ...inputs },
      {
        cwd: scenario.repository.directory,
        ...(terminateAfter && { terminateAfter }),
        env,
      },
    );
  }

  it('reviews a pull request, and leaves nothing behind', async () => {
    const run = await act({ command: 'review', extra: '--sarif\n  found here.sarif\n' });

    expect(run, run.stderr).toMatchObject({ code: 0, outputs: 'exit-code=0\n' });
    expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('10 → 25 %')]);
    expect(run.stdout).toContain('10 → 25 %');
    expect(existsSync(join(scenario.repository.directory, 'found here.sarif'))).toBe(true);
    expect(scenario.writes()).toEqual([]);
    expect(readdirSync(runner.temporary)).toEqual(['event.json']);
  });

  it('installs what it names, whatever the checkout says, and runs no script for that', async () => {
    const mark = join(scenario.repository.directory, 'ran');
    scenario.commit(
      {
        '.npmrc': 'registry=http://127.0.0.1:9/\n',
        'package.json': '{ "name": "trap", "type": "commonjs" }',
        'node_modules/flagkeel/package.json':
          '{ "name": "flagkeel", "version": "0.1.0", "bin": "dist/main.js" }',
        'node_modules/flagkeel/dist/main.js': `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`,
      },
      'Set a trap',
    );

    const run = await act({ command: 'review' });

    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(runner.requests).toContain('/program.tgz');
    expect(existsSync(mark)).toBe(false);
    expect(existsSync(runner.scriptMark)).toBe(false);
  });

  it('hands words over as they are, also those that a shell would run', async () => {
    const mark = join(scenario.repository.directory, 'ran');

    const run = await act({ command: 'reconcile', since: `$(touch ${mark}); "\`touch ${mark}\`` });

    expect(run).toMatchObject({ code: 1, outputs: 'exit-code=1\n' });
    expect(run.stderr).toContain('cannot find revision');
    expect(existsSync(mark)).toBe(false);
    expect(scenario.writes()).toEqual([]);
  });

  it('passes on that the job is cancelled, so that no status stays open', async () => {
    scenario.service.failNext({ path: /splits|definitions/ }, 'hang');
    const run = await act({ command: 'review' }, async () => {
      while (scenario.service.faultsLeft() > 0)
        await new Promise((resolve) => setTimeout(resolve, 20));
    });

    expect(run, run.stderr).toMatchObject({ code: 143, outputs: 'exit-code=143\n' });
    expect(forge.statuses.length).toBeGreaterThan(0);
    const last = new Map(forge.statuses.map(({ context, state }) => [context, state]));
    expect([...last.values()]).not.toContain('pending');
    expect(readdirSync(runner.temporary)).toEqual(['event.json']);
  });
});
