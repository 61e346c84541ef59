import { BoundedMap } from '../platform/bounded-map.js';
import type { StateEntry, Base } from '../model/state.js';
import type { StateTree } from './codec.js';
import { sameJson } from '../model/json.js';
import type { Definition } from '../model/flag/flag.js';
import type { Desired } from '../model/desired.js';

/** Commits of a state ref whose files are kept: what was read, and what was written since. */
const COMMITS_KEPT = 2;

/**
 * What the runs of one process over one config directory need not parse again of its state. It goes by git's names of
 * contents and commits, so that nothing in it can be out of date.
 */
export class StateCache {
  /** Path in the tree of the state → the entry that the blob holds. */
  readonly entries = new Map<string, { readonly blobId: string; readonly entry: StateEntry }>();
  /** Called with each entry that was just parsed; gives one with the same content that may share values with the specs. */
  intern: (entry: StateEntry) => StateEntry = (entry) => entry;
  readonly #commits = new BoundedMap<string, StateTree>(COMMITS_KEPT);

  /** What stands at a commit of a state ref; undefined: it was not read yet. */
  treeAt(commit: string): StateTree | undefined {
    return this.#commits.get(commit);
  }

  lastTree(): StateTree | undefined {
    return this.#commits.values().at(-1);
  }

  keepTree(commit: string, tree: StateTree): void {
    this.#commits.set(commit, tree);
  }
}

/**
 * Lets the bases of an entry hold the very definitions of the specs that they equal: of ten thousand flags nearly all
 * do, and each would be held twice; likewise the few commits that they came from. What the entry says is the same.
 */
export function internBases({ flags }: Desired): (entry: StateEntry) => StateEntry {
  const commits = new Map<string | null, string | null>();
  const held = (commit: string | null): string | null => {
    if (!commits.has(commit)) commits.set(commit, commit);
    return commits.get(commit) ?? null;
  };
  return (entry) => {
    if (entry.kind !== 'flag') return entry;
    const flag = flags.get(entry.name);
    if (flag === undefined) return entry;
    const definitions = [...flag.environments.values()];
    const shared = (base: Base<Definition>): Base<Definition> => {
      const same = definitions.find(({ fields }) => sameJson(fields, base.spec));
      return same === undefined ? base : { ...base, commit: held(base.commit), spec: same.fields };
    };
    const bases = Object.entries(entry.environments).map(([id, base]) => [id, shared(base)]);
    return { ...entry, environments: Object.fromEntries(bases) as typeof entry.environments };
  };
}
