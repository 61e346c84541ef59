import { posix } from 'node:path';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { DesiredActivation } from '../../model/desired.js';
import type { KeyDetail, ScopedObjects, SegmentScope } from '../../model/actual.js';
import { NO_KEYS, sameKeys, type KeyList } from '../../model/segment-keys.js';
import {
  segmentEntry,
  type ActivationBase,
  type Base,
  type SegmentBase,
} from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { planDeclared } from './placed-object.js';
import type { PlacedName } from '../place.js';
import type { WithheldReason } from '../policy.js';
import type {
  KeyCounting,
  ObservedPlaces,
  Parts,
  PlannedKind,
  ScopeInput,
} from './planned-kind.js';
import { baseSpec, keyRemovals, planActivation, planWorkspaceLevel } from './segment.js';

export const SEGMENT_KIND: PlannedKind = {
  declarations: ({ segments }) => [...segments.values()],
  plan: (input) => {
    const levels = { workspace: planWorkspaceLevel, environment: planActivation };
    return planDeclared('segment', input.desired.segments, levels, input);
  },
  fingerprint: ({ segments }, { name, environment }) => {
    const segment = segments.get(name);
    if (!segment || environment === null) {
      return segment && { trafficType: segment.trafficType, description: segment.description };
    }
    const activation = segment.environments.get(environment);
    return activation && { mode: activation.mode, keys: activation.keys?.digest ?? null };
  },
  namesInBase: (state, name) => {
    const base = segmentEntry(state, name)?.workspace?.spec;
    return base && { trafficType: base.trafficType };
  },
  files: {
    isOwn: (path, { name }) => {
      if (!path.startsWith('segments/')) return false;
      const file = posix.basename(path);
      return file === `${name}.yaml` || (file.startsWith(`${name}.`) && file.endsWith('.keys'));
    },
    // Several segments may share a key file, whatever its name.
    mayShape: (path) => path.endsWith('.keys'),
  },
  reaches: 'by-keys',
  observed: {
    declared: ({ segments }) => segments,
    scope: segmentScope,
    wholeScope: (names, environments) => ({
      segments: new Map(names.map((name) => [name, { environments: allKeysIn(environments) }])),
    }),
    parts: segmentParts,
    spec: segmentSpec,
    seen: ({ segments }, name) => {
      const found = segments.get(name);
      return (
        found && {
          existence: found.segment ? 'present' : 'absent',
          places: new Map([...found.environments].map(([place, { active }]) => [place, active])),
        }
      );
    },
  },
};

/** Removed segments with all their keys. */
function segmentScope(
  places: ReadonlyMap<string, ObservedPlaces>,
  { desired, state, counting, needed }: ScopeInput,
): Partial<ScopedObjects> {
  const segments = new Map<string, SegmentScope>();
  for (const [name, { declared, removed }] of places) {
    const activations = desired.segments.get(name)?.environments;
    const bases = segmentEntry(state, name)?.environments;
    const environments = allKeysIn(removed);
    for (const { name: place, id } of declared) {
      const activation = activations?.get(place);
      if (activation) environments.set(place, keyDetail(activation, bases?.[id], counting));
    }
    segments.set(name, { environments });
  }
  for (const [name, places] of needed.get('segment') ?? []) {
    const environments = new Map([...places].map((place) => [place, 'activation' as const]));
    segments.set(name, { environments, placesAlone: true });
  }
  return { segments };
}

function allKeysIn(environments: readonly string[]): Map<string, KeyDetail> {
  return new Map(environments.map((name) => [name, 'keys']));
}

/** Number of keys that at most 20 requests list: a page has 100. */
const FEW_KEYS = 2_000;

/** Counting is useless for an add-only segment, which may hold keys of others. */
function keyDetail(
  { keys, mode }: DesiredActivation,
  base: Base<ActivationBase> | undefined,
  counting: KeyCounting,
): KeyDetail {
  if (!keys || mode === 'external') return 'activation';
  const remembered = base?.spec?.keys;
  if (!remembered || mode !== 'exact' || !sameKeys(remembered, keys.digest)) return 'keys';
  const isCounted = counting === 'always' || (counting === 'large' && remembered.count > FEW_KEYS);
  return isCounted ? remembered : 'keys';
}

function segmentSpec(
  { segments }: BoundDesired,
  { name, environment }: PlacedName,
): SegmentBase | ActivationBase | undefined {
  const segment = segments.get(name);
  if (environment === null) return segment && { trafficType: segment.trafficType };
  const activation = segment?.environments.get(environment);
  return activation && baseSpec(activation);
}

function segmentParts(name: string, input: PlanInput): Parts | undefined {
  const actual = input.actual.segments.get(name);
  if (!actual?.segment) return undefined;
  const entry = segmentEntry(input.state, name);
  const trafficType = actual.segment.trafficType.name;
  const unseenUsers = input.actual.allFlags === null ? UNSEEN_USERS : undefined;
  return {
    placeIn: ({ name: environment, id }) => {
      const live = actual.environments.get(environment);
      if (!live?.active) return undefined;
      const place = { segment: name, environment };
      const held = live.keys?.keys ?? [];
      return {
        action: 'deactivate',
        fields: [],
        keys: { added: [], removed: held, sha256: NO_KEYS.digest.sha256 },
        requests: [...keyRemovals(place, held), { action: 'deactivate-segment', ...place }],
        held: unseenUsers ?? keysOfOthers(live.keys, entry?.environments[id]?.spec),
      };
    },
    whole: () => ({
      action: 'delete',
      fields: [{ path: '/trafficType', reason: 'prune', before: trafficType }],
      requests: [{ action: 'delete-segment', segment: name }],
      held: unseenUsers,
    }),
  };
}

const UNSEEN_USERS: WithheldReason = {
  why: 'still-in-use',
  because: 'the service cannot list the flags that may use it; delete it there by hand',
};

export const KEYS_OF_OTHERS =
  'it holds keys that git did not put there; empty it on the service first';

/** Git may not delete keys that it never wrote: those of an external segment, and keys added to ours. */
function keysOfOthers(
  live: KeyList | undefined,
  base: ActivationBase | undefined,
): WithheldReason | undefined {
  if (!live || live.keys.length === 0) return undefined;
  if (base?.keys && sameKeys(base.keys, live.digest)) return undefined;
  return { why: 'still-in-use', because: KEYS_OF_OTHERS };
}
