import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startFlagkeel, type CliResult } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario, type Scenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';
import { inPairs, unlockedRequests, type UnlockedRequest } from '../support/service-habits.js';

const ROUNDS = 6;
const CONFIG = `workspace: Default
state: { push: false }
environments:
  production: { protected: true, approvals: request }
`;

interface Page {
  readonly data: readonly { readonly id: string }[];
}

/**
 * Commits a new share in each round, and lets two clones that share no state run at the same moment.
 *
 * @param open the ids of the requests that are open.
 * @param keys of the two clones; by default they have the same.
 */
async function playRounds(
  scenario: Scenario,
  open: () => Promise<readonly string[]>,
  rounds = ROUNDS,
  keys = [scenario.service.key, scenario.service.key],
) {
  const pay = (on: number): string => flagText('pay', on, { production: '' });
  scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': pay(1) }, 'Add pay');
  expect(await scenario.reconcile('--adopt')).toMatchObject({ code: 0 });
  await (await liveWorkspace(scenario.service)).permit({ areApprovalsRequired: true });
  const folder = makeDirectory();
  const clones = ['one', 'two'].map((name) => join(folder, name));
  for (const clone of clones) {
    execFileSync('git', ['clone', '--quiet', scenario.repository.directory, clone]);
  }
  for (let round = 1; round <= rounds; round += 1) {
    scenario.commit({ 'flags/pay.yaml': pay(10 + round) }, `Ramp pay, round ${round}`);
    for (const clone of clones) execFileSync('git', ['-C', clone, 'pull', '--quiet']);

    // One after the other, because each round starts from the result of the one before.
    const runs = await Promise.all(
      clones.map(async (clone, at) => run(scenario, clone, keys[at] ?? '')),
    );

    expect(runs, runs.map(({ stdout }) => stdout).join()).toMatchObject([{ code: 8 }, { code: 8 }]);
    const [id, ...more] = await open();
    expect(more).toEqual([]);
    const named = `waits for approval: change request ${id ?? 'none'}`;
    for (const { stdout } of runs) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(named);
  }
}

async function run({ service }: Scenario, clone: string, key: string): Promise<CliResult> {
  const words = ['reconcile', '--adopt', '--url', service.origin, clone];
  return startFlagkeel(words, { env: { FLAGKEEL_API_KEY: key } }).ended;
}

describe('two clones without a shared state ask for the same change at the same moment', () => {
  describe('of a service that refuses a second request for an object', () => {
    const scenario = useScenario({ middleware: inPairs });

    it(`one request is open after each of ${ROUNDS} rounds`, async () => {
      const { call } = scenario;
      await playRounds(scenario, async () => {
        const { data } = (await call('GET', '/changeRequests?status=REQUESTED')) as Page;
        return data.map(({ id }) => id);
      });
      const { data } = (await call('GET', '/changeRequests?limit=100')) as Page;
      expect(data).toHaveLength(ROUNDS);
    });
  });

  describe('of a service that accepts both', () => {
    const kept: UnlockedRequest[] = [];
    const middleware: NonNullable<Parameters<typeof useScenario>[0]>['middleware'] = (next) =>
      inPairs(unlockedRequests(kept)(next));
    const scenario = useScenario({ middleware });

    beforeEach(() => {
      kept.length = 0;
    });

    // With keys of their own, a second round begins with a request that one of the clones may not withdraw.
    it.each([
      ['with one key', ROUNDS, false],
      ['with keys that may not withdraw requests of each other', 1, true],
    ])(
      'the older request stays open after each round: two clones %s, %i rounds',
      async (_, rounds, ownKeys) => {
        const { service } = scenario;
        const keys = [service.key, ownKeys ? await service.createKey('other') : service.key];
        const open = (): readonly UnlockedRequest[] =>
          kept.filter(({ status }) => status === 'REQUESTED');
        await playRounds(
          scenario,
          async () => Promise.resolve(open().map(({ id }) => id)),
          rounds,
          keys,
        );
        // Both clones submitted in most rounds, or this proves nothing.
        expect(kept.length).toBeGreaterThan(1.5 * rounds);
        const ofRound = kept.filter(({ title }) => title.includes(`round ${rounds}`));
        expect(open()).toEqual([ofRound[0]]);
      },
    );
  });
});
