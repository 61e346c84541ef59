import { definitionFromWire } from '../../src/model/flag/wire.js';
import { entriesOf, type State } from '../../src/model/state.js';
import type { World } from '../support/service-model.js';
import type { Planted } from './small-run.js';

/** Errors that a run could make, each planted around the real functions: an exploration that holds must find them. */
export const PLANTED = {
  /** What the service has of a field counts as what was last found equal, though it was held back. */
  'base of a withheld field': { writes: (world) => (state) => withBases(state, world) },
  /** Of what nothing is remembered of it is believed that git once ordered a kill that stands. */
  'restore on lost state': {
    reads: (world) => (state) => (state.size > 0 ? state : withKills(world)),
  },
  /** Nobody asks whether the lease is held still. */
  'write after the fence': { withoutFence: true },
} as const satisfies Readonly<Record<string, Planted>>;

export type PlantedName = keyof typeof PLANTED;

const PLACES = { 'env-staging': 'staging', 'env-production': 'production' } as const;

function withBases(state: State, world: World): State {
  const next = new Map(state);
  for (const entry of entriesOf(state.values(), 'flag')) {
    const environments = { ...entry.environments };
    for (const [id, place] of Object.entries(PLACES)) {
      const live = world.flags.get(entry.name)?.definitions.get(place);
      const base = environments[id];
      if (!live || !base?.spec) continue;
      const { defaultRule, trafficAllocation } = definitionFromWire(live);
      environments[id] = { ...base, spec: { ...base.spec, defaultRule, trafficAllocation } };
    }
    next.set(`flag/${entry.name}`, { ...entry, environments });
  }
  return next;
}

function withKills(world: World): State {
  const flags = [...world.flags].map(([name, { definitions }]) => {
    const bases = Object.entries(PLACES).flatMap(([id, place]) => {
      const live = definitions.get(place);
      const spec = live && definitionFromWire(live);
      return spec?.killed === true ? [[id, { spec, killListed: true, commit: null }] as const] : [];
    });
    const entry = { kind: 'flag' as const, name, environments: Object.fromEntries(bases) };
    return [`flag/${name}`, entry] as const;
  });
  return new Map(flags.filter(([, { environments }]) => Object.keys(environments).length > 0));
}
