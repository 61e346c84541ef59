import { beforeEach, describe, expect, it } from 'vitest';
import { murmur32 } from '../../support/bucketing.js';
import type { ConfigRepository } from '../../support/git.js';
import { liveWorkspace, type LiveWorkspace } from '../../support/live-workspace.js';
import { sharesOf } from '../../support/on-off.js';
import { useScenario } from '../../support/scenario.js';
import { aDefinition } from '../../support/service-calls.js';
import type { TestService } from '../../support/service.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

const CONFIG = `workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
references: { segments: [staff], flags: [cart] }
`;
const PAY = `flag: pay
rolloutStatus: Ramping
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production:
    rules: [{ if: { segment: staff }, serve: "on" }]
    defaultRule: { "on": 10, "off": 90 }
`;

/** The key is in no segment. */
const ABOUT = [
  ...['explain', '--online', 'flag/pay', '--environment', 'production'],
  ...['--segment', 'cart', '--key'],
];

const scenario = useScenario();
let service: TestService;
let live: LiveWorkspace;
let repository: ConfigRepository;
beforeEach(async () => {
  ({ service, repository } = scenario);
  repository.write({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': PAY });
  repository.commit('Begin');
  live = await liveWorkspace(service);
  await live.ok('POST', `/segments/ws/${live.id}/trafficTypes/user`, { name: 'staff' });
  for (const environment of [live.staging, live.production]) {
    await live.ok('POST', `/segments/${environment}/staff`);
  }
  await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name: 'cart' });
  service.requests.length = 0;
});

async function run(...args: readonly string[]): Promise<CliRun> {
  return cliRun([...args, repository.directory], {
    FLAGKEEL_API_KEY: service.key,
    FLAGKEEL_URL: service.origin,
  });
}

