import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import type { CliResult } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { ruleOn } from '../support/service-calls.js';

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

describe('a commit that changes a named condition alone', () => {
  const scenario = useScenario({ strict: false });
  const { run } = scenario;

  const changesOf = ({ stdout }: CliResult): PlanDocument['changes'] =>
    (JSON.parse(stdout) as PlanDocument).changes;

  beforeEach(async () => {
    scenario.commit({ 'flagkeel.yaml': CONFIG('ES'), ...FLAGS }, 'Add three flags');
    expect(await run('reconcile')).toMatchObject({ code: 0 });
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
    expect(applied.code).toBe(0);
    expect(changesOf(applied)).toMatchObject(wanted);
    const path = '/splits/ws/Default/ship/environments/staging';
    expect(JSON.stringify(await scenario.call('GET', path))).toContain('["ES","FR"]');
    expect((await run('history', 'flag/ship')).stdout).toContain('Sell to France');
    expect((await run('plan', '--detailed-exitcode')).code).toBe(0);

    // Somebody puts a rule of their own before the one that names the condition.
    const rule = ruleOn({ type: 'BOOLEAN', attribute: 'vip', bool: true });
    const answer = await scenario.call('PATCH', path, [
      { op: 'add', path: '/rules/0', value: rule },
    ]);
    expect(answer).toMatchObject({ rules: [{}, {}] });
    expect((await run('drift', '--adopt')).code).toBe(0);
    expect(scenario.text('flags/ship.yaml')).toContain(
      '- { if: [{ attribute: beta, is: true }, { use: eu-adults }], serve: "on" } # ship',
    );
    expect(scenario.text('flags/ship.yaml')).toContain('attribute: vip');
  });
});
