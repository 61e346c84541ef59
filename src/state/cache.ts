import { BoundedMap } from '../platform/bounded-map.js';
import type { StateEntry, Base } from '../model/state.js';
import type { StateTree } from './codec.js';
import { sameJson } from '../model/json.js';
import type { Definition } from '../model/flag/flag.js';
import type { Desired } from '../model/desired.js';

/** Commits of a state ref to keep the files of: the one that was read, and the one written since. */
const COMMITS_KEPT = 2;

/**
 * Parsed state that the runs of one process over one config directory share. Its keys are git's hashes of contents and
 * commits, so that nothing in it can be out of date.
 */
export class StateCache {
  /** Path in the tree of the state → blob and parsed entry. */
  readonly entries = new Map<string, { readonly blobId: string; readonly entry: StateEntry }>();
  /** Maps each newly parsed entry to an equal one that may share values with the specs, to save memory. */
  intern: (entry: StateEntry) => StateEntry = (entry) => entry;
  readonly #commits = new BoundedMap<string, StateTree>(COMMITS_KEPT);

  /** The tree of a commit of a state ref; undefined until it has been read. */
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
 * Replaces the bases of an entry by the equal definitions of the specs, and equal names of commits by one text, to save
 * memory: among ten thousand flags nearly all bases equal the specs. The content of the entry does not change.
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
