import { describe, expect, it } from 'vitest';
import type { WireFlag } from '../../src/admin-api/wire.js';

import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { STAGING_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

function pay(on: number, description: string): string {
  return `flag: pay
description: ${description}
trafficType: user
unmanaged: [description]
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
    defaultRule: { "on": ${on}, "off": rest }
    unmanaged: [defaultRule]
`;
}

describe('fields that people own', () => {
  it('are sent at the creation, and stay as people set them, whatever the files say', async () => {
    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': pay(10, 'Old') }, 'Add');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    const live = await liveWorkspace(scenario.service);
    const flag = `/splits/ws/${live.id}/pay`;
    expect(await live.ok<WireFlag>('GET', flag)).toMatchObject({ description: 'Old' });
    expect(await live.definition('pay', 'staging')).toMatchObject({
      defaultRule: [{ size: 10 }, {}],
    });

    await live.set('pay', { on: 60 }, 'staging');
    await live.ok('PATCH', flag, [{ op: 'replace', path: '/description', value: 'By hand' }]);
    scenario.commit({ 'flags/pay.yaml': pay(20, 'New') }, 'Change what people own');
    const written = scenario.writes().length;

    const run = await scenario.reconcile();
    const plan = await scenario.dryRun();

    expect(run).toMatchObject({ code: 0 });
    expect(scenario.writes()).toHaveLength(written);
    expect(await live.share('pay', 'staging')).toBe(60);
    const text = run.stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain('People own the percentages (defaultRule) of flag/pay@staging: no run');
    expect(text).toContain('People own description of flag/pay: no run');
    expect(plan.leftToPeople).toEqual([
      { id: 'flag/pay', fields: ['description'] },
      { id: 'flag/pay@staging', fields: ['defaultRule'] },
    ]);
  });

  it('are what `import --unmanaged` says, and the next plan is empty', async () => {
    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': pay(10, 'Old') }, 'Add');
    await scenario.reconcile();

    const fields = ['--unmanaged', 'defaultRule', '--unmanaged', 'tags', '--overwrite'];
    const imported = await scenario.run('import', ...fields, '--environment', 'staging');
    const refused = await scenario.run('import', '--unmanaged', 'percentages');

    expect(imported).toMatchObject({ code: 0 });
    expect(scenario.text('flags/pay.yaml')).toMatch(
      /^unmanaged: \[\s*tags\s*\]$[^]*^ {4}unmanaged: \[\s*defaultRule\s*\]$/m,
    );
    scenario.commit({}, 'Import');
    expect(await scenario.dryRun('--detailed-exitcode')).toMatchObject({ code: 0, changes: [] });
    expect(refused).toMatchObject({ code: 64 });
    expect(refused.stderr).toContain('defaultRule');
  });
});
