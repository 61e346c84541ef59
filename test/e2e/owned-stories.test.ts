import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { flagkeel, type CliResult } from '../support/cli.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { STAGING_CONFIG, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

/** Runs a command that asks no service. */
async function author(...words: readonly string[]): Promise<CliResult> {
  return flagkeel([...words, scenario.repository.directory]);
}

/** A flag that is declared for staging alone. @param more members at the top of the file. */
function inStaging(name: string, condition: string | null, more = ''): string {
  const rule = `    rules:\n      - { if: ${condition ?? ''}, serve: "on" } # as agreed\n`;
  return `flag: ${name}
trafficType: user
${more}treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
${condition === null ? '' : rule}    defaultRule: "off"
`;
}

it('all flags of a tag are promoted with the segment and the flag that they need, and go live', async () => {
  const tagged = 'tags: [checkout]\n';
  const files = {
    'flagkeel.yaml': UNPROTECTED_CONFIG,
    'flags/pay.yaml': inStaging('pay', '{ segment: beta }', tagged),
    'flags/cart.yaml': inStaging('cart', '{ flag: base, treatments: ["on"] }', tagged),
    'flags/base.yaml': inStaging('base', null),
    'flags/other.yaml': inStaging('other', null),
    'segments/beta.yaml':
      '# Who asked.\nsegment: beta\ntrafficType: user\nenvironments:\n  staging: { keys: [qa-1] }\n',
  };
  scenario.commit(files, 'Add flags');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  const live = await liveWorkspace(scenario.service);
  const inProduction = `/splits/ws/${live.id}/environments/${live.production}`;
  const names = async (): Promise<string[]> => {
    const { objects } = await live.ok<{ objects: WireDefinition[] }>('GET', inProduction);
    return objects.map(({ name }) => name).sort();
  };
  expect(await names()).toEqual([]);

  const words = ['promote', '--tag', 'checkout', '--from', 'staging', '--to', 'production'];
  expect(await author(...words, '--write')).toMatchObject({ code: 0 });
  scenario.commit({}, 'Promote checkout');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });

  expect(scenario.text('flags/pay.yaml').split('# as agreed')).toHaveLength(2);
  expect(scenario.text('segments/beta.yaml')).toContain(files['segments/beta.yaml']);
  expect(await names()).toEqual(['base', 'cart', 'pay']);
  const definition = `/splits/ws/${live.id}/pay/environments/${live.production}`;
  const { rules, defaultRule } = await live.ok<WireDefinition>('GET', definition);
  expect(rules).toMatchObject([
    { condition: { matchers: [{ type: 'IN_SEGMENT', string: 'beta' }] } },
  ]);
  expect(defaultRule).toMatchObject([{ treatment: 'off', size: 100 }]);
  // The keys of people who test in staging stay there.
  expect(await live.ok('GET', `/segments/${live.production}/beta/keys`)).toMatchObject({
    keys: [],
  });
  expect(await scenario.dryRun('--detailed-exitcode')).toMatchObject({ code: 0, changes: [] });
});

describe('a configuration', () => {
  const pay = (steps: string): string => `flag: pay
trafficType: user
configurationSchema: { type: object, properties: { steps: { type: integer, maximum: 5 } } }
treatments:
  "on": { configuration: { steps: ${steps} } }
  "off": Old
defaultTreatment: "off"
environments:
  staging: { defaultRule: "off" }
`;

  it('that its schema refuses is named with its place and is not sent; one that fits is live', async () => {
    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': pay('9') }, 'Add pay');

    const validated = await author('validate');
    const refused = await scenario.reconcile();
    const writes = scenario.writes();
    scenario.commit({ 'flags/pay.yaml': pay('3') }, 'Fewer steps');

    for (const { code, stdout, stderr } of [validated, refused]) {
      expect(code).toBe(3);
      expect(stdout + stderr).toContain('flags/pay.yaml:5:35');
      expect(stdout + stderr).toContain('configuration of "on" at /steps must be <= 5');
      expect(stdout + stderr).toContain('flagkeel explain configuration-mismatch');
    }
    expect(writes).toEqual([]);
    expect(await author('validate')).toMatchObject({ code: 0 });
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    const live = await liveWorkspace(scenario.service);
    const path = `/splits/ws/${live.id}/pay/environments/${live.staging}`;
    const { treatments } = await live.ok<WireDefinition>('GET', path);
    const on = treatments.find(({ name }) => name === 'on');
    expect(JSON.parse(on?.configurations ?? 'null')).toEqual({ steps: 3 });
  });
});
