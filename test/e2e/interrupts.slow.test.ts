import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import type { CliResult, RunningCli } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG = 'workspace: Default\nenvironments: { staging: {}, production: {} }\n';

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

const scenario = useScenario();
const { reconcile } = scenario;

beforeEach(async () => {
  const both = (share: number): Record<string, string> => ({
    'flags/alpha.yaml': flagText('alpha', share),
    'flags/beta.yaml': flagText('beta', share),
  });
  scenario.commit({ 'flagkeel.yaml': CONFIG, ...both(10) }, 'Add two flags');
  expect(await reconcile()).toMatchObject({ code: 0 });
  scenario.commit(both(20), 'Ramp both to 20 %');
  scenario.service.requests.length = 0;
});

const started = (...args: readonly string[]): RunningCli => scenario.start('reconcile', ...args);

async function left(): Promise<string[]> {
  return (await scenario.dryRun()).changes.map(({ id, reason }) => `${id} ${reason}`);
}

async function expectNothingLeft(): Promise<void> {
  expect(await reconcile()).toMatchObject({ code: 0 });
  expect(await left()).toEqual([]);
}

function outcomesIn({ stdout }: CliResult): string[] {
  return (JSON.parse(stdout) as PlanDocument).changes.map(
    ({ id, outcome }) => `${id} ${outcome ?? ''}`,
  );
}

const writes = (): (string | undefined)[] =>
  scenario.writes().map((request) => request.split(' ')[0]);

describe.each(SIGNALS)('%s', (signal, code) => {
  it('while the service is read ends the run before anything is written', async () => {
    scenario.service.failNext({ method: 'GET', path: /\/splits\/ws\// }, 'hold');
    const run = started();
    await scenario.service.held();

    run.child.kill(signal);

    expect(await run.ended).toMatchObject({ code });
    expect(writes()).toEqual([]);
    await expectNothingLeft();
  });

  it('during a write lets it finish, skips the rest, and remembers what was done', async () => {
    scenario.service.failNext({ method: 'PATCH' }, 'hold');
    const run = started('--format', 'json', '--concurrency', '1');
    await scenario.service.held();

    run.child.kill(signal);
    await run.says('interrupted: ');
    scenario.service.release();
    const ended = await run.ended;

    expect(ended.code).toBe(code);
    expect(outcomesIn(ended)).toEqual([
      'flag/alpha@staging applied',
      'flag/beta@staging skipped',
      'flag/alpha@production skipped',
      'flag/beta@production skipped',
    ]);
    expect(writes()).toEqual(['PATCH']);
    expect(await left()).toEqual([
      'flag/beta@staging commit',
      'flag/alpha@production commit',
      'flag/beta@production commit',
    ]);
    await expectNothingLeft();
  });
});

it('a second signal ends the run at once, and the next run converges', async () => {
  scenario.service.failNext({ method: 'PATCH' }, 'hold');
  const run = started();
  await scenario.service.held();
  run.child.kill('SIGINT');
  await run.says('interrupted: ');

  run.child.kill('SIGINT');

  expect(await run.ended).toMatchObject({ code: 130, stdout: '' });
  scenario.service.release();
  await expectNothingLeft();
});

it('a second run waits with --lock-timeout, finds nothing left to do, and ends by a signal', async () => {
  scenario.service.failNext({ method: 'PATCH' }, 'hold');
  const first = started();
  await scenario.service.held();
  const second = started('--lock-timeout', '60s', '--format', 'json');
  const third = started('--lock-timeout', '60s');
  await second.says('waiting for another run');
  await third.says('waiting for another run');
  third.child.kill('SIGINT');

  const ended = await third.ended;
  scenario.service.release();
  expect(ended.code).toBe(130);
  expect(ended.stderr).toContain('cannot lock the state: interrupted');
  expect(await first.ended).toMatchObject({ code: 0 });
  const waited = await second.ended;
  expect(waited.code).toBe(0);
  expect(outcomesIn(waited)).toEqual([]);
  expect(writes()).toHaveLength(4);
});
