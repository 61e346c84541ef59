import { beforeEach, describe, expect, it } from 'vitest';
import { SpecHistory } from '../../../src/history/spec-history.js';
import { endedKills, killsAdded } from '../../../src/kill/in-git.js';
import { anEnvironment, aPolicy, NO_STATE } from '../../support/builders.js';
import { checkoutOf, makeRepository, type TestRepository } from '../../support/git.js';
import { flagSpec, killList, PIPELINE_CONFIG } from '../../support/pipeline-world.js';

const KILL_PAY = killList('{ pay: { reason: INC-1 } }');

let repository: TestRepository;
let first: string;

beforeEach(() => {
  repository = makeRepository();
  first = repository.commit('One flag', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
});

describe('a commit that adds a kill', () => {
  async function isKillAdded(before: string, after: string): Promise<boolean> {
    return (await killsAdded(await checkoutOf(repository.directory), before, after)).length > 0;
  }

  it('sees a kill in the break-glass list, once', async () => {
    const killed = repository.commit('Kill pay', KILL_PAY);
    const noted = repository.commit(
      'Say more',
      killList('{ pay: { reason: INC-1 double charges } }'),
    );
    expect(await isKillAdded(first, killed)).toBe(true);
    expect(await isKillAdded(killed, noted)).toBe(false);
  });

  it('sees a kill in a flag, and one among specs that are invalid', async () => {
    const own = repository.commit('Kill pay in its file', {
      'flags/pay.yaml': flagSpec('pay', { production: 'killed: true' }),
    });
    repository.git('checkout', '--quiet', first);
    const invalid = repository.commit('Kill, and break', {
      ...KILL_PAY,
      'flags/cart.yaml': 'flag: cart\nnonsense: 1\n',
    });
    expect(await isKillAdded(first, own)).toBe(true);
    expect(await isKillAdded(first, invalid)).toBe(true);
  });

  it('sees none where a kill is taken back or a flag is ramped', async () => {
    const killed = repository.commit('Kill pay', KILL_PAY);
    const back = repository.commit('Bring it back', {
      'kills/production.yaml': 'kills: {}\n',
      'flags/pay.yaml': flagSpec('pay', { on: 50 }),
    });
    expect(await isKillAdded(killed, back)).toBe(false);
  });

  it('fails where a commit is not here, for nobody can tell', async () => {
    await expect(isKillAdded('d'.repeat(40), first)).rejects.toMatchObject({ code: 'GIT' });
  });
});

describe('a commit that ends the kill of a flag that other specs declare', () => {
  let killed: string;

  beforeEach(() => {
    killed = repository.commit('Kill theirs', killList('{ theirs: { reason: INC-1 } }'));
  });

  /** What HEAD takes back, if this commit was the last that was applied. */
  async function restorable(applied: string | null): Promise<string[]> {
    return [...(await ended(applied)).restorable.keys()];
  }

  async function ended(applied: string | null): ReturnType<typeof endedKills> {
    const checkout = await checkoutOf(repository.directory);
    const { head } = checkout;
    const history = new SpecHistory(checkout, head);
    const desired = await history.atAncestor(head ?? '');
    if (!desired) throw new Error('the specs of HEAD are invalid');
    const policy = aPolicy({
      environments: [anEnvironment('staging'), anEnvironment('production')],
    });
    const about = {
      desired,
      state: NO_STATE,
      policy,
      history,
      head,
      applied,
      judged: {},
      outOfSync: null,
    };
    return endedKills(about);
  }

  it('takes a kill back that the list of the last apply had and that of HEAD has not', async () => {
    repository.commit('Bring theirs back', killList('{}'));
    expect(await restorable(killed)).toEqual(['flag/theirs@production']);
  });

  it('takes a kill back though other files of the last apply were invalid', async () => {
    const broken = repository.commit('Break another', { 'flags/cart.yaml': 'flag: cart\n' });
    repository.commit('Mend it, bring theirs back', { ...killList('{}'), 'flags/cart.yaml': null });
    expect(await restorable(broken)).toEqual(['flag/theirs@production']);
  });

  it('takes nothing back while the list stands, or at the very commit that was applied', async () => {
    expect(await restorable(killed)).toEqual([]);
    repository.commit('Something else', { 'README.md': 'Hello.\n' });
    expect(await restorable(killed)).toEqual([]);
  });

  it('takes nothing back where the list is gone: a file that is not there says nothing', async () => {
    repository.commit('Remove the list', { 'kills/production.yaml': null });
    const theirs = { kind: 'flag', name: 'theirs', environment: 'production' };
    expect(await ended(killed)).toEqual({ restorable: new Map(), orphaned: [theirs] });
  });

  it('takes nothing back where the applied commit is unknown, or not one before HEAD', async () => {
    repository.git('checkout', '--quiet', '--orphan', 'afresh');
    repository.commit('Start again', killList('{}'));
    expect(await restorable(killed)).toEqual([]);
    expect(await restorable('d'.repeat(40))).toEqual([]);
    expect(await restorable(null)).toEqual([]);
  });
});
