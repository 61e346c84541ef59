import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { GitCache } from '../../../src/git/cache.js';
import { openCheckout } from '../../../src/git/checkout.js';
import type { StateSharing } from '../../../src/model/run.js';
import type { State } from '../../../src/model/state.js';
import { openStateHome } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import { makeDirectory, makeRepository } from '../../support/git.js';

const META = { head: 'a'.repeat(40), message: 'Apply' };

function stateOf(...names: readonly string[]): State {
  const environments = { e: { spec: { trafficAllocation: 1 }, commit: META.head } };
  return new Map(names.map((name) => [`flag/${name}`, { kind: 'flag', name, environments }]));
}

let url: string;

beforeEach(() => {
  const source = makeRepository();
  source.commit('first');
  url = join(makeDirectory(), 'origin.git');
  execFileSync('git', ['clone', '--quiet', '--bare', source.directory, url]);
});

function makeClone(): string {
  const directory = join(makeDirectory(), 'clone');
  execFileSync('git', ['clone', '--quiet', url, directory]);
  return directory;
}

async function homeIn(
  directory: string,
  {
    memory = new GitCache(),
    sharing = 'auto',
    origin = 'http://localhost',
  }: { memory?: GitCache; sharing?: StateSharing; origin?: string } = {},
): Promise<StateHome> {
  const checkout = await openCheckout(directory, memory);
  onTestFinished(async () => checkout.close());
  const place = { checkout, workspaceId: 'ws', origin, directory: '', environments: {} };
  const home = await openStateHome(place, sharing);
  if (!home) throw new Error('no home');
  return home;
}

/** One run that writes: lock, read, write, release. */
async function wrote(home: StateHome, ...names: readonly string[]): Promise<void> {
  const release = await home.lock(0);
  await home.read();
  await home.write(stateOf(...names), META);
  await release();
}

function refusePushes(): void {
  const hook = join(url, 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\nexit 1\n');
  chmodSync(hook, 0o755);
}

describe('a state that is shared where it can be', { timeout: 30_000 }, () => {
  it('is there for the next clone', async () => {
    const home = await homeIn(makeClone());
    await wrote(home, 'a');

    expect(home.notShared()).toBeNull();
    expect((await (await homeIn(makeClone())).read()).state).toEqual(stateOf('a'));
  });

  it('stays on this machine where it may not be pushed, beside what others wrote, and says so', async () => {
    await wrote(await homeIn(makeClone()), 'a');
    refusePushes();
    const clone = makeClone();
    const home = await homeIn(clone);
    await wrote(home, 'a', 'b');

    expect(home.notShared()).toMatchObject({ isRead: true });
    expect((await (await homeIn(clone)).read()).state).toEqual(stateOf('a', 'b'));
    expect((await (await homeIn(makeClone())).read()).state).toEqual(stateOf('a'));
  });

  it('goes on with what was fetched last where origin is out of reach, and says so', async () => {
    await wrote(await homeIn(makeClone()), 'a');
    const clone = makeClone();
    await (await homeIn(clone)).read();
    renameSync(url, `${url}.away`);
    const home = await homeIn(clone);

    expect((await home.read()).state).toEqual(stateOf('a'));
    expect(home.notShared()).toMatchObject({ isRead: false });
    await wrote(home, 'a', 'b');
    expect((await home.read()).state).toEqual(stateOf('a', 'b'));
  });

  it('cannot be used where it has to be shared and origin is out of reach', async () => {
    const clone = makeClone();
    renameSync(url, `${url}.away`);
    const home = await homeIn(clone, { sharing: 'always' });

    await expect(home.read()).rejects.toMatchObject({ code: 'GIT' });
    await expect(home.lock(0)).rejects.toMatchObject({ code: 'GIT' });
  });

  it.each([
    ['of an embedded service', { origin: 'embedded:store' }],
    ['that is not to be shared', { sharing: 'never' }],
  ] as const)('stays on this machine: one %s', async (_, options) => {
    const home = await homeIn(makeClone(), options);
    await wrote(home, 'a');

    expect(home.notShared()).toBeNull();
    expect(execFileSync('git', ['for-each-ref', 'refs/flagkeel'], { cwd: url }).length).toBe(0);
  });

  it('is shared with an origin that was added after an earlier run of the same process', async () => {
    const repository = makeRepository();
    const { directory } = repository;
    const memory = new GitCache();
    await wrote(await homeIn(directory, { memory }), 'a');
    repository.git('remote', 'add', 'origin', url);
    await wrote(await homeIn(directory, { memory }), 'a', 'b');

    expect((await (await homeIn(makeClone())).read()).state).toEqual(stateOf('a', 'b'));
  });

  it('is this machine’s own where the checkout has no origin, and nothing is missing', async () => {
    const { directory } = makeRepository();
    const home = await homeIn(directory);
    await wrote(home, 'a');

    expect(home.notShared()).toBeNull();
    expect((await (await homeIn(directory)).read()).state).toEqual(stateOf('a'));
  });
});
