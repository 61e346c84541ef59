import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { killsAdded } from '../../../src/kill/in-git.js';
import { makeRepository, type TestRepository } from '../../support/git.js';
import { flagSpec, PIPELINE_CONFIG } from '../../support/pipeline-world.js';

const KILL_PAY = { 'kills/production.yaml': 'kills:\n  pay: { reason: INC-1 }\n' };

let repository: TestRepository;
let first: string;

beforeEach(() => {
  repository = makeRepository();
  first = repository.commit('One flag', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
  });
});

async function isKillAdded(before: string, after: string): Promise<boolean> {
  const checkout = await openCheckout(repository.directory);
  onTestFinished(async () => checkout.close());
  return (await killsAdded(checkout, before, after)).length > 0;
}

it('sees a kill in the break-glass list, once', async () => {
  const killed = repository.commit('Kill pay', KILL_PAY);
  const noted = repository.commit('Say more', {
    'kills/production.yaml': 'kills:\n  pay: { reason: INC-1 double charges }\n',
  });
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
