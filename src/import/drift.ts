import { keyOf, parseKey, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { Change, LiveKill, Plan, Reason, Withheld } from '../model/plan.js';
import type { State } from '../model/state.js';
import { isHeld } from '../model/unfinished.js';
import { strongest } from '../plan/planned-change.js';
import { observedKind } from '../plan/objects/kinds.js';
import { pendingWithheld } from '../plan/plan.js';
import type { PlannedEnvironment } from '../plan/policy.js';

/** Reasons of differences that did not come about by a commit alone. */
const OUTSIDE: ReadonlySet<Reason> = new Set(['drift', 'conflict', 'adopt', 'unknown']);

/** A plan parted by whose doing its differences are. */
export interface Drift {
  /** What is live is not what git says, for another reason than a commit; one entry per object, sorted by id. */
  readonly differences: readonly Difference[];
  /** Changes that git has and the service has not yet. */
  readonly pending: number;
  /** Of these the ones that no word of the specs keeps waiting: a run has to apply them, or a person has to let them pass. */
  readonly unapplied: number;
  /** Identities: the service cannot show them, so nobody knows whether they came apart. */
  readonly unseen: readonly ObjectId[];
}

/** One object that was changed outside git. */
export interface Difference {
  /** The change that would undo it, with the fields that were changed outside git and no others. */
  readonly change: Change;
  /** The object was found equal before, and is not on the service any more. */
  readonly gone: boolean;
}

/** Reads a plan from the other side. What the service can never change counts for nothing. */
export function driftOf(
  plan: Plan,
  state: State,
  environments: readonly PlannedEnvironment[],
): Drift {
  const all: (Change | Withheld)[] = [...plan.changes, ...pendingWithheld(plan)];
  const found = new Map<string, Difference>();
  let [pending, unapplied] = [0, 0];
  for (const change of all) {
    const outside = outsidePart(change, state, environments);
    if (outside === undefined || isPartly(change, outside)) {
      pending += 1;
      if ('why' in change ? isHeld(change) : change.reason !== 'ramp') unapplied += 1;
    }
    if (outside === undefined) continue;
    const known = found.get(change.id);
    found.set(change.id, known ? joined(known, outside) : outside);
  }
  for (const kill of plan.liveKills) {
    const known = found.get(kill.id);
    if (known?.change.fields.some(({ path }) => path === '/killed')) continue;
    found.set(kill.id, known ? joined(known, killedOutside(kill)) : killedOutside(kill));
  }
  const ids = [...found.keys()].sort();
  const seen = [...plan.unchanged, ...[...plan.changes, ...plan.withheld].map(({ id }) => id)];
  const unseen = [...new Set(seen)].filter(isUnseen).sort();
  return { differences: ids.flatMap((id) => found.get(id) ?? []), pending, unapplied, unseen };
}

/** A live kill is no change of the plan, but it is a difference: git does not say it. */
function killedOutside({ id, ref, location }: LiveKill): Difference {
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
  if (change.action === 'create' || change.action === 'activate') {
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

function isPartly({ fields }: Change, { change }: Difference): boolean {
  return change.fields.length < fields.length;
}

/** Fields of one object may be parted between what is written and what is withheld. */
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
