import type { WireBucket, WireDefinition } from '../../admin-api/wire.js';
import type { Definition } from '../../model/flag/flag.js';
import { ownMember } from '../../model/collections.js';
import { sameJson } from '../../model/json.js';
import {
  patchOperations,
  canonicalDefinition,
  definitionBody,
  definitionFromWire,
  withFields,
} from '../../model/flag/wire.js';
import type { DesiredDefinition, DesiredFlag } from '../../model/desired.js';
import { objectId, type ObjectId } from '../../model/ref.js';
import type { FieldChange, Withheld } from '../../model/plan.js';
import { entriesOf, type Base } from '../../model/state.js';
import {
  plannedUpdate,
  splitFields,
  usesOf,
  withheld,
  type ObjectPlan,
} from '../planned-change.js';
import { definitionFields, satisfies, targetPath, threeWay } from '../fields.js';
import { isKillOrdered } from '../kills/orders.js';
import {
  afterRestore,
  isTakenBack,
  liveKillHold,
  markOf,
  plannedRestore,
  wentKilled,
  type PlacedDefinition,
} from '../kills/plan.js';
import { withoutBase, type PlanInput } from '../input.js';
import type { PlannedEnvironment } from '../policy.js';
import { requestHold } from '../requests.js';
import { baseOfFound, definitionSpec } from './flag-base.js';
import { planCreation, type PlacedObject } from './placed-object.js';

/** Undefined for a definition that the run left unread. */
export function planDefinition(
  flag: DesiredFlag,
  placed: PlacedObject & { readonly environment: PlannedEnvironment },
  input: PlanInput,
): ObjectPlan | undefined {
  const { environment } = placed;
  const definition = flag.environments.get(environment.name);
  const actual = input.actual.flags.get(flag.name);
  if (!definition || actual?.unread?.has(environment.name)) return undefined;
  const live = actual?.definitions.get(environment.name);
  if (live === undefined) throw new Error(`bug: ${objectId(placed.ref)} was not observed`);
  const uses = usesOf(definition.creation.rules, environment.name);
  const subject = { ...placed, flag, definition, uses };
  const isKilled = isKillOrdered(input.desired, flag.name, environment.name);
  if (live === null) return planDefinitionCreation(subject, isKilled, input);
  // The kill goes first, in a request of its own.
  return planUpdate(subject, isKilled ? { ...live, killed: true } : live, input);
}

/**
 * Marks definitions whose live kill may be another than the one that the state remembers: they were changed on the service
 * since a run saw that kill, and no field shows how. Each may have been restored and killed again, of which an older state
 * that was put back knows nothing. Git takes back the kill of then, so that a person decides about the one of now. What
 * git does not take back is remembered as a kill of now.
 */
export function withOldKills<T extends PlanInput>(input: T): T {
  const { desired, actual, policy } = input;
  const oldKills = new Set<ObjectId>();
  let { state } = input;
  for (const { name: flag, environments } of entriesOf(input.state.values(), 'flag')) {
    for (const environment of policy.environments) {
      const base = environments[environment.id];
      const live = actual.flags.get(flag)?.definitions.get(environment.name);
      const definition = desired.flags.get(flag)?.environments.get(environment.name);
      if (base?.killedAsOf === undefined || !live?.killed || !definition) continue;
      if (base.killedAsOf === markOf(live) || isKillOrdered(desired, flag, environment.name))
        continue;
      // The config takes back either.
      if (environment.onLiveKill === 'revert' && definition.fields.killed === false) continue;
      // The publication of a change request of ours is no hand.
      if (!sameJson(baseOfFound(base, live).spec, base.spec)) continue;
      const differences = definitionDifferences(definition, base, live, input);
      if (differences.some(({ reason }) => reason === 'drift' || reason === 'conflict')) continue;
      const ref = { kind: 'flag', name: flag, environment: environment.name } as const;
      if (isTakenBack({ ref, base, definition, environment }, input)) oldKills.add(objectId(ref));
      else state = afterRestore(state, flag, environment.id);
    }
  }
  return { ...input, state, policy: { ...policy, oldKills } };
}

