import { beforeEach, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

describe('a command line that cannot be meant', () => {
  const scenario = useScenario();

  beforeEach(() => {
    scenario.commit(
      {
        'flagkeel.yaml': `${UNPROTECTED_CONFIG}references: { segments: [staff], flags: [cart] }\n`,
        'flags/checkout.yaml': flagText('checkout', 10),
        'flags/search.yaml': flagText('search', 10),
      },
      'Add two flags',
    );
  });

  it('with a typo in --only is refused, not called in sync', async () => {
    const typo = await scenario.reconcile('--only', 'flag/chekout');

    expect(typo).toMatchObject({ code: 64, stdout: '' });
    expect(typo.stderr).toContain('cannot use --only "flag/chekout"');
    expect(typo.stderr).toContain('"flag/checkout"');
    expect(scenario.writes()).toEqual([]);
    expect(await scenario.reconcile('--dry-run', '--only', 'segment/checkout')).toMatchObject({
      code: 64,
    });
  });

  it('may name what the specs refer to, and what only the state has', async () => {
    for (const name of ['flag/cart', 'segment/staff', 'flag/checkout']) {
      expect(await scenario.reconcile('--only', name), name).toMatchObject({ code: 0 });
    }
    scenario.repository.remove('flags/checkout.yaml');
    scenario.repository.commit('Remove checkout');

    const gone = await scenario.reconcile('--dry-run', '--only', 'flag/checkout');

    expect(gone, gone.stderr).toMatchObject({ code: 0 });
    expect(gone.stdout).toContain('no longer in git');
  });

  it('with --detailed-exitcode but no --dry-run applies nothing', async () => {
    const run = await scenario.reconcile('--detailed-exitcode');

    expect(run).toMatchObject({ code: 64, stdout: '' });
    expect(run.stderr).toContain('add --dry-run');
    expect(scenario.writes()).toEqual([]);
  });

  it('reviewing with no base says how to name one', async () => {
    const run = await scenario.run('review');

    expect(run).toMatchObject({ code: 64, stdout: '' });
    expect(run.stderr).toContain('--since origin/main');
    expect(await scenario.run('review', '--since', 'HEAD')).toMatchObject({ code: 0 });
  });

  it.each([
    ['an unknown option', ['reconcile', '--no-such-option']],
    ['an unknown command', ['reconsile']],
    ['a value that is none', ['reconcile', '--format', 'xml']],
    ['a filter of another form', ['reconcile', '--only', 'checkout']],
  ])('with %s ends with 64', async (_, args) => {
    expect(await flagkeel(args)).toMatchObject({ code: 64 });
  });
});
