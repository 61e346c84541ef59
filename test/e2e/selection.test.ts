import { beforeEach, describe, expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

interface PlanJson {
  readonly changes: { readonly id: string; readonly action: string }[];
  readonly leftOut?: { readonly objects: string[]; readonly environments: string[] };
}

const flag = (name: string, percent: number, more: string): string =>
  `${flagText(name, percent, { staging: '' })}${more}`;
const files = (percent: number): Record<string, string> => ({
  'flagkeel.yaml': STAGING_CONFIG,
  'flags/pay.yaml': flag('pay', percent, 'owner: team-pay\ntags: [checkout, web]\n'),
  'flags/cart.yaml': flag('cart', percent, 'owner: team-cart\ntags: [checkout]\n'),
  'flags/search.yaml': flag('search', percent, 'owner: team-search\n'),
});

describe('the objects that a run selects', () => {
  const scenario = useScenario();
  const { reconcile } = scenario;

  beforeEach(() => {
    scenario.commit(files(10), 'Add flags');
  });

  async function planned(...args: string[]): Promise<string[]> {
    const { changes } = await scenario.dryRun<PlanJson>(...args);
    return [...new Set(changes.map(({ id }) => id.split('@')[0] ?? ''))];
  }

  it('are those of any of the tags, or owners, without those that are excluded', async () => {
    expect(await planned('--tag', 'checkout')).toEqual(['flag/cart', 'flag/pay']);
    expect(await planned('--owner', 'team-pay', '--owner', 'team-search')).toEqual([
      'flag/pay',
      'flag/search',
    ]);
    expect(await planned('--tag', 'checkout', '--owner', 'team-cart')).toEqual(['flag/cart']);
    expect(await planned('--exclude', 'flag/pay', '--exclude', 'flag/cart')).toEqual([
      'flag/search',
    ]);
    expect(await planned('--tag', 'checkout', '--exclude', 'flag/pay')).toEqual(['flag/cart']);
  });

  it('are all that is written, and the report counts and names the others', async () => {
    const { stdout } = await reconcile('--tag', 'checkout');
    const paths = scenario.writes().join('\n');
    const { leftOut } = await scenario.dryRun<PlanJson>('--owner', 'team-pay');

    expect(stdout).toContain('Left out by filters, and not looked at: 1 object (flag/search).');
    expect(paths).toContain('/pay');
    expect(paths).not.toContain('search');
    expect(leftOut).toEqual({ objects: ['flag/cart', 'flag/search'], environments: [] });
  });

  it('leave the rest in place: a filter is no removal', async () => {
    await reconcile();
    scenario.commit({ ...files(20), 'flagkeel.yaml': `${STAGING_CONFIG}prune: true\n` }, 'Ramp');
    scenario.service.requests.length = 0;
    expect(await reconcile('--owner', 'team-pay')).toMatchObject({ code: 0 });

    expect(scenario.writes().filter((each) => each.startsWith('DELETE'))).toEqual([]);
    expect(await planned()).toEqual(['flag/cart', 'flag/search']);
  });

  it('come with the kills of all flags but those that are excluded by name', async () => {
    await reconcile();
    scenario.commit(
      { 'kills/staging.yaml': 'kills:\n  search: { reason: INC-1 }\n  cart: { reason: INC-2 }\n' },
      'Kill two',
    );
    const { stderr } = await reconcile('--tag', 'web', '--exclude', 'flag/cart');

    expect(stderr).toContain('killed flag/search@staging');
    expect(stderr).not.toContain('flag/cart');
  });

  it.each([
    ['--tag', 'checkuot', 'did you mean "checkout"'],
    ['--owner', 'team-shop', 'no flag of the specs names it'],
    ['--exclude', 'flag/pya', 'did you mean "flag/pay"'],
    ['--only', 'flag/pya', 'did you mean "flag/pay"'],
    ['--environment', 'stagin', 'did you mean "staging"'],
  ])('have to exist: %s %s', async (option, name, why) => {
    const { code, stderr } = await reconcile('--dry-run', option, name);

    expect(code).toBe(64);
    expect(stderr).toContain(`cannot use ${option} "${name}"`);
    expect(stderr).toContain(why);
  });

  it.each(['plan', 'reconcile', 'drift'])('may not be none: %s', async (command) => {
    const none = ['--tag', 'checkout', '--owner', 'team-search'];
    const { code, stderr } = await scenario.run(command, ...none);

    expect(code).toBe(64);
    expect(stderr).toContain(`cannot use ${none.join(' ')}: no object is left`);
    expect(scenario.writes()).toEqual([]);
  });
});
