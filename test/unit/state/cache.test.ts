import { describe, expect, it, onTestFinished } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { StateCache } from '../../../src/state/tree.js';
import { openStateHome } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import type { State, StateEntry } from '../../../src/model/state.js';
import { makeRepository, type TestRepository } from '../../support/git.js';

async function homeOf(repository: TestRepository, cache: StateCache): Promise<StateHome> {
  const checkout = await openCheckout(repository.directory);
  onTestFinished(async () => checkout.close());
  const place = { workspaceId: 'ws', origin: 'http://localhost', directory: '' };
  const home = await openStateHome({ checkout, ...place, cache });
  if (home === null) throw new Error('no home');
  return home;
}

describe('the cache of the state', () => {
  it('knows the state that it wrote as one who reads it finds it', async () => {
    const repository = makeRepository();
    const cache = new StateCache();
    const head = repository.commit('one');
    const home = await homeOf(repository, cache);
    await home.read();
    const odd = { ...entry('odd name', '1'), more: 'than an entry has', id: undefined };
    await home.write(stateOf(odd as unknown as StateEntry, entry('gone', '1')), {
      head,
      message: 'Apply',
    });
    await home.write(stateOf(odd as unknown as StateEntry, entry('b', '1')), {
      head,
      message: 'Apply',
    });

    const known = await (await homeOf(repository, cache)).read();

    expect(known).toStrictEqual(await (await homeOf(repository, new StateCache())).read());
    expect([...known.state.keys()].toSorted()).toEqual(['flag/b', 'flag/odd name']);
  });

  it('gives the same entries of the state as long as their files are the same', async () => {
    const repository = makeRepository();
    const cache = new StateCache();
    const head = repository.commit('one');
    const home = await homeOf(repository, cache);
    await home.read();
    await home.write(stateOf(entry('a', '1'), entry('b', '1')), { head, message: 'Apply' });
    const before = (await (await homeOf(repository, cache)).read()).state;

    const other = await homeOf(repository, new StateCache());
    await other.read();
    await other.write(stateOf(entry('a', '2'), entry('b', '1')), { head, message: 'Apply' });

    const { state } = await (await homeOf(repository, cache)).read();
    expect(state).toEqual(stateOf(entry('a', '2'), entry('b', '1')));
    expect(state.get('flag/b')).toBe(before.get('flag/b'));
  });
});

function entry(name: string, id: string): StateEntry {
  return { kind: 'flag', name, id, environments: {} };
}

function stateOf(...entries: StateEntry[]): State {
  return new Map(entries.map((each) => [`${each.kind}/${each.name}`, each]));
}
