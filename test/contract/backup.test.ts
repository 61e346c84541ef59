import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WirePage } from '../../src/admin-api/wire.js';
import { backUp, restore } from '../../src/service/store/backup.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { makeDirectory } from '../support/git.js';
import { expectAnswers } from '../support/exchanges.js';
import { aDefinition, at, callsOf, type ServiceCalls } from '../support/service-calls.js';
import type { TestService } from '../support/service.js';
import { optionOf, useStores } from '../support/stores.js';
import { cliRun, type CliRun } from '../support/terminal.js';

/** Copies of a store while it is in use, and what becomes of a store that is filled from one. */
const { aStore, start } = useStores();
let folder: string;
let file: string;

beforeEach(() => {
  folder = makeDirectory();
  file = join(folder, 'store.backup');
});

/** Made by a service of the first version that was released, with keys of several blocks of today's store. */
const FIRST = 'test/fixtures/service/first-schema.backup';

const WRITERS = 4;

/** Writes until it is told to stop: a flag with a definition, and a key of a segment, again and again. */
async function writeOn(client: ServiceCalls, name: string, isOver: () => boolean): Promise<number> {
  let written = 0;
  while (!isOver()) {
    const flag = `${name}-${written}`;
    await client.flag(flag);
    await client.ok('POST', `/splits/ws/Default/${flag}/environments/staging`, aDefinition());
    await client.ok('PUT', '/segments/staging/seg/upload', [flag]);
    written += 1;
  }
  return written;
}

interface Contents {
  readonly flags: string[];
  readonly defined: number;
  readonly keys: number;
  readonly created: string[];
}

/** What a client finds of what `writeOn` wrote. */
async function contentsOf(service: TestService, client: ServiceCalls): Promise<Contents> {
  const flags: string[] = [];
  let page: WirePage<{ name: string }>;
  do {
    const path = `/splits/ws/Default?limit=50&offset=${flags.length}`;
    page = await client.ok('GET', path);
    flags.push(...page.objects.map(({ name }) => name));
  } while (flags.length < page.totalCount);
  const definitions = await client.ok<WirePage<unknown>>(
    'GET',
    '/splits/ws/Default/environments/staging',
  );
  const keys = await client.ok<{ count: number }>('GET', '/segments/staging/seg/keys');
  const log = await service.audit({ kind: 'flag' }, { offset: 0, limit: 100_000 });
  const created = log.filter(
    ({ action, environment }) => action === 'create' && environment === null,
  );
  return {
    flags: flags.sort(),
    defined: definitions.totalCount,
    keys: keys.count,
    created: created.map(({ name }) => name).sort(),
  };
}

it('a backup of a store that is written to all the time is restored as it was at one moment: flags, keys of segments, Admin API keys, audit log; and goes on counting', async () => {
  const location = await aStore();
  const service = await start(location);
  const client = callsOf(service);
  await client.segment('seg');
  const many = Array.from({ length: 6_000 }, (_, index) => `k-${index}`);
  await client.ok('PUT', '/segments/staging/seg/upload', many);
  // More than are read at once.
  const identities = Array.from({ length: 250 }, (_, at) => ({ key: `k${at}`, values: {} }));
  await client.ok('POST', '/trafficTypes/user/environments/staging/identities', identities);
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, async (_, index) =>
    writeOn(client, `w${index}`, () => isOver),
  );
  await client.flag('before');

  const made = await backUp(location, file, Date.now());
  isOver = true;
  await Promise.all(writers);
  const target = await aStore();
  const told = await restore(target, file);
  const again = await start(target);
  const found = await contentsOf(again, callsOf({ origin: again.origin, key: service.key }));

  expect(told.rows).toEqual(made.rows);
  expect(made.rows).toMatchObject({ identities: 250 });
  expect(found.flags).toContain('before');
  // Each flag is there with the entry that tells of it, and each definition and key after its flag.
  expect(found.created).toEqual(found.flags);
  const behind = found.flags.length - 1 - found.defined;
  expect(behind).toBeGreaterThanOrEqual(0);
  expect(behind).toBeLessThanOrEqual(WRITERS);
  expect(found.keys).toBe(made.keys);
  expect(found.keys).toBeGreaterThanOrEqual(6_000);
  // It goes on counting where the store was: nothing new meets an id of old.
  const other = callsOf(again);
  await other.ok('POST', '/segments/production/seg');
  await other.flag('new');
  expect(await other.ok('GET', '/segments/production/seg/keys')).toMatchObject({ count: 0 });
  const ids = (await again.audit()).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual([...ids].sort((a, b) => b - a));
});