/** @param live includes the kill, if one is ordered. */
function planUpdate(of: PlacedDefinition, live: WireDefinition, input: PlanInput): ObjectPlan {
  const { flag, definition, environment, rules } = of;
  const place = { flag: flag.name, environment: environment.name };
  const base = of.base && baseOfFound(of.base as Base<Definition>, live);
  const restore = plannedRestore(of, live.killed, input);
  const differences = definitionDifferences(definition, base, live, input);
  const others = [...differences, ...baselineToFollow(of, live, differences)];
  const id = objectId(of.ref);
  const hold = requestHold(live, input.actual.requests?.get(id));
  const kept = restore && liveKillHold(restore, environment, input.policy.oldKills?.has(id));
  const split = splitFields(of, restore ? [restore, ...others] : others, rules, base, (field) => {
    // A restore passes the change request of another change.
    if (field === restore) return kept;
    return hold ?? (rules.revertDrift ? undefined : definition.timed?.get(field.path)?.held);
  });
  // A restore answers a failed check, but no share beyond the last step.
  const isAnswered = restore !== undefined && !kept;
  const waiting = takenBack(of).filter(({ why }) => !isAnswered || why === 'ramp-held');
  const withheldFields = [...split.withheld, ...waiting];
  let { allowed } = split;
  if (allowed.length === 0) return { id, withheld: withheldFields };
  let target = targetOf(definition, live, allowed);
  const dangling = danglingTreatment(target);
  if (dangling !== undefined) {
    const because = `what stays of the live definition names "${dangling}", which would be no treatment any more`;
    const broken = allowed.filter(({ path }) => path !== '/killed');
    const what = { action: 'update' as const, fields: broken };
    withheldFields.push(withheld(of, what, { why: 'still-in-use', because }));
    allowed = allowed.filter(({ path }) => path === '/killed');
    target = targetOf(definition, live, allowed);
  }
  return plannedUpdate(of, { allowed, withheld: withheldFields }, () => [
    {
      action: 'patch-definition',
      ...place,
      operations: patchOperations(live, target),
      expected: live,
    },
  ]);
}

function planDefinitionCreation(
  of: PlacedDefinition,
  isKilled: boolean,
  input: PlanInput,
): ObjectPlan {
  const { flag, environment } = of;
  const declared = canonicalDefinition(of.definition.creation) as Required<Definition>;
  // Created killed, so that it never serves what git, or a person, has ordered off.
  const creation = isKilled || wentKilled(of, input) ? { ...declared, killed: true } : declared;
  const spec = definitionSpec(input.desired, { name: flag.name, environment: environment.name });
  const place = { flag: flag.name, environment: environment.name };
  return planCreation(of, { spec, fields: definitionFields(creation, []) }, () => [
    { action: 'create-definition', ...place, body: definitionBody(creation) },
  ]);
}

/** The steps that git orders and no run takes by itself. */
function takenBack(of: PlacedDefinition): Withheld[] {
  const { fields, timed } = of.definition;
  return [...(timed ?? [])].flatMap(([path, { waits }]) => {
    if (waits === undefined) return [];
    const before = definitionFields(canonicalDefinition(fields), []).get(path);
    const { for: after, ...held } = waits;
    const reason = held.why === 'ramp-held' ? 'commit' : 'ramp';
    return [withheld(of, { action: 'update', fields: [{ path, reason, before, after }] }, held)];
  });
}

function targetOf(
  definition: DesiredDefinition,
  live: WireDefinition,
  allowed: readonly FieldChange[],
): WireDefinition {
  const { baselineTreatment } = definition.creation;
  const desired = { baselineTreatment, ...canonicalDefinition(definition.fields) };
  const written = writtenFields(desired, definitionFromWire(live), allowed);
  // No other change of a kill gets here than a restore.
  const isRestored = allowed.some(({ path }) => path === '/killed');
  const target = withFields(live, { ...written, ...(isRestored && { killed: false }) });
  return written.treatments ? withoutBucketsOfNothing(target, definition.fields) : target;
}

