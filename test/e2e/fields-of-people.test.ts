import { beforeEach, describe, expect, it } from 'vitest';
import type { WireFlag } from '../../src/admin-api/wire.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { STAGING_CONFIG, flagText } from '../support/spec-texts.js';

const scenario = useScenario();
let live: LiveWorkspace;

beforeEach(async () => {
  live = await liveWorkspace(scenario.service);
});

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

const marked = (tag: string): string => `${STAGING_CONFIG}ownershipTag: ${tag}\n`;
const PAY = flagText('pay', 10, { staging: '' });
const cart = `${flagText('cart', 10, { staging: '' })}tags: [web]\n`;
const free = `${flagText('free', 10, { staging: '' })}tags: [web]\nunmanaged: [tags]\n`;

describe('the tag that marks flags of git', () => {
  it('is set with the creation, by no adoption written into a file, and taken away with its key, beside the tags of people', async () => {
    const tagsOf = async (name: string): Promise<string[]> => {
      const { tags } = await live.ok<WireFlag>('GET', `/splits/ws/${live.id}/${name}`);
      return (tags ?? []).map((tag) => tag.name).toSorted();
    };
    const setTags = async (name: string, ...names: string[]): Promise<unknown> =>
      live.ok('PATCH', `/splits/ws/${live.id}/${name}`, [
        { op: 'replace', path: '/tags', value: names.map((each) => ({ name: each })) },
      ]);
    const files = { 'flags/pay.yaml': PAY, 'flags/cart.yaml': cart, 'flags/free.yaml': free };
    scenario.commit({ 'flagkeel.yaml': marked('git'), ...files }, 'Add');

    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect(await tagsOf('pay')).toEqual(['git']);
    expect(await tagsOf('cart')).toEqual(['git', 'web']);

    await setTags('pay', 'git', 'theirs');
    await setTags('free', 'theirs');
    const quiet = await scenario.dryRun();
    expect(quiet).toMatchObject({ changes: [], withheld: [] });
    expect(quiet.leftToPeople).toEqual([{ id: 'flag/free', fields: ['tags'] }]);

    await setTags('cart', 'git', 'web', 'theirs');
    await setTags('pay', 'theirs');
    const adopted = await scenario.run('drift', '--adopt');
    expect(adopted.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'the service lacks only the tag "git" of flagkeel.yaml: let a run set it again',
    );
    expect(scenario.text('flags/cart.yaml')).toMatch(/^tags: \[\s*theirs, web\s*\]$/m);
    expect(scenario.text('flags/pay.yaml')).toBe(PAY);
    scenario.commit({}, 'Adopt');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });

    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG }, 'Mark nothing');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect(await tagsOf('pay')).toEqual(['theirs']);
    expect(await tagsOf('cart')).toEqual(['theirs', 'web']);
    expect(await tagsOf('free')).toEqual(['theirs']);
    expect(await scenario.dryRun()).toMatchObject({ changes: [], withheld: [] });
  });

  it('has a way out that sets it again where drift is only reported, and not the one that leaves it lost', async () => {
    const place = `/splits/ws/${live.id}/pay`;
    const reported = `${marked('git')}onDrift: report\n`;
    scenario.commit({ 'flagkeel.yaml': reported, 'flags/pay.yaml': PAY }, 'Add');
    await scenario.reconcile();
    await live.ok('PATCH', place, [{ op: 'replace', path: '/tags', value: [] }]);

    const { withheld } = await scenario.dryRun();

    const way = 'flagkeel reconcile --revert-drift --only flag/pay';
    expect(withheld).toMatchObject([{ wayOut: `run \`${way}\` to write what git says` }]);
    expect(await scenario.run(...way.split(' ').slice(1))).toMatchObject({ code: 0 });
    expect((await live.ok<WireFlag>('GET', place)).tags).toMatchObject([{ name: 'git' }]);
  });
});
