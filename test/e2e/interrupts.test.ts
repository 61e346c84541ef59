import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFlaghoist, type CliResult, type RunningCli } from '../support/cli.js';
import { ConfigRepository } from '../support/config-repository.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG = 'workspace: Default\nenvironments: { staging: {}, production: {} }\n';

function flag(name: string, percent: number): string {
  return `flag: ${name}
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${percent}, "off": rest } }
  production: { defaultRule: { "on": ${percent}, "off": rest } }
`;
}

interface PlanJson {
  readonly changes: { id: string; reason: string; outcome?: string }[];
}

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

let repository: ConfigRepository;
let service: TestService;

beforeEach(async () => {
  repository = new ConfigRepository();
  service = await startTestService();
  repository.write({
    'flaghoist.yaml': CONFIG,
    'flags/alpha.yaml': flag('alpha', 10),
    'flags/beta.yaml': flag('beta', 10),
  });
  repository.commit('Add two flags');
  expect(await reconcile()).toMatchObject({ code: 0 });
  repository.write({
    'flags/alpha.yaml': flag('alpha', 20),
    'flags/beta.yaml': flag('beta', 20),
  });
  repository.commit('Ramp both to 20 %');
  service.requests.length = 0;
});

afterEach(async () => {
  service.release();
  await service.stop();
  repository[Symbol.dispose]();
});

function started(...args: readonly string[]): RunningCli {
  return startFlaghoist(['reconcile', ...args, '--url', service.origin, repository.directory], {
    env: { FLAGHOIST_API_KEY: service.key },
  });
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
  return service.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method);
}

describe.each(SIGNALS)('%s', (signal, code) => {
  it('while the service is read ends the run before anything is written', async () => {
    service.failNext({ method: 'GET', path: /\/splits\/ws\// }, 'hold');
    const run = started();
    await service.held();

    run.send(signal);

    expect(await run.ended).toMatchObject({ code });
    expect(writes()).toEqual([]);
    expect(await reconcile()).toMatchObject({ code: 0 });
    expect(await left()).toEqual([]);
  });

  it('during a write lets it finish, skips the rest, and remembers what was done', async () => {
    service.failNext({ method: 'PATCH' }, 'hold');
    const run = started('--format', 'json');
    await service.held();

    run.send(signal);
    await run.says('interrupted: ');
    service.release();
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
    service.failAtRandom((method) => (isLimiting && method === 'PATCH' ? 429 : undefined));
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

it('a creation that was interrupted is finished by the next run as what it is, our own', async () => {
  repository.write({ 'flags/gamma.yaml': flag('gamma', 30) });
  repository.commit('Add gamma');
  service.failNext({ method: 'POST', path: /\/trafficTypes\/user$/ }, 'hold');
  const run = started('--only', 'flag/gamma');
  await service.held();
  run.send('SIGTERM');
  await run.says('interrupted: ');
  service.release();
  expect(await run.ended).toMatchObject({ code: 143 });
  expect(writes()).toEqual(['POST']);

  const next = await reconcile('--only', 'flag/gamma');

  expect(next).toMatchObject({ code: 0 });
  expect(next.stdout).not.toContain('adopt');
  expect((await left()).filter((each) => each.includes('gamma'))).toEqual([]);
});

it('a second signal ends the run at once, and the next run converges', async () => {
  service.failNext({ method: 'PATCH' }, 'hold');
  const run = started();
  await service.held();
  run.send('SIGINT');
  await run.says('interrupted: ');

  run.send('SIGINT');

  expect(await run.ended).toMatchObject({ code: 130, stdout: '' });
  service.release();
  expect(await reconcile()).toMatchObject({ code: 0 });
  expect(await left()).toEqual([]);
});

describe('two runs at once', () => {
  let first: RunningCli;

  beforeEach(async () => {
    service.failNext({ method: 'PATCH' }, 'hold');
    first = started();
    await service.held();
  });

  it('refuses the second one, which writes nothing, and leaves the first alone', async () => {
    expect(await reconcile()).toMatchObject({ code: 7 });

    service.release();
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(writes()).toHaveLength(4);
  });

  it('lets the second one wait with --lock-timeout, and it finds nothing left to do', async () => {
    const second = started('--lock-timeout', '60s', '--format', 'json');
    await second.says('waiting for another run');
    service.release();

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
    service.release();
    expect(await first.ended).toMatchObject({ code: 0 });
  });

  it('lets a dry run look at any time', async () => {
    expect(await reconcile('--dry-run')).toMatchObject({ code: 0 });

    service.release();
    expect(await first.ended).toMatchObject({ code: 0 });
  });
});
