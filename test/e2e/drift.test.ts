import { beforeEach, describe, expect, it } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { replacing } from '../support/exchanges.js';
import { useScenario } from '../support/scenario.js';
import { PROTECTED_CONFIG } from '../support/spec-texts.js';
import { ruleOn } from '../support/service-calls.js';

const CHECKOUT = `# The new checkout, see the wiki.
flag: checkout
description:   One page   # keep it short
trafficType: user
tags: [ checkout,web ]
treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production:
    # Asked for by the payments team.
    targets:
      "on":
        - qa-1   # Ana's account
        - qa-2
    rules:
      # Contractors have an old contract.
      - name: contractors
        if:   { attribute: contract, in: [old] }
        serve: "off"
      - name: half of the staff
        if: { segment: staff }
        serve: { "on": 50, "off": rest }   # since May
    killed: false

    defaultRule: { "on": 10, "off": rest } # next step: 25
`;

const STAFF = `segment: staff
trafficType: user
environments:
  production:
    # Kept by hand.
    keysFile: staff.production.keys
`;

const KEYS = '# Berlin\nu-1\nu-2\n\n# Madrid\nu-3\n';

describe('drift', () => {
  const scenario = useScenario();
  const { run, text } = scenario;
  let live: LiveWorkspace;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    const segment = { 'segments/staff.yaml': STAFF, 'segments/staff.production.keys': KEYS };
    const files = { 'flagkeel.yaml': PROTECTED_CONFIG, 'flags/checkout.yaml': CHECKOUT };
    scenario.commit({ ...files, ...segment }, 'Put the checkout under git');
    const applied = await run('reconcile');
    expect(applied, applied.stdout + applied.stderr).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
  });

  /** By hand on the service: fields of all sorts, the keys of a target, of a segment, a kill. */
  async function changeEverything(): Promise<void> {
    const old = ruleOn({ type: 'IN_LIST_STRING', attribute: 'contract', strings: ['old'] }, 'off');
    const staff = ruleOn({ type: 'IN_SEGMENT', string: 'staff' });
    const fresh = ruleOn({ type: 'IN_LIST_STRING', attribute: 'country', strings: ['NO'] });
    await live.ok('PATCH', live.at('checkout'), [
      ...replacing('/rules', [fresh, old, staff]),
      ...replacing('/treatments/0/keys', ['qa-1', '0012']),
    ]);
    await live.set('checkout', { on: 25, killed: true });
    await live.set('checkout', { trafficAllocation: 60 }, 'staging');
    const described = replacing('/description', 'Two pages');
    await live.ok('PATCH', `/splits/ws/${live.id}/checkout`, described);
    const segment = `/segments/${live.production}/staff`;
    await live.ok('PUT', `${segment}/upload`, ['u-4']);
    await live.ok('PUT', `${segment}/removeKeys`, { keys: ['u-2'], comment: 'left' });
    scenario.service.requests.length = 0;
  }

  it('shows what is live and not in git, adopts it with comments and lines kept, and is none then', async () => {
    const none = await run('drift');
    expect(none, none.stderr).toMatchObject({ code: 0 });
    expect(none.stdout).toBe('No drift: 5 objects equal.\n');
    await changeEverything();

    const drift = await run('drift', '--show-keys');
    const document = await run('drift', '--format', 'json');
    expect(drift, drift.stderr).toMatchObject({ code: 2 });
    expect(drift.stdout).toContain('~ flag/checkout@production changed outside git');
    expect(drift.stdout).toContain('~ segment/staff@production changed outside git');
    expect(drift.stdout).toMatch(/on 10 %.*→.*on 25 %|10.*→.*25/);
    expect(drift.stdout).toContain('Drift: 4 objects; 1 object equal.');
    expect(document.code).toBe(2);
    expect(JSON.parse(document.stdout)).toMatchObject({ formatVersion: 1, stateless: false });
    expect(scenario.repository.git('status', '--porcelain')).toBe('');

    const edited = CHECKOUT.replace('New', 'Newer');
    scenario.repository.write({ 'flags/checkout.yaml': edited });
    const refused = await run('drift', '--adopt');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('cannot write what is live into flags/checkout.yaml');
    expect(text('flags/checkout.yaml')).toBe(edited);
    expect(text('segments/staff.production.keys')).toBe(KEYS);
    scenario.repository.write({ 'flags/checkout.yaml': CHECKOUT });

    const adopted = await run('drift', '--adopt');
    expect(adopted, adopted.stdout + adopted.stderr).toMatchObject({ code: 0 });
    expect(adopted.stdout).toContain('Wrote flag/checkout@production into flags/checkout.yaml.');
    const edits = [
      ['description:   One page  ', 'description: Two pages'],
      ['staging: { d', 'staging: { trafficAllocation: 60, d'],
      [/- qa-1(.*)\n *- qa-2/, '- "0012"\n        - qa-1$1'],
      ['rules:\n', 'rules:\n      - if: { attribute: country, in: ["NO"] }\n        serve: "on"\n'],
      ['serve: { "on": 50, "off": rest }  ', 'serve: "on"'],
      ['killed: false', 'killed: true'],
      ['"on": 10, "off": rest', '"on": 25, "off": 75'],
    ] as const;
    expect(text('flags/checkout.yaml')).toBe(
      edits.reduce((file, [before, after]) => file.replace(before, after), CHECKOUT),
    );
    expect(text('segments/staff.production.keys')).toBe('# Berlin\nu-1\n\n# Madrid\nu-3\nu-4\n');
    expect(text('segments/staff.yaml')).toBe(STAFF);
    expect(scenario.repository.git('log', '--format=%s')).toBe('Put the checkout under git');
    expect(scenario.writes()).toEqual([]);
    scenario.repository.commit('Take what is live into git');
    expect(await run('drift')).toMatchObject({ code: 0 });
    expect(await run('reconcile')).toMatchObject({ code: 0 });

    const ramped = text('flags/checkout.yaml').replace('25, "off": 75', '30, "off": 70');
    scenario.commit({ 'flags/checkout.yaml': ramped }, 'Ramp to 30 %');
    const pending = await run('drift');
    expect(pending).toMatchObject({ code: 2 });
    expect(pending.stdout).toContain('Not applied: 1 change of git, which is no drift');
    expect(pending.stdout).toContain('No drift');

    await live.ok('DELETE', live.at('checkout', 'staging'));
    const gone = await run('drift', '--adopt');
    expect(gone.code).toBe(2);
    expect(gone.stdout).toContain('- flag/checkout@staging gone from the service');
    expect(gone.stdout).toContain('Left flag/checkout@staging: gone from the service');
  });
});
