import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { SpecHistory } from '../../../src/history/spec-history.js';
import { endedKills } from '../../../src/kill/in-git.js';
import { anEnvironment, aPolicy, NO_STATE } from '../../support/builders.js';
import { makeRepository, type TestRepository } from '../../support/git.js';
import { PIPELINE_CONFIG } from '../../support/pipeline-world.js';

const LIST = 'kills/production.yaml';

let repository: TestRepository;
let killed: string;

/** The break-glass list kills a flag that other specs declare. */
beforeEach(() => {
  repository = makeRepository();
  killed = repository.commit('Kill theirs', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    [LIST]: 'kills:\n  theirs: { reason: INC-1 }\n',
  });
});

/** What HEAD takes back, if this commit was the last that was applied. */
async function restorable(applied: string | null): Promise<string[]> {
  return [...(await ended(applied)).restorable.keys()];
}

async function ended(applied: string | null): ReturnType<typeof endedKills> {
  const checkout = await openCheckout(repository.directory);
  onTestFinished(async () => checkout.close());
  const { head } = checkout;
  const history = new SpecHistory(checkout, head);
  const desired = await history.atAncestor(head ?? '');
  if (!desired) throw new Error('the specs of HEAD are invalid');
  const policy = aPolicy({ environments: [anEnvironment('staging'), anEnvironment('production')] });
  const about = { desired, state: NO_STATE, policy, history, head, applied };
  return endedKills(about);
}

it('takes a kill back that the list of the last apply had and that of HEAD has not', async () => {
  repository.commit('Bring theirs back', { [LIST]: 'kills: {}\n' });
  expect(await restorable(killed)).toEqual(['flag/theirs@production']);
});

it('takes nothing back while the list stands, or at the very commit that was applied', async () => {
  expect(await restorable(killed)).toEqual([]);
  repository.commit('Something else', { 'README.md': 'Hello.\n' });
  expect(await restorable(killed)).toEqual([]);
});

it('takes nothing back where the list is gone: a file that is not there says nothing', async () => {
  repository.commit('Remove the list', { [LIST]: null });
  const theirs = { kind: 'flag', name: 'theirs', environment: 'production' };
  expect(await ended(killed)).toEqual({ restorable: new Map(), orphaned: [theirs] });
});

it('takes nothing back where the applied commit is unknown, or not one before HEAD', async () => {
  repository.git('checkout', '--quiet', '--orphan', 'afresh');
  repository.commit('Start again', { [LIST]: 'kills: {}\n' });
  expect(await restorable(killed)).toEqual([]);
  expect(await restorable('d'.repeat(40))).toEqual([]);
  expect(await restorable(null)).toEqual([]);
});
