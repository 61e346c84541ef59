import { sameJson } from '../kinds/json.js';
import type { Definition } from '../kinds/flag.js';
import type { Desired } from '../model/desired.js';
import type { Base, State } from '../model/state.js';

/**
 * Lets bases hold the very definitions of the specs that they equal: of ten thousand flags nearly all do, and each would
 * be held twice. What the state says is the same before and after.
 */
export function shareSpecs(state: State, { flags }: Desired): void {
  for (const entry of state.values()) {
    const flag = entry.kind === 'flag' ? flags.get(entry.name) : undefined;
    if (entry.kind !== 'flag' || flag === undefined) continue;
    const definitions = [...flag.environments.values()];
    for (const base of Object.values<Shared>(entry.environments)) {
      const { spec } = base;
      const same = definitions.find(({ fields }) => sameJson(fields, spec));
      if (same !== undefined) base.spec = same.fields;
    }
  }
}

type Shared = Omit<Base<Definition>, 'spec'> & { spec?: Definition };
