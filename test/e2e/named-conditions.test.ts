import { beforeEach, describe, expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { cliRun, type CliRun } from '../support/terminal.js';

/** The same conditions for many rules. */
const CONFIG = (country: string): string => `workspace: Default
environments: { staging: {} }
defaults: { trafficType: user }
conditions:
  eu-adults: [{ attribute: country, in: [${country}] }, { attribute: age, atLeast: 18 }]
`;

function flag(name: string, condition: string): string {
  return `flag: ${name}
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
    rules:
      - { if: ${condition}, serve: "on" } # ${name}
    defaultRule: "off"
`;
}

const FLAGS = {
  'flags/pay.yaml': flag('pay', '{ use: eu-adults }'),
  'flags/ship.yaml': flag('ship', '[{ attribute: beta, is: true }, { use: eu-adults }]'),
  'flags/other.yaml': flag('other', '{ attribute: beta, is: true }'),
};

interface Change {
  readonly id: string;
  readonly title: string;
  readonly reason: string;
}

describe('a commit that changes a named condition alone', () => {
  const scenario = useScenario({ strict: false });

  const run = async (...args: readonly string[]): Promise<CliRun> =>
    cliRun(
      [...args, '--url', scenario.service.origin, scenario.repository.directory],
      scenario.env,
    );
  const changesOf = ({ stdout }: CliRun): Change[] =>
    (JSON.parse(stdout) as { changes: Change[] }).changes;

  beforeEach(async () => {
    scenario.commit({ 'flagkeel.yaml': CONFIG('ES'), ...FLAGS }, 'Add three flags');
    expect(await run('reconcile')).toMatchObject({ exitCode: 0 });
    scenario.commit({ 'flagkeel.yaml': CONFIG('ES, FR') }, 'Sell to France');
  });

  it('is reviewed, planned and applied for each flag that uses it, under its own title, and stays a name', async () => {
    const review = await run('review', '--since', 'HEAD~1', '--format', 'markdown');
    expect(review.stdout).toContain('pay');
    expect(review.stdout).toContain('ship');
    expect(review.stdout).not.toContain('flag/other');

    const plan = await run('plan', '--since', 'HEAD~1', '--format', 'json');
    const wanted = ['flag/pay@staging', 'flag/ship@staging'].map((id) => {
      return { id, title: 'Sell to France', reason: 'commit' };
    });
    expect(changesOf(plan)).toMatchObject(wanted);
    const applied = await run('reconcile', '--touched', '--format', 'json');
    expect(applied.exitCode).toBe(0);
    expect(changesOf(applied)).toMatchObject(wanted);
    const path = '/splits/ws/Default/ship/environments/staging';
    expect(JSON.stringify(await scenario.call('GET', path))).toContain('["ES","FR"]');
    const history = await cliRun(['history', 'flag/ship', scenario.repository.directory]);
    expect(history.stdout).toContain('Sell to France');
    expect((await run('plan', '--detailed-exitcode')).exitCode).toBe(0);

    // Somebody puts a rule of their own before the one that names the condition.
    const rule = {
      condition: { combiner: 'AND', matchers: [{ type: 'BOOLEAN', attribute: 'vip', bool: true }] },
      buckets: [{ treatment: 'on', size: 100 }],
    };
    const answer = await scenario.call('PATCH', path, [
      { op: 'add', path: '/rules/0', value: rule },
    ]);
    expect(answer).toMatchObject({ rules: [{}, {}] });
    expect((await run('drift', '--adopt')).exitCode).toBe(0);
    expect(scenario.text('flags/ship.yaml')).toContain(
      '- { if: [{ attribute: beta, is: true }, { use: eu-adults }], serve: "on" } # ship',
    );
    expect(scenario.text('flags/ship.yaml')).toContain('attribute: vip');
  });
});
