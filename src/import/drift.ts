import { sortedMap } from '../model/collections.js';
import { sortedSet } from '../model/json.js';
import { isCreation, type Change, type Plan, type Reason, type Withheld } from '../model/plan.js';
import { keyOf, parseKey, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { State } from '../model/state.js';
import { judgeWithheld } from '../model/verdict.js';
import { observedKind } from '../plan/objects/kinds.js';
import { pendingWithheld } from '../plan/plan.js';
import { strongest } from '../plan/planned-change.js';
import type { PlannedEnvironment } from '../plan/policy.js';

const OUTSIDE: ReadonlySet<Reason> = new Set(['drift', 'conflict', 'adopt', 'unknown']);

export interface Drift {
  /** Objects whose live value differs from git for another reason than a commit, one entry each, sorted by id. */
  readonly differences: readonly Difference[];
  /** Number of changes in git that the service does not have yet. */
  readonly pending: number;
  /** How many of these the specs do not delay: a run has to apply them, or a person has to approve them. */
  readonly unapplied: number;
  /** Identities, which the service cannot show, so that it is unknown whether they differ. */
  readonly unseen: readonly ObjectId[];
}

export interface Difference {
  /** The change that would undo it, with only the fields that were changed outside git. */
  readonly change: Change;
  /** The object was equal to git before and is gone from the service. */
  readonly gone: boolean;
}

export function driftOf(
  plan: Plan,
  state: State,
  environments: readonly PlannedEnvironment[],
): Drift {
  const all: (Change | Withheld)[] = [...plan.changes, ...pendingWithheld(plan)];
  const found = new Map<string, Difference>();
  const add = (difference: Difference): void => {
    const { id } = difference.change;
    const known = found.get(id);
    found.set(id, known ? joined(known, difference) : difference);
  };
  let pending = 0;
  let unapplied = 0;
  for (const change of all) {
    const outside = outsidePart(change, state, environments);
    if (outside === undefined || outside.change.fields.length < change.fields.length) {
      pending += 1;
      if (isUnapplied(change)) unapplied += 1;
    }
    if (outside !== undefined) add(outside);
  }
  // One that comes back with a creation of this plan is not on the service. No file could take one without a place.
  for (const live of plan.liveKills.filter(({ comesBack, location }) => !comesBack && location)) {
    const known = found.get(live.id);
    if (!known?.change.fields.some(({ path }) => path === '/killed')) add(killedOutside(live));
  }
  const seen = [...plan.unchanged, ...[...plan.changes, ...plan.withheld].map(({ id }) => id)];
  const differences = [...sortedMap(found).values()];
  return { differences, pending, unapplied, unseen: sortedSet(seen.filter(isUnseen)) };
}

function isUnapplied(change: Change | Withheld): boolean {
  return 'why' in change ? judgeWithheld(change)?.is === 'held' : change.reason !== 'ramp';
}

/** Git does not order it, so it counts as a difference, though the plan has no change for it. */
function killedOutside({ id, ref, location }: Pick<Change, 'id' | 'ref' | 'location'>): Difference {
  const fields = [{ path: '/killed', reason: 'drift' as const, before: true, after: false }];
  const change = { id, ref, location, action: 'update', reason: 'drift', fields } as const;
  return { change: { ...change, dependsOn: [] }, gone: false };
}

function isUnseen(id: ObjectId): boolean {
  const ref = parseKey(id);
  return ref !== undefined && observedKind(ref.kind) === null;
}

function outsidePart(
  change: Change,
  state: State,
  environments: readonly PlannedEnvironment[],
): Difference | undefined {
  if (isCreation(change)) {
    return wasThere(change.ref, state, environments) ? { change, gone: true } : undefined;
  }
  if (change.action !== 'update') return undefined;
  const fields = change.fields.filter(({ reason }) => OUTSIDE.has(reason));
  if (fields.length > 0) {
    const reason = strongest(fields.map((field) => field.reason));
    return { change: { ...change, fields, reason }, gone: false };
  }
  return change.keys && OUTSIDE.has(change.reason) ? { change, gone: false } : undefined;
}

/** One object may have fields among the changes and among the withheld ones. */
function joined(a: Difference, b: Difference): Difference {
  const fields = [...a.change.fields, ...b.change.fields];
  return {
    ...a,
    change: { ...a.change, fields, reason: strongest([a.change.reason, b.change.reason]) },
  };
}

function wasThere(
  { kind, name, environment }: ObjectRef,
  state: State,
  environments: readonly PlannedEnvironment[],
): boolean {
  const entry = state.get(keyOf(kind, name));
  if (environment === null) return entry?.workspace?.spec !== undefined;
  const id = environments.find((each) => each.name === environment)?.id;
  return id !== undefined && entry?.environments[id]?.spec !== undefined;
}
