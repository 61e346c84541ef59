import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { SpecHistory } from '../../../src/history/spec-history.js';
import type { SpecCache } from '../../../src/specs/cache.js';
import { makeDirectory, makeRepository, type TestRepository } from '../../support/git.js';
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
async function historyNow(cache?: SpecCache): Promise<SpecHistory> {
  const checkout = await openCheckout(repository.directory);
  onTestFinished(async () => checkout.close());
  return new SpecHistory(checkout, checkout.head, cache);
}

describe('the specs of an ancestor', () => {
  it('are those of the commit, whatever HEAD says by now', async () => {
    const earlier = first();
    repository.commit('Another flag', {
      'flags/pay.yaml': null,
      'flags/cart.yaml': flagSpec('cart'),
    });
    const specs = await (await historyNow()).atAncestor(earlier);
    expect([...(specs?.flags.keys() ?? [])]).toEqual(['pay']);
  });

  it('are known of HEAD itself', async () => {
    const head = first();
    expect((await (await historyNow()).atAncestor(head))?.flags.has('pay')).toBe(true);
  });

  it('cannot be known of a commit on another branch', async () => {
    first();
    repository.git('checkout', '--quiet', '-b', 'aside');
    const aside = repository.commit('Aside', { 'flags/cart.yaml': flagSpec('cart') });
    repository.git('checkout', '--quiet', 'main');
    repository.commit('Go on', { 'flags/more.yaml': flagSpec('more') });
    const history = await historyNow();
    expect(await history.atAncestor(aside)).toBeUndefined();
  });

  it('cannot be known of a commit that is not here', async () => {
    first();
    const history = await historyNow();
    expect(await history.atAncestor(NOWHERE)).toBeUndefined();
  });

  it('cannot be known where they were invalid', async () => {
    first();
    const broken = repository.commit('Break it', {
      'flags/cart.yaml': 'flag: cart\nnonsense: 1\n',
    });
    repository.commit('Mend it', { 'flags/cart.yaml': flagSpec('cart') });
    const history = await historyNow();
    expect(await history.atAncestor(broken)).toBeUndefined();
  });

  it('cannot be known where there were none', async () => {
    const empty = repository.commit('Nothing yet', {});
    first();
    const history = await historyNow();
    expect(await history.atAncestor(empty)).toBeUndefined();
  });

  it('cannot be known without git', async () => {
    const checkout = await openCheckout(makeDirectory());
    const history = new SpecHistory(checkout, null);
    expect(history.isKnown).toBe(false);
    expect(await history.atAncestor(NOWHERE)).toBeUndefined();
  });
});

describe('the config before HEAD, where HEAD has another one', () => {
  const changeConfig = (): string =>
    repository.commit('Guard less', { 'flagkeel.yaml': `${PIPELINE_CONFIG}suspend: true\n` });

  it('is that of the commit, even if other specs there were invalid', async () => {
    first();
    const broken = repository.commit('Break it', {
      'flags/cart.yaml': 'flag: cart\nnonsense: 1\n',
    });
    repository.commit('Mend it', { 'flags/cart.yaml': flagSpec('cart') });
    changeConfig();
    expect((await (await historyNow()).otherConfigAt(broken))?.suspend).toBe(false);
  });

  it('is none where HEAD has the same file', async () => {
    const before = first();
    repository.commit('Go on', { 'flags/cart.yaml': flagSpec('cart') });
    expect(await (await historyNow()).otherConfigAt(before)).toBeUndefined();
  });

  it('cannot be known of another branch, of a commit that is not here, or without a file', async () => {
    const empty = repository.commit('Nothing yet', {});
    first();
    repository.git('checkout', '--quiet', '-b', 'aside');
    const aside = repository.commit('Aside', { 'flags/cart.yaml': flagSpec('cart') });
    repository.git('checkout', '--quiet', 'main');
    changeConfig();
    const history = await historyNow();
    expect(await history.otherConfigAt(aside)).toBeUndefined();
    expect(await history.otherConfigAt(NOWHERE)).toBeUndefined();
    expect(await history.otherConfigAt(empty)).toBeUndefined();
  });
});

describe('the specs of a commit that somebody named', () => {
  it('are missing where the commit has none', async () => {
    const empty = repository.commit('Nothing yet', { 'README.md': 'Soon.\n' });
    first();
    expect(await (await historyNow()).at(empty)).toBe('missing');
  });

  it('come with what is wrong with them', async () => {
    first();
    const broken = repository.commit('Break it', {
      'flags/cart.yaml': 'flag: cart\nnonsense: 1\n',
    });
    const specs = await (await historyNow()).at(broken);
    if (specs === 'missing' || specs.ok) throw new Error('they are invalid');
    expect(specs.diagnostics.map(({ location }) => location.file)).toContain('flags/cart.yaml');
  });

  it('are an error where the commit is not here', async () => {
    first();
    await expect((await historyNow()).at(NOWHERE)).rejects.toMatchObject({ code: 'GIT' });
  });
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