describe('a backup', () => {
  it('is of a store, written over no file and through no link, for its owner alone, and holds no key', async () => {
    const location = await aStore();
    const made = async () => backUp(location, file, Date.now());
    await expect(made()).rejects.toMatchObject({ code: 'USAGE' });
    expect(existsSync(file)).toBe(false);
    const { key } = await start(location);
    const other = join(folder, 'other');
    writeFileSync(other, 'of somebody else');
    symlinkSync(other, `${file}.partial`);

    await made();

    expect(readFileSync(other, 'utf8')).toBe('of somebody else');
    expect(existsSync(`${file}.partial`)).toBe(false);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(key);
    await expect(made()).rejects.toMatchObject({ code: 'USAGE' });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is not restored from a device without end, nor from a line without end', async () => {
    const target = await aStore();
    const sparse = join(folder, 'sparse');
    writeFileSync(sparse, '');
    truncateSync(sparse, 1024 ** 3);

    await expect(restore(target, '/dev/zero')).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message: 'cannot restore "/dev/zero": it is no regular file',
    });
    await expect(restore(target, sparse)).rejects.toThrow('a line has no end');
  });

  it('is not restored into a store that holds something, nor into one that is open', async () => {
    const location = await aStore();
    const service = await start(location);
    await callsOf(service).ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'mine' });
    await backUp(location, file, Date.now());

    await expect(restore(location, file)).rejects.toMatchObject({ code: 'USAGE' });
    await service.stop();
    await expect(restore(location, file)).rejects.toThrow('there is a store already');

    const again = await start(location);
    expect(await again.audit({ name: 'mine' })).toHaveLength(1);
  });

  it.each<[string, RegExp, (text: string) => string]>([
    ['that is cut off between two lines', /cut off/, (text) => text.replace(/.*\n$/, '')],
    ['that is cut off in a line', /cut off/, (text) => text.slice(0, text.length / 2)],
    ['of which a letter was changed', /changed/, (text) => text.replace('"staging"', '"stagimg"')],
    ['that is empty', /no backup/, () => ''],
    ['that is something else', /no backup/, () => '{"flags": []}\n'],
    [
      'that goes on behind its end',
      /behind its end/,
      (text) => `${text}{"table": "x", "rows": []}\n`,
    ],
    [
      'in a newer format',
      /newer version wrote it \(flagkeel-backup\/2\)/,
      (text) => text.replace('flagkeel-backup/1', 'flagkeel-backup/2'),
    ],
    ['of a newer version', /a newer version/, (text) => text.replace('0001-first', '9999-later')],
    ['of a fork', /another version/, (text) => text.replace('0001-first', '0001-other')],
    ['in no format', /no backup/, (text) => text.replace('flagkeel-backup/1', 'flagkeel-backup/0')],
  ])('%s is refused before the store is touched', async (_, message, spoil) => {
    writeFileSync(file, spoil(readFileSync(FIRST, 'utf8')));
    const target = await aStore();

    const failure = restore(target, file);

    await expect(failure).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await expect(failure).rejects.toThrow(message);
    if (target.kind === 'directory') expect(existsSync(target.path)).toBe(false);
    await expect(backUp(target, `${file}.2`, Date.now())).rejects.toMatchObject({ code: 'USAGE' });
  });
});

it('a store of the first released schema is brought up to date with all that it held', async () => {
  const target = await aStore();

  await restore(target, FIRST);
  const service = await start(target);
  const client = callsOf(service);

  const flag = '/splits/ws/Default/checkout';
  const definition = { treatments: [{ name: 'on' }, { name: 'off' }], killed: false };
  const kill = { split: { name: 'checkout' }, operationType: 'KILL' };
  const last = { keys: ['key-997', 'key-998', 'key-999'].map((key) => ({ key })), count: 1_236 };
  await expectAnswers(
    client,
    [200, 'GET', flag, undefined, { name: 'checkout' }],
    [200, 'GET', at('checkout'), undefined, definition],
    [200, 'GET', '/segments/staging/testers/keys?offset=1233', undefined, last],
    [200, 'POST', `${flag}/archive`],
    [200, 'POST', `${flag}/unarchive`],
    [200, 'POST', '/changeRequests/ws/Default/environments/staging', kill],
    [423, 'DELETE', at('checkout')],
  );
  const ofFlag = await service.audit({ kind: 'flag' });
  expect(ofFlag.at(-1)).toMatchObject({ action: 'create', keyId: null, keyName: 'first' });
  expect(ofFlag[0]).toMatchObject({ keyId: expect.any(String) as string });
  expect(await service.listKeys()).toMatchObject([
    { name: 'first', expirationTime: null, lastUseTime: null },
    { name: 'test' },
  ]);
});

it('the commands say what was copied and what was filled', async () => {
  const location = await aStore();
  const service = await start(location);
  await callsOf(service).ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'one' });
  const run = async (command: string, store: StoreLocation): Promise<CliRun> =>
    cliRun(['service', command, file, ...optionOf(store)]);

  const made = await run('backup', location);
  const again = await run('backup', location);
  const filled = await run('restore', await aStore());
  appendFileSync(file, 'x');
  const spoilt = await run('restore', await aStore());

  expect(made.stdout).toMatch(
    /^wrote .*store\.backup: 1 flags, 0 segments, 0 keys of segments, \d+ entries/,
  );
  expect(filled.stdout).toMatch(/^restored .*store\.backup, taken at \S+Z: 1 flags, /);
  expect([made, again, filled, spoilt].map(({ exitCode }) => exitCode)).toEqual([0, 64, 0, 1]);
  expect(spoilt.stderr).toContain('cannot restore');
});
