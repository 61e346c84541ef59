import { beforeEach, describe, expect, it } from 'vitest';
import { startFlagkeel, type CliResult, type RunningCli } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG = 'workspace: Default\nenvironments: { staging: {}, production: {} }\n';

interface PlanJson {
  readonly changes: { id: string; reason: string; outcome?: string }[];
}

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

const scenario = useScenario();

beforeEach(async () => {
  scenario.commit(
    {
      'flagkeel.yaml': CONFIG,
      'flags/alpha.yaml': flagText('alpha', 10),
      'flags/beta.yaml': flagText('beta', 10),
    },
    'Add two flags',
  );
  expect(await reconcile()).toMatchObject({ code: 0 });
  scenario.commit(
    {
      'flags/alpha.yaml': flagText('alpha', 20),
      'flags/beta.yaml': flagText('beta', 20),
    },
    'Ramp both to 20 %',
  );
  scenario.service.requests.length = 0;
});

function started(...args: readonly string[]): RunningCli {
  return startFlagkeel(
    ['reconcile', ...args, '--url', scenario.service.origin, scenario.repository.directory],
    { env: scenario.env },
  );
}

async function reconcile(...args: readonly string[]): Promise<CliResult> {
  return started(...args).ended;
}

async function left(): Promise<string[]> {
  const { stdout } = await reconcile('--dry-run', '--format', 'json');
  return (JSON.parse(stdout) as PlanJson).changes.map(({ id, reason }) => `${id} ${reason}`);
}

function outcomesIn({ stdout }: CliResult): string[] {
  return (JSON.parse(stdout) as PlanJson).changes.map(
    ({ id, outcome }) => `${id} ${outcome ?? ''}`,
  );
}

function writes(): string[] {
  return scenario.service.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method }) => method);
}

describe.each(SIGNALS)('%s', (signal, code) => {
  it('while the service is read ends the run before anything is written', async () => {
    scenario.service.failNext({ method: 'GET', path: /\/splits\/ws\// }, 'hold');
    const run = started();
    await scenario.service.held();

    run.send(signal);

    expect(await run.ended).toMatchObject({ code });
    expect(writes()).toEqual([]);
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await left()).toEqual([]);
  });

  it('during a write lets it finish, skips the rest, and remembers what was done', async () => {
    scenario.service.failNext({ method: 'PATCH' }, 'hold');
    const run = started('--format', 'json', '--concurrency', '1');
    await scenario.service.held();

    run.send(signal);
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
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await left()).toEqual([]);
  });

  it('while the service holds requests back ends the waiting', async () => {
    let isLimiting = true;
    scenario.service.failAtRandom((method) => (isLimiting && method === 'PATCH' ? 429 : undefined));
    const run = started('--format', 'json');
    await run.says('waiting ');

    run.send(signal);
    const ended = await run.ended;
    isLimiting = false;

    expect(ended.code).toBe(code);
    expect(outcomesIn(ended).map((each) => each.split(' ')[1])).toEqual(Array(4).fill('skipped'));
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await left()).toEqual([]);
  });
});

it('writes that are under way side by side are all finished, and the rest is skipped', async () => {
  for (const name of ['alpha', 'beta']) {
    scenario.service.failNext({ method: 'PATCH', path: new RegExp(name) }, 'hold');
  }
  const run = started('--format', 'json');
  await expect.poll(() => scenario.service.faultsLeft(), { timeout: 30_000 }).toBe(0);
  run.send('SIGTERM');
  await run.says('interrupted: ');
  scenario.service.release();

  const ended = await run.ended;

  expect(ended.code).toBe(143);
  expect(outcomesIn(ended)).toEqual([
    'flag/alpha@staging applied',
    'flag/beta@staging applied',
    'flag/alpha@production skipped',
    'flag/beta@production skipped',
  ]);
  expect(writes()).toEqual(['PATCH', 'PATCH']);
  expect(await left()).toEqual(['flag/alpha@production commit', 'flag/beta@production commit']);
});

it('a creation that was interrupted is finished by the next run as what it is, our own', async () => {
  scenario.commit({ 'flags/gamma.yaml': flagText('gamma', 30) }, 'Add gamma');
  scenario.service.failNext({ method: 'POST', path: /\/trafficTypes\/user$/ }, 'hold');
  const run = started('--only', 'flag/gamma');
  await scenario.service.held();
  run.send('SIGTERM');
  await run.says('interrupted: ');
  scenario.service.release();
  expect(await run.ended).toMatchObject({ code: 143 });
  expect(writes()).toEqual(['POST']);

  const next = await reconcile('--only', 'flag/gamma');

  expect(next).toMatchObject({ code: 0 });
  expect(next.stdout).not.toContain('adopt');
  expect((await left()).filter((each) => each.includes('gamma'))).toEqual([]);
});

it('a second signal ends the run at once, and the next run converges', async () => {
  scenario.service.failNext({ method: 'PATCH' }, 'hold');
  const run = started();
  await scenario.service.held();
  run.send('SIGINT');
  await run.says('interrupted: ');

  run.send('SIGINT');

  expect(await run.ended).toMatchObject({ code: 130, stdout: '' });
  scenario.service.release();
  expect(await reconcile()).toMatchObject({ code: 0 });
  expect(await left()).toEqual([]);
});

describe('two runs at once', () => {
  let first: RunningCli;

  beforeEach(async () => {
    scenario.service.failNext({ method: 'PATCH' }, 'hold');
    first = started();
    await scenario.service.held();
  });

  it('lets the second one wait with --lock-timeout, and it finds nothing left to do', async () => {
    const second = started('--lock-timeout', '60s', '--format', 'json');
    await second.says('waiting for another run');
    scenario.service.release();

    expect(await first.ended).toMatchObject({ code: 0 });
    const waited = await second.ended;
    expect(waited.code).toBe(0);
    expect(outcomesIn(waited)).toEqual([]);
    expect(writes()).toHaveLength(4);
  });

  it('lets a signal end the waiting for the other', async () => {
    const second = started('--lock-timeout', '60s');
    await second.says('waiting for another run');
    second.send('SIGINT');

    const ended = await second.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain('cannot lock the state: interrupted');
    scenario.service.release();
    expect(await first.ended).toMatchObject({ code: 0 });
  });
});
