import { MAX_KEYS_PER_REQUEST, type WireIdentity } from '../../admin-api/wire.js';
import { identitiesDifference, identitiesSha256, type Identities } from '../../model/identities.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { DesiredIdentities } from '../../model/desired.js';
import { objectId } from '../../model/ref.js';
import type { KeyChange, Withheld, StepRequest } from '../../model/plan.js';
import { identitiesEntry, type IdentitiesBase, type IdentitiesEntry } from '../../model/state.js';
import { plannedChange, withheld, type ObjectPlan, type ChangeSubject } from '../planned-change.js';
import type { PlanInput } from '../input.js';
import {
  environmentRules,
  withholdReason,
  type PlannedEnvironment,
  type WithheldReason,
  isPlanned,
} from '../policy.js';
import type { PlannedKind } from './planned-kind.js';
import { isUnder } from './spec-paths.js';

/** Approximate bytes of one request: far below the limit of services, even with long attributes. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

const NO_IDENTITIES: Identities = new Map();
const NO_BASE: IdentitiesBase = { groups: [] };

/**
 * Plans the identities of one traffic type in one environment. The service cannot show identities, so they are compared
 * with those that it accepted last. Identities that left git are reported but never deleted.
 */
function planIdentities(identities: DesiredIdentities, input: PlanInput): ObjectPlan[] {
  const { trafficType, location, keys } = identities;
  const environment = input.policy.environments.find(({ name }) => name === identities.environment);
  if (environment?.selected !== true) return [];
  const base = identitiesEntry(input.state, trafficType)?.environments[environment.id]?.spec;
  const subject: ChangeSubject = {
    ref: { kind: 'identities', name: trafficType, environment: environment.name },
    location,
  };
  return [planned({ subject, keys, base, environment }, input)];
}

/** Identities of a traffic type in an environment that git no longer declares. */
function identitiesRemoval(entry: IdentitiesEntry, input: PlanInput): ObjectPlan[] {
  return input.policy.environments.flatMap((environment) => {
    const base = entry.environments[environment.id]?.spec;
    if (!environment.selected || !base) return [];
    if (identitiesIn(input.desired, entry.name, environment.name)) return [];
    const subject: ChangeSubject = {
      ref: { kind: 'identities', name: entry.name, environment: environment.name },
      location: null,
    };
    return [planned({ subject, keys: NO_IDENTITIES, base, environment }, input)];
  });
}

export function identitiesIn(
  { identities }: BoundDesired,
  trafficType: string,
  environment: string | null,
): DesiredIdentities | undefined {
  return identities.find(
    (each) => each.trafficType === trafficType && each.environment === environment,
  );
}

/** Whether the service accepted all identities of the specs in the selected environments. */
export function areIdentitiesTaken({
  desired,
  state,
  policy,
}: Pick<PlanInput, 'desired' | 'state' | 'policy'>): boolean {
  if (desired.identities.length > 0 && policy.identities === 'all') return false;
  return desired.identities.every(({ trafficType, environment: name, keys }) => {
    const environment = policy.environments.find((each) => each.name === name);
    if (environment?.selected !== true) return true;
    const base = identitiesEntry(state, trafficType)?.environments[environment.id]?.spec;
    const { added, changed } = identitiesDifference(keys, (base ?? NO_BASE).groups);
    return added.length + changed.length === 0;
  });
}

interface Planning {
  readonly subject: ChangeSubject;
  readonly keys: Identities;
  readonly base: IdentitiesBase | undefined;
  readonly environment: PlannedEnvironment;
}

function planned(of: Planning, input: PlanInput): ObjectPlan {
  const { subject, keys, base, environment } = of;
  const { policy } = input;
  const id = objectId(subject.ref);
  const { added, changed, gone, thinned } = identitiesDifference(keys, (base ?? NO_BASE).groups);
  const staying = stays(subject, { gone, thinned });
  const others = policy.identities === 'all' ? keysBut(keys, added) : changed;
  if (added.length + others.length === 0) return { id, withheld: staying };
  const sent = [...added, ...others].map((key) => ({ key, values: keys.get(key) ?? {} }));
  const change = {
    action: base ? ('update' as const) : ('create' as const),
    fields: [],
    keys: keyChange(sent, { added, changed: others }),
    reason: isKnown(of, { added, changed }, input) ? ('commit' as const) : ('unknown' as const),
  };
  const held = identitiesWithholdReason(of, input);
  if (held) return { id, withheld: [withheld(subject, change, held), ...staying] };
  const { name: trafficType } = subject.ref;
  const trafficTypeId = input.actual.trafficTypeIds.get(trafficType) ?? trafficType;
  const place = { trafficType, trafficTypeId, environment: environment.name };
  const requests = batches(sent).map((identities): StepRequest => {
    return { action: 'write-identities', ...place, identities };
  });
  return { id, withheld: staying, change: plannedChange(subject, change, requests) };
}

function keysBut(keys: Identities, some: readonly string[]): string[] {
  const left = new Set(some);
  return [...keys.keys()].filter((key) => !left.has(key)).sort();
}

/** Whether git is known to be the reason to write them: not without a state, nor if they were written before. */
function isKnown(
  { base }: Planning,
  { added, changed }: { added: readonly string[]; changed: readonly string[] },
  { policy }: PlanInput,
): boolean {
  if (policy.stateless && !base) return false;
  return added.length + changed.length > 0;
}

function identitiesWithholdReason(
  { environment }: Planning,
  { policy }: PlanInput,
): WithheldReason | undefined {
  if (policy.identities === 'none') {
    return { why: 'not-remembered', because: 'the service cannot show them either' };
  }
  // The other rules protect live values from being overwritten, and no one can read those of identities.
  return withholdReason({ reason: 'commit' }, environmentRules(policy, environment));
}

/** Reported by every plan until the next run that writes, which then forgets them. */
function stays(
  subject: ChangeSubject,
  { gone, thinned }: { gone: readonly string[]; thinned: readonly string[] },
): Withheld[] {
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

function keyChange(
  sent: readonly WireIdentity[],
  { added, changed }: { added: readonly string[]; changed: readonly string[] },
): KeyChange {
  const sha256 = identitiesSha256(sent.map(({ key, values }) => [key, values]));
  return { added, removed: [], changed, sha256 };
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

/** Identities of a traffic type, which is their name: they stand in environments only, and the service shows none. */
export const IDENTITIES_KIND: PlannedKind = {
  // Last, because nothing uses identities, and there may be many.
  rank: 2,
  declarations: ({ identities }) =>
    identities.map(({ trafficType, location, environment, keys }) => ({
      name: trafficType,
      location,
      trafficType,
      environments: new Map([[environment, keys]]),
    })),
  // All of them, because comparing them with the base needs no request.
  inScope: ({ identities }) => ({ identities }),
  plan: (input) =>
    input.desired.identities
      .filter(({ trafficType }) => isPlanned(input.policy, 'identities', trafficType))
      .flatMap((identities) => planIdentities(identities, input)),
  planRemoval: (name, input) => {
    const entry = identitiesEntry(input.state, name);
    return entry ? identitiesRemoval(entry, input) : [];
  },
  fingerprint: (desired, { name, environment }) => {
    const declared = identitiesIn(desired, name, environment);
    return declared ? { sha256: identitiesSha256(declared.keys) } : undefined;
  },
  namesInBase: (state, name) => identitiesEntry(state, name) && { trafficType: name },
  files: {
    isOwn: (path) => isUnder(path, 'identities'),
    mayShape: (path) => isUnder(path, 'identities'),
  },
  reaches: 'nobody',
  observed: null,
};