/** Live buckets of size 0 are no difference and stay while unmanaged, but must not name a treatment that is removed. */
function withoutBucketsOfNothing(target: WireDefinition, managed: Definition): WireDefinition {
  const names = new Set(target.treatments.map(({ name }) => name));
  const isLeft = ({ treatment, size }: WireBucket): boolean => size !== 0 || names.has(treatment);
  const { rules, defaultRule } = target;
  return {
    ...target,
    ...(managed.defaultRule && { defaultRule: defaultRule.filter(isLeft) }),
    ...(managed.rules && {
      rules: rules.map((each) => ({ ...each, buckets: each.buckets.filter(isLeft) })),
    }),
  };
}

/** An unmanaged baseline stays, unless its treatment is removed: the service would refuse the definition at every run. */
function baselineToFollow(
  { definition: { fields, creation } }: PlacedDefinition,
  live: WireDefinition,
  differences: readonly FieldChange[],
): FieldChange[] {
  const treatments = differences.find(({ path }) => path === '/treatments');
  const isSaid = fields.baselineTreatment !== undefined;
  const stays = fields.treatments?.some(({ name }) => name === live.baselineTreatment);
  if (!treatments || isSaid || stays) return [];
  const { reason } = treatments;
  const [before, after] = [live.baselineTreatment, creation.baselineTreatment];
  return [{ path: '/baselineTreatment', reason, before, after }];
}

function danglingTreatment(definition: WireDefinition): string | undefined {
  const { treatments, rules, defaultRule, defaultTreatment, baselineTreatment } = definition;
  const names = new Set(treatments.map(({ name }) => name));
  const served = [...rules.map(({ buckets }) => buckets), defaultRule].flat();
  const named = [defaultTreatment, baselineTreatment, ...served.map((each) => each.treatment)];
  return named.find((name) => !names.has(name));
}

/** Leaves out the kill, which has rules of its own. */
function definitionDifferences(
  definition: DesiredDefinition,
  base: Base<Definition> | undefined,
  live: WireDefinition,
  { policy }: PlanInput,
): FieldChange[] {
  const names = live.treatments.map((treatment) => treatment.name);
  const desired = definitionFields(canonicalDefinition(definition.fields), names);
  const actual = definitionFields(definitionFromWire(live), names);
  // Most definitions are as git wants them, whatever their base says.
  if ([...desired].every(([path, wanted]) => satisfies(path, actual.get(path), wanted))) return [];
  // Earlier versions may have stored the base in an older form.
  const baseFields = base?.spec && definitionFields(canonicalDefinition(base.spec), names);
  return threeWay({ base: baseFields, desired, actual, withoutBase: withoutBase(policy, base) })
    .filter(({ path }) => path !== '/killed')
    .map((each) => ({ ...each, reason: definition.timed?.get(each.path)?.reason ?? each.reason }));
}

/** All targets travel in one list of treatments; those of a treatment whose change is held back keep their live value. */
function writtenFields(
  desired: Definition,
  live: Definition,
  changes: readonly FieldChange[],
): Definition {
  const paths = new Set(changes.map((change) => change.path));
  const names = new Set(changes.map((change) => change.path.split('/')[1]));
  const written: Definition = Object.fromEntries(
    Object.entries(desired).filter(([name]) => names.has(name)),
  );
  if (!written.targets) return written;
  const treatments = new Set([...Object.keys(written.targets), ...Object.keys(live.targets ?? {})]);
  const targets = [...treatments].map((name) => {
    const side = paths.has(targetPath(name)) ? written : live;
    return [name, ownMember(side.targets, name) ?? []] as const;
  });
  return { ...written, targets: Object.fromEntries(targets) };
}