describe('validate --online', () => {
  it('finds nothing where the service has all that is named, and only reads', async () => {
    expect((await run('explain', 'flag/pay')).stdout).not.toContain('on the service');
    expect(service.requests).toEqual([]);
    const result = await run('validate', '--online');

    expect(result).toMatchObject({
      exitCode: 0,
      stdout: 'valid: 1 flag, 0 segments, 2 environments\n',
    });
    expect(service.requests.length).toBeGreaterThan(0);
    expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('names what the service lacks, each at its place and with what may be meant', async () => {
    repository.write({
      'flagkeel.yaml': CONFIG.replace('[staff]', '[staff, stuff]').replace('[cart]', '[card]'),
      'flags/pay.yaml': PAY.replace('Ramping', 'Rampping\ntrafficType: usr'),
      'segments/vip.yaml': 'segment: vip\ntrafficType: customer\n',
    });

    const result = await run('validate', '--online');

    const errors = result.stdout.split('\n').filter((line) => line.includes('error['));
    expect(errors).toEqual([
      'flagkeel.yaml:4:33: error[not-on-service] workspace "Default" has no segment "stuff"; did you mean "staff"?',
      'flagkeel.yaml:4:49: error[not-on-service] workspace "Default" has no flag "card"; did you mean "cart"?',
      'flags/pay.yaml:2:16: error[not-on-service] workspace "Default" has no rollout status "Rampping"; did you mean "Ramping"?',
      'flags/pay.yaml:3:14: error[not-on-service] workspace "Default" has no traffic type "usr"; did you mean "user"?',
      'segments/vip.yaml:2:14: error[not-on-service] workspace "Default" has no traffic type "customer"',
    ]);
    expect(result.exitCode).toBe(3);
    expect((await run('validate')).exitCode).toBe(0);
  });

  it('ends like a run that lacks an environment or the workspace', async () => {
    repository.write({
      'flagkeel.yaml': CONFIG.replace('staging: {},', 'stagging: {},'),
      'flags/pay.yaml': PAY.replace('staging:', 'stagging:'),
    });
    const environment = await run('validate', '--online');
    expect(environment.stdout).toContain(
      'flagkeel.yaml:2:17: error[not-on-service] workspace "Default" has no environment "stagging"; did you mean "staging"?',
    );
    expect(environment.exitCode).toBe(6);

    repository.write({ 'flagkeel.yaml': CONFIG.replace('Default', 'Shop') });
    repository.write({ 'flags/pay.yaml': PAY });
    const workspace = await run('validate', '--online', '--format', 'json');
    expect(JSON.parse(workspace.stdout)).toMatchObject({ valid: false });
    expect(workspace.stdout).toContain('cannot find workspace \\"Shop\\"');
    expect(workspace.exitCode).toBe(6);
  });

  it('asks nothing where the specs are wrong already, and needs a key and --online', async () => {
    repository.write({ 'flags/pay.yaml': PAY.replace('defaultRule: "on"', 'defaultRule: "no"') });
    expect((await run('validate', '--online')).exitCode).toBe(3);
    expect(service.requests).toEqual([]);

    repository.write({ 'flags/pay.yaml': PAY });
    const keyless = await cliRun(['validate', '--online', repository.directory]);
    expect(keyless.exitCode).toBe(6);
    expect((await run('validate', '--url', service.origin)).exitCode).toBe(64);
    expect(service.requests).toEqual([]);
  });
});

describe('explain --online', () => {
  it('says what is live: as git has it, another value, not there, and killed by whom', async () => {
    expect((await run('reconcile', '--adopt')).exitCode).toBe(0);
    const lines = async (): Promise<string[]> => {
      const { stdout } = await run('explain', '--online', 'flag/pay');
      return stdout.split('\n').filter((line) => line.includes('on the service'));
    };
    const asGit = '  on the service: as git has it';
    expect(await lines()).toEqual([asGit, asGit]);

    await live.set('pay', { on: 0, killed: true });
    await live.ok('DELETE', live.at('pay', 'staging'));

    expect(await lines()).toEqual([
      '  on the service: another defaultRule; everybody else → off 100 %',
      '  on the service: killed, and not by git',
      '  on the service: not there',
    ]);
    const { stdout } = await run('explain', '--online', 'flag/pay', '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      environments: [
        { live: { killed: true, differs: ['defaultRule'], defaultRule: sharesOf(0) } },
        { live: null },
      ],
    });
  });

  it('does not call a definition as git has it that a hand killed, or whose kill is not live', async () => {
    expect((await run('reconcile', '--adopt')).exitCode).toBe(0);
    await live.ok('PUT', `${live.at('pay')}/kill`);
    repository.write({ 'kills/staging.yaml': 'kills: { pay: { reason: INC-1 } }' });
    const { stdout } = await run('explain', '--online', 'flag/pay');
    expect(stdout.split('\n').filter((line) => line.includes('on the service'))).toEqual([
      '  on the service: killed, and not by git; otherwise as git has it',
      '  on the service: not killed, although git orders it; otherwise as git has it',
    ]);
  });

  it('does not call a share that a step of its ramp put there another one than that of git', async () => {
    const ramped = PAY.replace('{ "on": 10, "off": 90 }', '"off"\n    ramp: 5, 1h, 25, 1h, 100');
    repository.write({ 'flags/pay.yaml': ramped });
    repository.commit('Ramp');
    expect((await run('reconcile', '--adopt')).exitCode).toBe(0);
    const atShare = async (on: number): Promise<string | undefined> => {
      await live.set('pay', { on });
      const { stdout } = await run('explain', '--online', 'flag/pay');
      return /on the service: (.*)/.exec(stdout)?.[1];
    };

    expect(await atShare(25)).toBe(
      'as git and its ramp have it; everybody else → on 25 %, off 75 %',
    );
    expect(await atShare(30)).toBe('another defaultRule; everybody else → on 30 %, off 70 %');
    // Nor does it answer for a key with the share from before the ramp.
    await atShare(100);
    expect((await run(...ABOUT, 'user-1')).stdout).toContain('⇒ on 100 % (by default rule');
  });

  it('tells what a key gets by the seeds that the service shows', async () => {
    expect((await run('reconcile', '--adopt')).exitCode).toBe(0);
    const { seed = 0, trafficAllocationSeed } = await live.definition('pay');
    const bucketOf = (key: string): number => (murmur32(key, seed) % 100) + 1;
    const keys = Array.from({ length: 1_000 }, (_, index) => `user-${index}`);
    const lucky = keys.find((key) => bucketOf(key) <= 10) ?? '';
    const other = keys.find((key) => bucketOf(key) > 10) ?? '';

    for (const [treatment, key] of Object.entries({ on: lucky, off: other })) {
      expect((await run(...ABOUT, key)).stdout).toContain(
        `⇒ ${treatment} 100 % (by default rule; bucket ${bucketOf(key)} by seed ${seed},`,
      );
    }
    service.requests.length = 0;
    const { stdout } = await run(...ABOUT, lucky, '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      environments: [
        { answer: { bucket: bucketOf(lucky) }, live: { seed, trafficAllocationSeed } },
      ],
    });
    // The look at the flag serves both its line and its answer.
    expect(service.requests.filter((each) => each.path.includes('/pay/'))).toHaveLength(1);
  });

  it('tells shares, and why, where the service shows no seeds', async () => {
    await scenario.restart({ strict: true });
    ({ service } = scenario);
    live = await liveWorkspace(service);
    await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name: 'pay' });
    const definition = aDefinition({ defaultTreatment: 'off' });
    await live.ok('POST', live.at('pay'), definition);

    expect((await run(...ABOUT, 'ana')).stdout).toContain(
      '⇒ off 90 %, on 10 % (by default rule; the service shows no seed, which would tell its bucket)',
    );
    const staff = await run(...ABOUT, 'ana', '--segment', 'staff');
    expect(staff.stdout).toContain('⇒ on 100 % (by rule 1)');
  });
});
