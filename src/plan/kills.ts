import { KILL } from '../api/wire.js';
import { canonicalDefinition } from '../kinds/flag-wire.js';
import type { Definition } from '../kinds/flag.js';
import type { Desired, DesiredDefinition, DesiredFlag } from '../model/desired.js';
import { objectId, type ObjectRef } from '../model/object-id.js';
import type { FieldChange, Withheld } from '../model/plan.js';
import type { FlagEntry } from '../model/state.js';
import {
  draft,
  partFields,
  withheld,
  type Draft,
  type Drafted,
  type DraftSubject,
} from './draft.js';
import { isKillOrdered, killOrders } from './kill-orders.js';
import type { PlanInput } from './plan-input.js';
import {
  environmentRules,
  isLetThrough,
  isWanted,
  type PlannedEnvironment,
  type PlanPolicy,
} from './policy.js';

/** Whether the operator's filters leave the kills of a flag in an environment to this run. */
export function isKillInReach(
  policy: Pick<PlanPolicy, 'only'>,
  environment: Pick<PlannedEnvironment, 'selected'>,
  flag: string,
): boolean {
  return environment.selected && isLetThrough(policy, 'flag', flag);
}

/**
 * The kills that git orders and the service does not have: of any flag, declared here or not, and whatever else is
 * wrong with it. Each is a draft of its own, so that nothing that holds back other fields holds back a kill.
 */
export function planKills(input: PlanInput): Draft[] {
  const { actual, policy, desired } = input;
  return killOrders(desired).flatMap(({ flag, environment: configName, location }) => {
    const environment = policy.environments.find((each) => each.configName === configName);
    if (!environment || !isKillInReach(policy, environment, flag)) return [];
    const { name } = environment;
    const live = actual.flags.get(flag)?.definitions.get(name);
    if (!live || live.killed) return [];
    const ref: ObjectRef = { kind: 'flag', name: flag, environment: name };
    const fields = [killedChange(true, 'kill')];
    const request = { action: 'kill-flag' as const, flag, environment: name };
    return [draft({ ref, location }, { action: 'update', fields }, [request])];
  });
}

/** What takes back kills of definitions that are not declared here: only `/killed` is written. */
export function planStrangersRestores(input: PlanInput): Drafted[] {
  const { actual, policy, desired } = input;
  return [...policy.restorable.values()].flatMap((ref): Drafted[] => {
    const environment = policy.environments.find((each) => each.name === ref.environment);
    if (!environment?.selected || !isWanted(policy, 'flag', ref.name)) return [];
    const { configName, name } = environment;
    if (desired.flags.get(ref.name)?.environments.has(configName)) return [];
    const live = actual.flags.get(ref.name)?.definitions.get(name);
    if (!live?.killed || isKillOrdered(desired, ref.name, configName)) return [];
    const subject: DraftSubject = { ref, location: null };
    const rules = environmentRules(policy, environment);
    const parted = partFields(subject, [killedChange(false, 'restore')], rules);
    const id = objectId(ref);
    if (parted.allowed.length === 0) return [{ id, withheld: parted.withheld }];
    const operations = KILL.map((operation) => ({ ...operation, value: false }));
    const place = { flag: ref.name, environment: name };
    const request = { action: 'patch-definition' as const, ...place, operations, expected: live };
    const what = { action: 'update' as const, fields: parted.allowed };
    return [{ id, withheld: [], draft: draft(subject, what, [request]) }];
  });
}

/** Drafts with the kills in them: a kill of something that changes anyway is a part of the same change. */
export function withKills(drafts: readonly Draft[], kills: readonly Draft[]): Draft[] {
  const byId = new Map(drafts.map((each) => [each.change.id, each]));
  for (const kill of kills) {
    const { id } = kill.change;
    const other = byId.get(id);
    byId.set(id, other ? joined(kill, other) : kill);
  }
  return [...byId.values()];
}

function joined(kill: Draft, other: Draft): Draft {
  return {
    ...other,
    change: {
      ...other.change,
      reason: 'kill',
      fields: [...kill.change.fields, ...other.change.fields],
    },
    requests: [...kill.requests, ...other.requests],
  };
}

export interface PlannedRestore {
  readonly changes: readonly FieldChange[];
  readonly written: { readonly killed?: boolean };
  readonly withheld: (subject: DraftSubject) => Withheld[];
}

const NOTHING: PlannedRestore = { changes: [], written: {}, withheld: () => [] };

interface KillSubject {
  readonly flag: DesiredFlag;
  readonly definition: DesiredDefinition;
  readonly entry: FlagEntry | undefined;
  readonly environment: PlannedEnvironment;
}

/**
 * What becomes of a live kill that git does not order.
 *
 * A restore is an act, never a state: it is planned only when the base has the kill and the specs take it back, or
 * when `killed: false` came after the kill was seen. Any other live kill stays.
 */
export function plannedRestore(of: KillSubject, killed: boolean, input: PlanInput): PlannedRestore {
  const { flag, definition, environment } = of;
  if (!killed || isKillOrdered(input.desired, flag.name, environment.configName)) return NOTHING;
  const id = objectId({ kind: 'flag', name: flag.name, environment: environment.name });
  if (isTakenBack(of, input.desired) || input.policy.restorable.has(id)) return written('restore');
  if (definition.fields.killed !== false) return NOTHING;
  if (environment.onLiveKill === 'revert') return written('drift');
  return { ...NOTHING, withheld: (subject) => [liveKill(subject)] };
}

/**
 * Whether the base has a kill that HEAD takes back. An entry is taken back by the list that stands without it: a list
 * that vanished takes nothing back, whatever the flag says beside it.
 */
function isTakenBack({ definition, entry, environment }: KillSubject, desired: Desired): boolean {
  const base = entry?.environments[environment.id];
  if (base?.spec?.killed !== true) return false;
  if (base.killListed === true) return desired.killLists.has(environment.configName);
  return definition.fields.killed === false;
}

function written(reason: 'restore' | 'drift'): PlannedRestore {
  return { changes: [killedChange(false, reason)], written: { killed: false }, withheld: () => [] };
}

function killedChange(killed: boolean, reason: 'kill' | 'restore' | 'drift'): FieldChange {
  return { path: '/killed', reason, before: !killed, after: killed };
}

function liveKill(subject: DraftSubject): Withheld {
  const wayOut =
    'somebody killed the flag on the service; run `flaghoist restore`, or order the kill in git';
  const fields = [killedChange(false, 'drift')];
  return withheld(subject, { action: 'update', fields }, { why: 'live-kill', wayOut });
}

/** The managed fields with the kills of the break-glass list in them: what a base remembers. */
export function effectiveFields(of: Omit<KillSubject, 'entry'>, desired: Desired): Definition {
  const fields = canonicalDefinition(of.definition.fields);
  const isKilled = isKillOrdered(desired, of.flag.name, of.environment.configName);
  return isKilled ? { ...fields, killed: true } : fields;
}
