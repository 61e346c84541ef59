import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { startFlagkeel } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';
import { inPairs, unlockedRequests, type UnlockedRequest } from '../support/service-habits.js';

const CONFIG = `workspace: Default
state: { push: false }
environments:
  production: { protected: true, approvals: request }
`;
const pay = (on: number) => ({ 'flags/pay.yaml': flagText('pay', on, { production: '' }) });

/** Of a service that accepts two requests for an object. */
const kept: UnlockedRequest[] = [];
const scenario = useScenario({ middleware: (next) => inPairs(unlockedRequests(kept)(next)) });
const open = () => kept.filter(({ status }) => status === 'REQUESTED');

beforeEach(() => {
  kept.length = 0;
});

async function reconcileIn(clone: string, key: string) {
  const words = ['reconcile', '--adopt', '--url', scenario.service.origin, clone];
  return startFlagkeel(words, { env: { FLAGKEEL_API_KEY: key } }).ended;
}

// With keys of their own, a second round begins with a request that one of the clones may not withdraw.
it.each([
  ['with one key', 6, false],
  ['with keys that may not withdraw requests of each other', 1, true],
])(
  'the older request stays open where two clones without a shared state ask for the same change at the same moment: %s, %i rounds',
  async (_, rounds, ownKeys) => {
    const { service, repository } = scenario;
    scenario.commit({ 'flagkeel.yaml': CONFIG, ...pay(1) }, 'Add pay');
    expect(await scenario.reconcile('--adopt')).toMatchObject({ code: 0 });
    await (await liveWorkspace(service)).permit({ areApprovalsRequired: true });
    const folder = makeDirectory();
    const clones = [
      { clone: join(folder, 'one'), key: service.key },
      { clone: join(folder, 'two'), key: ownKeys ? await service.createKey('other') : service.key },
    ];
    for (const { clone } of clones) {
      execFileSync('git', ['clone', '--quiet', repository.directory, clone]);
    }
    for (let round = 1; round <= rounds; round += 1) {
      scenario.commit(pay(10 + round), `Ramp pay, round ${String(round)}`);
      for (const { clone } of clones) execFileSync('git', ['-C', clone, 'pull', '--quiet']);

      // One after the other, because each round starts from the result of the one before.
      const runs = await Promise.all(clones.map(async ({ clone, key }) => reconcileIn(clone, key)));

      const ofRound = kept.filter(({ title }) => title.includes(`round ${String(round)}`));
      expect(open()).toEqual([ofRound[0]]);
      const named = `waits for approval: change request ${ofRound[0]?.id ?? 'none'}`;
      for (const { code, stdout } of runs) {
        expect(code).toBe(8);
        expect(stdout.replaceAll(/\s+/g, ' ')).toContain(named);
      }
    }
    // Both clones submitted in most rounds, or this proves nothing.
    expect(kept.length).toBeGreaterThan(1.5 * rounds);
  },
);
