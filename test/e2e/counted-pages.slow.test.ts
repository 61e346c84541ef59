import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagkeel, type CliResult } from '../support/cli.js';
import { ConfigRepository } from '../support/git.js';
import { withKeysHabits, type KeysHabits } from '../support/keys-habits.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { startTestService, type TestService } from '../support/service.js';

const CONFIG = `workspace: Default
environments: { staging: {} }
defaults: { trafficType: user }
guards: { maxKeyRemovals: 10000, maxKeyRemovalPercent: 100 }
`;

const SERVICES: readonly KeysHabits[] = [
  { countsPage: false, replaces: false, cutTo: 100 },
  { countsPage: false, replaces: true, cutTo: 13 },
  { countsPage: true, replaces: false, cutTo: 100 },
  { countsPage: true, replaces: false, cutTo: 5 },
  { countsPage: true, replaces: true, cutTo: 100 },
  { countsPage: true, replaces: true, cutTo: 13 },
];

function keysTo(end: number): string[] {
  return Array.from({ length: end }, (_, index) => `user-${10_000 + index}`);
}

function writeKeys(repository: ConfigRepository, keys: readonly string[]): void {
  repository.write({
    'flagkeel.yaml': CONFIG,
    'segments/beta.yaml': 'segment: beta\nenvironments: { staging: { keysFile: beta.keys } }\n',
    'segments/beta.keys': keys.map((key) => `${key}\n`).join(''),
  });
  repository.commit(`Have ${keys.length} keys`);
}

/** Asked until a page is empty, which is the end whatever the service counts. */
async function liveKeys(live: LiveWorkspace): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const path = `/segments/${live.staging}/beta/keys?limit=100&offset=${found.length}`;
    const { keys } = await live.ok<{ keys: { key: string }[] }>('GET', path);
    if (keys.length === 0) return found.sort();
    found.push(...keys.map(({ key }) => key));
  }
}

/** The contract does not say whether `count` of a list of keys is of the segment or of the page. */
describe.each(SERVICES)(
  'keys of a segment (count of a page: $countsPage, uploads replace: $replaces, keys in a page: $cutTo)',
  (habits) => {
    let repository: ConfigRepository;
    let service: TestService;
    let live: LiveWorkspace;

    beforeEach(async () => {
      repository = new ConfigRepository();
      service = await startTestService({ middleware: withKeysHabits(habits) });
      live = await liveWorkspace(service);
    });

    afterEach(async () => {
      await service.stop();
      repository[Symbol.dispose]();
    });

    async function run(...args: readonly string[]): Promise<CliResult> {
      return flagkeel([...args, '--url', service.origin, repository.directory], {
        env: { FLAGKEEL_API_KEY: service.key },
      });
    }

    async function addByHand(keys: readonly string[]): Promise<void> {
      const path = `/segments/${live.staging}/beta/upload?title=by%20hand&comment=by%20hand`;
      await live.ok('PUT', path, keys);
    }

    it('are all there after one is added, after one is removed, and in sync then', async () => {
      writeKeys(repository, keysTo(150));
      expect(await run('reconcile')).toMatchObject({ code: 0 });

      writeKeys(repository, keysTo(151));
      expect(await run('reconcile')).toMatchObject({ code: 0 });
      expect(await liveKeys(live)).toEqual(keysTo(151));

      writeKeys(repository, keysTo(149));
      expect(await run('reconcile')).toMatchObject({ code: 0 });
      expect(await liveKeys(live)).toEqual(keysTo(149));
      const again = await run('reconcile');
      expect(again).toMatchObject({ code: 0 });
      expect(again.stdout).toContain('In sync');
    });

    it('are not in sync where git has the first hundred of them alone', async () => {
      writeKeys(repository, keysTo(100));
      expect(await run('reconcile')).toMatchObject({ code: 0 });
      await addByHand(keysTo(250));

      const { stdout } = await run('reconcile', '--dry-run');

      expect(stdout).not.toContain('In sync');
      expect(stdout).toContain('+0 −150 keys');
    });

    it('are imported to the last', async () => {
      writeKeys(repository, keysTo(1));
      expect(await run('reconcile')).toMatchObject({ code: 0 });
      await addByHand(keysTo(250));
      repository.remove('segments');
      repository.remove('flagkeel.yaml');

      expect(await run('import', '--environment', 'staging')).toMatchObject({ code: 0 });

      const file = join(repository.directory, 'segments/beta.staging.keys');
      expect(
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith('user-')),
      ).toEqual(keysTo(250));
    });
  },
);

it.each([
  { counts: 'all keys', countsPage: false },
  { counts: 'the page', countsPage: true },
])(
  'an upload that replaced the keys on a service that counts $counts is undone to the last key',
  async ({ countsPage }) => {
    using repository = new ConfigRepository();
    const habits = withKeysHabits({ countsPage, replaces: true });
    const service = await startTestService({ middleware: habits });
    const run = async (): Promise<CliResult> =>
      flagkeel(['reconcile', '--format', 'json', '--url', service.origin, repository.directory], {
        env: { FLAGKEEL_API_KEY: service.key },
      });
    writeKeys(repository, keysTo(9_950));
    expect(await run()).toMatchObject({ code: 0 });
    // Together more than a request takes, so that the new ones go alone.
    writeKeys(repository, keysTo(10_050));

    const { code, stdout } = await run();

    expect(code).toBe(5);
    expect(stdout).toContain('SEGMENT_SHRANK');
    expect(stdout).toContain('replaced its 9950 keys by 100, which were put back');
    expect(await liveKeys(await liveWorkspace(service))).toEqual(keysTo(9_950));
    await service.stop();
  },
);
