import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { GitCache } from '../../src/git/cache.js';
import type { StateSharing } from '../../src/model/run.js';
import type { State, StateEntry } from '../../src/model/state.js';
import { openStateHome, type StateHomeOptions } from '../../src/state/open.js';
import type { StateStore } from '../../src/state/store.js';
import { checkoutOf, makeDirectory, makeRepository } from './git.js';

export const HEAD = 'a'.repeat(40);

interface HomeOptions extends Partial<
  Pick<StateHomeOptions, 'stateDir' | 'cache' | 'origin' | 'git'>
> {
  readonly sharing?: StateSharing;
  readonly memory?: GitCache;
}

/** The state of a directory, as a run opens it; its checkout is closed with the test. */
export async function findHome(
  directory: string,
  { sharing, memory = new GitCache(), origin = 'http://localhost', ...more }: HomeOptions = {},
): Promise<StateStore | null> {
  const checkout = await checkoutOf(directory, memory);
  const key = { workspaceId: 'ws', origin, directory: '' };
  return openStateHome({ checkout, ...key, ...more }, sharing);
}

export async function homeOf(directory: string, options: HomeOptions = {}): Promise<StateStore> {
  const home = await findHome(directory, options);
  if (home === null) throw new Error('no home');
  return home;
}

export function flag(name: string, trafficAllocation = 100, commit: string = HEAD): StateEntry {
  const base = { spec: { trafficAllocation }, commit };
  return { kind: 'flag', name, id: `id of ${name}`, environments: { 'env-1': base } };
}

export function stateOf(...entries: readonly StateEntry[]): State {
  return new Map(entries.map((entry) => [`${entry.kind}/${entry.name}`, entry]));
}

/** What a write says beside its entries. */
export const said = (message: string): { head: string; message: string } => ({
  head: HEAD,
  message,
});

/** A bare origin with two commits, one older than the other. */
export function makeOrigin(): { url: string; older: string; newer: string } {
  const source = makeRepository();
  const older = source.commit('older');
  const newer = source.commit('newer');
  const url = join(makeDirectory(), 'origin.git');
  execFileSync('git', ['clone', '--quiet', '--bare', source.directory, url]);
  return { url, older, newer };
}

export function makeClone(url: string): string {
  const directory = join(makeDirectory(), 'clone');
  execFileSync('git', ['clone', '--quiet', url, directory]);
  return directory;
}
