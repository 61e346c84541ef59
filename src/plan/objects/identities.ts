import { MAX_KEYS_PER_REQUEST, type WireIdentity } from '../../admin-api/wire.js';
import {
  identitiesDifference,
  identitiesSha256,
  type Identities,
  type IdentitiesDifference,
} from '../../model/identities.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { DesiredKeys } from '../../model/desired.js';
import { objectId } from '../../model/ref.js';
import type { Withheld, StepRequest } from '../../model/plan.js';
import { entriesOf, entryOf, type State } from '../../model/state.js';
import { heldOrPlanned, withheld, type ObjectPlan, type ChangeSubject } from '../planned-change.js';
import type { PlanInput } from '../input.js';
import {
  rulesIn,
  withholdReason,
  type PlannedEnvironment,
  type WithheldReason,
  isPlanned,
} from '../policy.js';
import type { PlannedKind } from './planned-kind.js';

/** Approximate bytes of one request: far below the limit of services, even with long attributes. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

const NO_IDENTITIES: Identities = new Map();

/**
 * The service cannot show identities, so they are compared with those that it accepted last. Identities that left git
 * are reported but never deleted.
 */
function planIdentities(trafficType: string, input: PlanInput): ObjectPlan[] {
  return input.policy.environments.flatMap((environment) =>
    environment.selected ? planPlace(trafficType, environment, input) : [],
  );
}

export function trafficTypesOfIdentities(desired: BoundDesired, state: State): ReadonlySet<string> {
  const remembered = entriesOf(state.values(), 'identities').map(({ name }) => name);
  return new Set([...desired.identities.keys(), ...remembered]);
}

export function identitiesIn(
  { identities }: BoundDesired,
  trafficType: string,
  environment: string | null,
): DesiredKeys | undefined {
  return identities.get(trafficType)?.environments.get(environment ?? '');
}

/** Whether the service accepted all identities of the specs in the selected environments. */
export function areIdentitiesTaken({
  desired,
  state,
  policy,
}: Pick<PlanInput, 'desired' | 'state' | 'policy'>): boolean {
  if (desired.identities.size > 0 && policy.identities === 'all') return false;
  return [...desired.identities.values()].every(({ trafficType, environments }) =>
    policy.environments.every(({ name, id, selected }) => {
      const declared = environments.get(name);
      if (!selected || !declared) return true;
      const base = entryOf(state, 'identities', trafficType)?.environments[id]?.spec;
      const { added, changed } = identitiesDifference(declared.keys, base?.groups ?? []);
      return added.length + changed.length === 0;
    }),
  );
}

function planPlace(
  trafficType: string,
  environment: PlannedEnvironment,
  input: PlanInput,
): ObjectPlan[] {
  const { policy, desired, state } = input;
  const declared = identitiesIn(desired, trafficType, environment.name);
  const base = entryOf(state, 'identities', trafficType)?.environments[environment.id]?.spec;
  if (!declared && !base) return [];
  const { keys, location } = declared ?? { keys: NO_IDENTITIES, location: null };
  const ref = { kind: 'identities' as const, name: trafficType, environment: environment.name };
  const subject: ChangeSubject = { ref, location };
  const difference = identitiesDifference(keys, base?.groups ?? []);
  const staying = stays(subject, difference);
  const { added } = difference;
  const changed = policy.identities === 'all' ? keysBut(keys, added) : difference.changed;
  const keysToSend = [...added, ...changed];
  if (keysToSend.length === 0) return [{ id: objectId(ref), withheld: staying }];
  const sent = keysToSend.map((key) => ({ key, values: keys.get(key) ?? {} }));
  // Git is no known reason without a state, nor for keys that were written before.
  const isKnown =
    (base !== undefined || !policy.stateless) && added.length + difference.changed.length > 0;
  const sha256 = identitiesSha256(sent.map(({ key, values }) => [key, values]));
  const change = {
    action: base ? ('update' as const) : ('create' as const),
    fields: [],
    keys: { added, removed: [], changed, sha256 },
    reason: isKnown ? ('commit' as const) : ('unknown' as const),
  };
  const trafficTypeId = input.actual.trafficTypeIds.get(trafficType) ?? trafficType;
  const place = { trafficType, trafficTypeId, environment: environment.name };
  const requests = (): StepRequest[] =>
    batches(sent).map((identities) => ({ action: 'write-identities', ...place, identities }));
  // The other rules protect live values from being overwritten, and no one can read those of identities.
  const held: WithheldReason | undefined =
    policy.identities === 'none'
      ? { why: 'not-remembered', because: 'the service cannot show them either' }
      : withholdReason({ reason: 'commit' }, rulesIn(policy, environment));
  return [heldOrPlanned(subject, change, held, requests, staying)];
}

function keysBut(keys: Identities, some: readonly string[]): string[] {
  const left = new Set(some);
  return [...keys.keys()].filter((key) => !left.has(key)).sort();
}

/** Reported by every plan until the next run that writes, which then forgets them. */
function stays(subject: ChangeSubject, { gone, thinned }: IdentitiesDifference): Withheld[] {
  if (gone.length + thinned.length === 0) return [];
  const change = {
    action: gone.length > 0 ? ('delete' as const) : ('update' as const),
    fields: [],
    reason: 'prune' as const,
    keys: { added: [], removed: gone, changed: thinned, sha256: identitiesSha256([]) },
  };
  const because = 'flagkeel deletes no identity and no attribute of one';
  return [withheld(subject, change, { why: 'stays-on-service', because })];
}

/** As few batches as the service permits, in order. */
function batches(identities: readonly WireIdentity[]): WireIdentity[][] {
  const all: WireIdentity[][] = [];
  let bytes = 0;
  for (const identity of identities) {
    const size = Buffer.byteLength(JSON.stringify(identity)) + 1;
    const last = all.at(-1);
    if (last && last.length < MAX_KEYS_PER_REQUEST && bytes + size <= MAX_BATCH_BYTES) {
      last.push(identity);
      bytes += size;
    } else {
      all.push([identity]);
      bytes = size;
    }
  }
  return all;
}

/** The service shows none of them. */
export const IDENTITIES_KIND: PlannedKind = {
  plan: (input) =>
    [...trafficTypesOfIdentities(input.desired, input.state)]
      .filter((name) => isPlanned(input.policy, 'identities', name))
      .flatMap((name) => planIdentities(name, input)),
  fingerprint: (desired, { name, environment }) => {
    const declared = identitiesIn(desired, name, environment);
    return declared ? { sha256: identitiesSha256(declared.keys) } : undefined;
  },
  fieldsOf: null,
  files: {
    isOwn: (path) => path.startsWith('identities/'),
    mayShape: (path) => path.startsWith('identities/'),
  },
  reaches: 'nobody',
  observed: null,
};
