import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flaghoist, type CliResult } from '../support/cli.js';
import { ConfigRepository } from '../support/config-repository.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG =
  'workspace: Default\nenvironments:\n  staging: {}\n  production: { protected: false }\n';

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
  readonly converged?: boolean;
}

describe('a run that does not reach everything', () => {
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
  });

  afterEach(async () => {
    await service.stop();
    repository[Symbol.dispose]();
  });

  async function reconcile(...args: readonly string[]): Promise<CliResult> {
    return flaghoist(['reconcile', ...args, '--url', service.origin, repository.directory], {
      env: { FLAGHOIST_API_KEY: service.key },
    });
  }

  async function plannedReasons(): Promise<string[]> {
    const { stdout } = await reconcile('--dry-run', '--format', 'json');
    return (JSON.parse(stdout) as PlanJson).changes.map(({ id, reason }) => `${id} ${reason}`);
  }

  it('filtered to one environment, it leaves the others planned as commits', async () => {
    expect(await reconcile('--environment', 'staging')).toMatchObject({ code: 0 });

    expect(await plannedReasons()).toEqual([
      'flag/alpha@production commit',
      'flag/beta@production commit',
    ]);
  });

  it('filtered to one object, it leaves the others planned as commits', async () => {
    expect(await reconcile('--only', 'flag/beta')).toMatchObject({ code: 0 });

    expect(await plannedReasons()).toEqual([
      'flag/alpha@staging commit',
      'flag/alpha@production commit',
    ]);
  });

  it('failing half-way, it says what was applied, failed and skipped, and leaves the rest planned as commits', async () => {
    const broken = { method: 'PATCH', path: /\/alpha\/environments\// };
    for (let times = 0; times < 20; times += 1) service.failNext(broken, 503);

    const run = await reconcile('--format', 'json', '--timeout', '3s');

    const result = JSON.parse(run.stdout) as PlanJson;
    expect(run.code).toBe(5);
    expect(result.converged).toBe(false);
    expect(result.changes.map(({ id, outcome }) => `${id} ${outcome ?? ''}`)).toEqual([
      'flag/alpha@staging failed',
      'flag/beta@staging applied',
      'flag/alpha@production skipped',
      'flag/beta@production applied',
    ]);
    expect(await plannedReasons()).toEqual([
      'flag/alpha@staging commit',
      'flag/alpha@production commit',
    ]);
  });
});
