import { sameJson } from '../kinds/json.js';
import type { Definition } from '../kinds/flag.js';
import type { Desired } from '../model/desired.js';
import type { Base, StateEntry } from '../model/state.js';

/**
 * Lets the bases of an entry hold the very definitions of the specs that they equal: of ten thousand flags nearly all
 * do, and each would be held twice; likewise the few commits that they came from. What the entry says is the same.
 */
export function sharingSpecs({ flags }: Desired): (entry: StateEntry) => StateEntry {
  const commits = new Map<string | null, string | null>();
  const held = (commit: string | null): string | null => {
    if (!commits.has(commit)) commits.set(commit, commit);
    return commits.get(commit) ?? null;
  };
  return (entry) => {
    const flag = entry.kind === 'flag' ? flags.get(entry.name) : undefined;
    if (entry.kind !== 'flag' || flag === undefined) return entry;
    const definitions = [...flag.environments.values()];
    const shared = (base: Base<Definition>): Base<Definition> => {
      const same = definitions.find(({ fields }) => sameJson(fields, base.spec));
      return same === undefined ? base : { ...base, commit: held(base.commit), spec: same.fields };
    };
    const bases = Object.entries(entry.environments).map(([id, base]) => [id, shared(base)]);
    return { ...entry, environments: Object.fromEntries(bases) as typeof entry.environments };
  };
}
