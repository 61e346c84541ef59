import { beforeEach, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';

const CONFIG = `${STAGING_CONFIG}references: { segments: [staff], flags: [gift] }\n`;
const flag = (name: string, percent: number, more: string): string =>
  `${flagText(name, percent, { staging: '' })}${more}`;
const files = (percent: number): Record<string, string> => ({
  'flagkeel.yaml': CONFIG,
  'flags/pay.yaml': flag('pay', percent, 'owner: team-pay\ntags: [checkout, web]\n'),
  'flags/cart.yaml': flag('cart', percent, 'owner: team-cart\ntags: [checkout]\n'),
  'flags/search.yaml': flag('search', percent, 'owner: team-search\n'),
});

const scenario = useScenario();
const { reconcile } = scenario;

beforeEach(() => {
  scenario.commit(files(10), 'Add flags');
});

describe('the objects that a run selects', () => {
  async function planned(...args: string[]): Promise<string[]> {
    const { changes } = await scenario.dryRun(...args);
    return [...new Set(changes.map(({ id }) => id.split('@')[0] ?? ''))];
  }

  it('are those of any of the tags, or owners, without those that are excluded, and all that is written', async () => {
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

    const { stdout } = await reconcile('--tag', 'checkout');
    const paths = scenario.writes().join('\n');
    const { leftOut } = await scenario.dryRun('--owner', 'team-pay');
    expect(stdout).toContain('Left out by filters, and not looked at: 1 object (flag/search).');
    expect(paths).toContain('/pay');
    expect(paths).not.toContain('search');
    expect(leftOut).toEqual({ objects: ['flag/cart', 'flag/search'], environments: [] });
  });

  it('leave the rest in place, and come with the kills of all flags but those that are excluded by name', async () => {
    await reconcile();
    scenario.commit({ ...files(20), 'flagkeel.yaml': `${CONFIG}prune: true\n` }, 'Ramp');
    scenario.service.requests.length = 0;
    expect(await reconcile('--owner', 'team-pay')).toMatchObject({ code: 0 });
    // A filter is no removal.
    expect(scenario.writes().filter((each) => each.startsWith('DELETE'))).toEqual([]);

    const kills = 'kills:\n  search: { reason: INC-1 }\n  cart: { reason: INC-2 }\n';
    scenario.commit({ 'kills/staging.yaml': kills }, 'Kill two');
    const { stderr } = await reconcile('--tag', 'web', '--exclude', 'flag/cart');
    expect(stderr).toContain('killed flag/search@staging');
    expect(stderr).not.toContain('flag/cart');
  });

  it('have to exist, in the specs, what they refer to or the state, and may not be none', async () => {
    for (const [option, name, why] of [
      ['--tag', 'checkuot', 'did you mean "checkout"'],
      ['--owner', 'team-shop', 'no flag of the specs names it'],
      ['--exclude', 'flag/pya', 'did you mean "flag/pay"'],
      ['--only', 'flag/pya', 'did you mean "flag/pay"'],
      ['--only', 'flag/pay@staging', 'did you mean "flag/pay"'],
      ['--only', 'segment/pay', '"segment/pay"'],
      ['--environment', 'stagin', 'did you mean "staging"'],
    ] as const) {
      const { code, stdout, stderr } = await reconcile(option, name);
      expect([code, stdout], option).toEqual([64, '']);
      expect(stderr).toContain(`cannot use ${option} "${name}"`);
      expect(stderr).toContain(why);
    }
    const none = ['--tag', 'checkout', '--owner', 'team-search'];
    const empty = await scenario.run('drift', ...none);
    expect(empty.code).toBe(64);
    expect(empty.stderr).toContain(`cannot use ${none.join(' ')}: no object is left`);
    expect(scenario.writes()).toEqual([]);

    for (const name of ['flag/gift', 'segment/staff', 'flag/pay']) {
      expect(await reconcile('--only', name), name).toMatchObject({ code: 0 });
    }
    scenario.repository.remove('flags/pay.yaml');
    scenario.repository.commit('Remove pay');
    const gone = await reconcile('--dry-run', '--only', 'flag/pay');
    expect(gone, gone.stderr).toMatchObject({ code: 0 });
    expect(gone.stdout).toContain('no longer in git');
  });
});

it('a command line that cannot be meant is refused, says what is meant, and applies nothing', async () => {
  const detailed = await reconcile('--detailed-exitcode');
  expect(detailed).toMatchObject({ code: 64, stdout: '' });
  expect(detailed.stderr).toContain('add --dry-run');
  const review = await scenario.run('review');
  expect(review).toMatchObject({ code: 64, stdout: '' });
  expect(review.stderr).toContain('--since origin/main');
  expect(await scenario.run('review', '--since', 'HEAD')).toMatchObject({ code: 0 });
  for (const args of [
    ['reconcile', '--no-such-option'],
    ['reconsile'],
    ['reconcile', '--format', 'xml'],
    ['reconcile', '--only', 'checkout'],
  ]) {
    expect(await flagkeel(args), args.join(' ')).toMatchObject({ code: 64 });
  }
  expect(scenario.writes()).toEqual([]);
});
