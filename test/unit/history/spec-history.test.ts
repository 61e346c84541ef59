import { beforeEach, expect, it } from 'vitest';
import { SpecHistory } from '../../../src/history/spec-history.js';
import { checkoutOf, makeRepository, type TestRepository } from '../../support/git.js';
import { flagSpec, PIPELINE_CONFIG } from '../../support/pipeline-world.js';

const NOWHERE = 'd'.repeat(40);

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository();
});

function first(): string {
  return repository.commit('One flag', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
}

/** Of the commit that is checked out. */
async function historyNow(): Promise<SpecHistory> {
  const checkout = await checkoutOf(repository.directory);
  return new SpecHistory(checkout, checkout.head);
}

/** Commits without specs, of one flag, aside of the branch, with invalid specs, and with these mended. */
function story() {
  const empty = repository.commit('Nothing yet', { 'README.md': 'Soon.\n' });
  const one = first();
  repository.git('checkout', '--quiet', '-b', 'aside');
  const aside = repository.commit('Aside', { 'flags/cart.yaml': flagSpec('cart') });
  repository.git('checkout', '--quiet', 'main');
  const broken = repository.commit('Break it', { 'flags/cart.yaml': 'flag: cart\nnonsense: 1\n' });
  const head = repository.commit('Mend it', {
    'flags/pay.yaml': null,
    'flags/cart.yaml': flagSpec('cart'),
  });
  return { empty, one, aside, broken, head };
}

it('knows the specs of HEAD and of its ancestors, where they had valid ones', async () => {
  const { empty, one, aside, broken, head } = story();
  const history = await historyNow();
  const flagsAt = async (commit: string): Promise<string[] | undefined> => {
    const specs = await history.atAncestor(commit);
    return specs && [...specs.flags.keys()];
  };

  expect(await flagsAt(one)).toEqual(['pay']);
  expect(await flagsAt(head)).toEqual(['cart']);
  for (const unknown of [empty, aside, broken, NOWHERE]) {
    expect(await flagsAt(unknown), unknown).toBeUndefined();
  }
});

it('knows the config before HEAD where HEAD has another one, even beside invalid specs', async () => {
  const { empty, one, aside, broken } = story();
  expect(await (await historyNow()).otherConfigAt(one)).toBeUndefined();
  repository.commit('Guard less', { 'flagkeel.yaml': `${PIPELINE_CONFIG}suspend: true\n` });
  const history = await historyNow();

  expect((await history.otherConfigAt(broken))?.suspend).toBe(false);
  for (const unknown of [empty, aside, NOWHERE]) {
    expect(await history.otherConfigAt(unknown), unknown).toBeUndefined();
  }
});

it('says of a commit that somebody named what is wrong with it', async () => {
  const { empty, broken } = story();
  const history = await historyNow();

  expect(await history.at(empty)).toBeNull();
  await expect(history.at(broken)).rejects.toThrow(
    `cannot compare with ${broken.slice(0, 8)}: its specs are invalid (flags/cart.yaml:1: `,
  );
  await expect(history.at(NOWHERE)).rejects.toMatchObject({ code: 'GIT' });
});

it('names the files that a commit changed or added, and none that it took away', async () => {
  const before = first();
  const after = repository.commit('Several', {
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
    'flags/cart.yaml': flagSpec('cart'),
  });
  const last = repository.commit('Take one away', { 'flags/cart.yaml': null });
  const history = await historyNow();
  expect(await history.pathsChanged(before, after)).toEqual(['flags/cart.yaml', 'flags/pay.yaml']);
  expect(await history.pathsChanged(after, last)).toEqual([]);
});

it('finds the commit where a branch left, and takes an unrelated revision for itself', async () => {
  const fork = first();
  repository.git('checkout', '--quiet', '-b', 'aside');
  repository.commit('Aside', { 'flags/cart.yaml': flagSpec('cart') });
  repository.git('checkout', '--quiet', 'main');
  repository.commit('Go on', { 'flags/more.yaml': flagSpec('more') });
  repository.git('checkout', '--quiet', '--orphan', 'unrelated');
  const unrelated = repository.commit('Unrelated', {});
  repository.git('checkout', '--quiet', 'main');
  const history = await historyNow();
  expect(await history.mergeBaseWith('aside')).toBe(fork);
  expect(await history.mergeBaseWith('unrelated')).toBe(unrelated);
});
