import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { addConsole } from '../../src/console/console.js';
import { callerWithoutKey, recordChanges } from '../../src/service/change-log.js';
import type { ServiceOptions } from '../../src/service/service.js';
import { backUp, restore } from '../../src/service/store/backup.js';
import { openStore, type StoreLocation } from '../../src/service/store/store.js';
import { changesOf, startServedWorld } from '../support/applications.js';
import { signInTo } from '../support/console-browser.js';
import { makeDirectory } from '../support/git.js';
import { aDefinition, callsOf } from '../support/service-calls.js';
import type { TestService } from '../support/service.js';
import { optionOf, useStores } from '../support/stores.js';
import { cliRun } from '../support/terminal.js';

const DAY_MS = 86_400_000;
const LONG_AGO = Date.parse('2026-01-01T00:00:00.000Z');
const YEAR = { logExpiresAfterMs: 365 * DAY_MS };

const stores = useStores();
let location: StoreLocation;

beforeEach(async () => {
  location = await stores.aStore();
});

const start = async (time: number, options: Partial<ServiceOptions> = {}): Promise<TestService> =>
  stores.start(location, { clock: () => time, ...options });

/** The same for applications too. */
async function startServed(time: number, options: Partial<ServiceOptions> = {}) {
  const world = await startServedWorld({ store: location, clock: () => time, ...options });
  stores.running.push(world.service);
  return world;
}

const whole = { offset: 0, limit: 100_000 };

const prunings = async (service: TestService) =>
  service.audit({ kind: 'audit-log', name: 'entries' }, whole);

async function expectPruned(service: TestService, entries: number): Promise<void> {
  await expect
    .poll(async () => (await prunings(service)).length, { timeout: 30_000 })
    .toBe(entries);
}

/** A store with old changes: a flag changed twice, one deleted, and a segment. */
async function changeLongAgo(): Promise<{ readonly key: string }> {
  const service = await start(LONG_AGO);
  const client = callsOf(service);
  const at = '/splits/ws/Default/kept/environments/staging';
  await client.flag('kept');
  await client.ok('POST', at, aDefinition());
  for (const value of [10, 20]) {
    await client.ok('PATCH', at, [{ op: 'replace', path: '/trafficAllocation', value }]);
  }
  await client.flag('gone');
  await client.ok('DELETE', '/splits/ws/Default/gone');
  await client.ok('POST', '/segments/ws/Default/trafficTypes/user', { name: 'seg' });
  await service.stop();
  return { key: service.key };
}

const shown = (entries: Awaited<ReturnType<TestService['audit']>>): string[] =>
  entries.map(
    ({ action, kind, name, environment }) => `${action} ${kind}/${name} ${environment ?? 'null'}`,
  );

describe('the audit log of a service with --log-expires', () => {
  it('loses old entries, says so, and keeps the first one and the last ones of each flag', async () => {
    await changeLongAgo();
    const before = await start(LONG_AGO + 365 * DAY_MS, YEAR);
    const all = await before.audit({}, whole);
    await before.stop();

    const service = await start(LONG_AGO + 365 * DAY_MS + 1, YEAR);
    await expectPruned(service, 2);
    const left = await service.audit({}, whole);
    const logs = await prunings(service);

    expect(all.map(({ kind }) => kind)).not.toContain('audit-log');
    expect(shown(left).filter((each) => each.includes('flag/') || each.includes('seg'))).toEqual([
      'delete flag/gone null',
      'update flag/kept staging',
      'create flag/kept null',
    ]);
    expect(left.at(-1)?.id).toBe(all.at(-1)?.id);
    for (const workspaceId of [all.at(-1)?.workspaceId, null]) {
      const pruned = all.filter(
        (entry) => entry.workspaceId === workspaceId && !left.some(({ id }) => id === entry.id),
      );
      const entry = logs.find((each) => each.workspaceId === workspaceId);
      expect(entry?.id).toBeGreaterThan(all[0]?.id ?? Infinity);
      expect(entry).toMatchObject({
        action: 'prune',
        keyId: null,
        keyName: 'flagkeel service',
        comment: `Entries before 2026-01-01T00:00:00.001Z were pruned: ${pruned.length}`,
      });
    }
  });

  it('is pruned in parts, none of which holds other writers up for long', async () => {
    const store = await openStore(location);
    const caller = callerWithoutKey('test', LONG_AGO);
    const change = { kind: 'identity', action: 'create', difference: [1] } as const;
    await store.write(async (db) =>
      recordChanges(
        { db, caller },
        Array.from({ length: 12_001 }, (_, index) => ({ ...change, name: `i${index}` })),
      ),
    );
    await store.close();
    const service = await start(LONG_AGO + 366 * DAY_MS, YEAR);
    await expectPruned(service, 3);

    expect((await prunings(service)).map(({ comment }) => comment?.split(': ')[1])).toEqual([
      '2000',
      '5000',
      '5000',
    ]);
    expect(await service.audit({ kind: 'identity' }, whole)).toHaveLength(1);
  });

  it('counts on for applications, which get each change that they missed', async () => {
    const old = await startServed(LONG_AGO);
    await old.admin.flag('first');
    const { ff } = await changesOf(old);
    await old.service.stop();
    await changeLongAgo();

    const later = await startServed(LONG_AGO + 366 * DAY_MS);
    const unpruned = await changesOf(later, ff.t);
    await later.service.stop();
    const service = await startServed(LONG_AGO + 366 * DAY_MS, YEAR);
    await expectPruned(service.service, 2);
    const pruned = await changesOf(service, ff.t);

    expect(pruned.ff.d.map(({ name }) => name).sort()).toEqual(['gone', 'kept']);
    expect(pruned).toEqual(unpruned);
  });

  it('can be read, backed up and restored after that, and ids go on', async () => {
    const { key } = await changeLongAgo();
    const service = await start(LONG_AGO + 366 * DAY_MS, { ...YEAR, console: addConsole });
    await expectPruned(service, 2);
    const left = await service.audit({}, whole);
    const workspace = await callsOf({ origin: service.origin, key }).ok(
      'GET',
      '/auditLog/ws/Default',
    );
    const page = await (await signInTo(service, key)).get('/console/log');
    const log = ['service', 'log', '--object', 'audit-log/entries'];
    const { stdout: printed } = await cliRun([...log, ...optionOf(location)]);
    const file = join(makeDirectory(), 'store.backup');
    await backUp(location, file, Date.now());
    location = await stores.aStore();
    await restore(location, file);
    const again = await start(LONG_AGO + 366 * DAY_MS);
    const client = callsOf({ origin: again.origin, key });
    await client.flag('new');

    const says = /Entries before 2026-01-02T00:00:00.000Z were pruned: \d+/;
    expect(JSON.stringify(workspace)).toMatch(says);
    expect(page.text).toMatch(says);
    expect(printed).toMatch(says);
    const [newest, , ...older] = await again.audit({}, whole);
    expect(older).toEqual(left);
    expect(newest?.id).toBeGreaterThan(left[0]?.id ?? Infinity);
  });
});
