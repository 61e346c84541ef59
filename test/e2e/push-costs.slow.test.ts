import { expect, it } from 'vitest';
import { isRemote } from '../support/counted-git.js';
import { PushWorld } from '../support/push-world.js';

/** What of a run goes to the git server: a look at the branch, the lock with a look at the state, the state with the lock. */
const TO_SERVER = ['fetch', 'push', 'push'];
/** With all that is asked of the clone and of the state's repository. */
const MAX_COMMANDS = 14;

it('a push that a webhook tells of is applied in three connections and few commands', async () => {
  await using world = await PushWorld.open('http', null);
  const { daemon, git } = world;
  // What has to be learnt once is no part of what each push costs.
  const first = world.push(2);
  expect(await world.tell(first)).toBe(202);
  await daemon.ran(first, 'applied');
  git.take();
  const { requests } = world;
  const second = world.push(3);
  expect(await world.tell(second)).toBe(202);

  const run = await daemon.ran(second, 'applied');

  expect(run.triggers).toContain('webhook');
  expect(await world.percent()).toBe(3);
  const commands = git.take();
  expect(commands.filter(isRemote)).toEqual(TO_SERVER);
  expect(commands.length, commands.join('\n')).toBeLessThanOrEqual(MAX_COMMANDS);
  expect(world.requests - requests).toBeLessThanOrEqual(7);
});
