import { posix } from 'node:path';
import {
  flagFieldsFromWire,
  flagFieldsPatch,
  lacksOnly,
  withTag,
  type FlagFields,
  type FlagFieldsChange,
} from '../../model/flag/fields.js';
import type { ActualFlag } from '../../model/actual.js';
import type { DesiredFlag } from '../../model/desired.js';
import { objectId } from '../../model/ref.js';
import type { FieldChange, StepRequest } from '../../model/plan.js';
import { flagEntry, type Base, type FlagBase } from '../../model/state.js';
import { planDefinition } from './definition.js';
import {
  plannedUpdate,
  splitFields,
  type ObjectPlan,
  type SplitFields,
} from '../planned-change.js';
import { flagFields, flagFieldsChange, definitionFields, threeWay } from '../fields.js';
import { withoutBase, type PlanInput } from '../input.js';
import { canonicalDefinition, definitionFromWire } from '../../model/flag/wire.js';
import { rememberingKills } from '../kills/plan.js';
import {
  baseOfFlag,
  comparedFields,
  createdDefinition,
  declaredFields,
  flagSpec,
  liveTrafficType,
  withEqualFields,
  writtenForm,
} from './flag-base.js';
import {
  immutable,
  isArchived,
  NOT_OURS,
  planCreation,
  planDeclared,
  removedFields,
  type PlacedObject,
} from './placed-object.js';
import type { KindFiles, Parts, PlannedKind } from './planned-kind.js';

function planWorkspaceLevel(flag: DesiredFlag, placed: PlacedObject, input: PlanInput): ObjectPlan {
  const actual = input.actual.flags.get(flag.name);
  if (!actual) throw new Error(`bug: flag "${flag.name}" was not observed`);
  const { trafficType: after } = flag;
  const before = liveTrafficType(actual) ?? after;
  if (before !== after) {
    const because = 'the traffic type of a flag is set at its creation';
    const held = immutable(placed, [{ path: '/trafficType', before, after }], because);
    return { id: objectId(placed.ref), withheld: held };
  }
  const base = placed.base as Base<FlagBase> | undefined;
  if (isToBeCreated(actual, base)) return planFlagCreation(flag, actual, placed, input);
  const differences = workspaceDifferences(flag, actual, base, input);
  const split = withOfConfig(splitFields(placed, differences, placed.rules, base), input);
  return plannedUpdate(placed, split, (allowed) =>
    patchRequests(flag, flagFieldsChange(allowed), input),
  );
}

/** Marks what is held back of flagkeel.yaml alone. */
function withOfConfig({ allowed, withheld }: SplitFields, { desired }: PlanInput): SplitFields {
  const { ownershipTag } = desired.config;
  const held = withheld.map((each) =>
    lacksOnly(ownershipTag, each.fields) ? { ...each, ofConfig: true as const } : each,
  );
  return { allowed, withheld: held };
}

/** If the service cannot return a single flag, trusts the inventory: creating an existing flag would be refused. */
function isToBeCreated(actual: ActualFlag, base: Base<FlagBase> | undefined): boolean {
  if (actual.existence === 'unknown') return base?.spec === undefined;
  return actual.existence === 'absent';
}

function planFlagCreation(
  flag: DesiredFlag,
  { existence }: ActualFlag,
  placed: PlacedObject,
  input: PlanInput,
): ObjectPlan {
  const { name, trafficType, creation: sent = flag.fields } = flag;
  // A flag that the service cannot show may have tags already, which one tag must not replace.
  const creation = existence === 'absent' ? withTag(sent, flag.ownershipTag) : sent;
  const fields = new Map([['/trafficType', trafficType], ...flagFields(creation)]);
  const { description = '', ...later } = creation;
  const place = { flag: name, trafficType, description, mayExist: existence === 'unknown' };
  return planCreation(placed, { spec: baseOfFlag(flag), fields }, () => [
    { action: 'create-flag', ...place },
    ...patchRequests(flag, { before: OF_NEW_FLAG, after: later }, input),
  ]);
}

/** No rollout status is among these, because a service may give a new flag one of its own. */
const OF_NEW_FLAG: FlagFields = { tags: [] };

function patchRequests(
  { name: flag }: DesiredFlag,
  fields: FlagFieldsChange,
  { actual }: PlanInput,
): StepRequest[] {
  const operations = flagFieldsPatch(fields.after, actual.rolloutStatuses);
  return operations.length === 0 ? [] : [{ action: 'patch-flag', flag, operations, fields }];
}

/** If the service cannot show the flag, changes in git since the base are written, and drift stays unseen. */
function workspaceDifferences(
  flag: DesiredFlag,
  actual: ActualFlag,
  base: Base<FlagBase> | undefined,
  { policy }: PlanInput,
): FieldChange[] {
  const live = actual.flag ? flagFieldsFromWire(actual.flag) : base?.spec?.fields;
  return threeWay({
    ...comparedFields(flag, base?.spec, actual.flag && live?.tags),
    actual: flagFields(live ?? {}),
    withoutBase: withoutBase(policy, base),
  });
}

const FLAG_FILES: KindFiles = {
  isOwn: (path, { name, environment }, reason) => {
    const isKill = reason === 'kill' || reason === 'restore';
    if (isKill && path === `kills/${environment ?? ''}.yaml`) return true;
    if (!path.startsWith('flags/')) return false;
    return [`${name}.yaml`, `${name}@${environment ?? ''}.yaml`].includes(posix.basename(path));
  },
  // The file may be named after the id of an environment instead of its name.
  mayShape: (path, { name }) =>
    path.startsWith('kills/') ||
    (path.startsWith('flags/') && posix.basename(path).startsWith(`${name}@`)),
};

/** Flags: fields at workspace level, and a definition in each environment. */
export const FLAG_KIND: PlannedKind = {
  plan: (input) => {
    const levels = { workspace: planWorkspaceLevel, environment: planDefinition };
    return planDeclared('flag', input.desired.flags, levels, input);
  },
  fingerprint: writtenForm,
  fieldsOf: declaredFields,
  files: FLAG_FILES,
  reaches: 'by-definition',
  observed: {
    spec: flagSpec,
    parts: flagParts,
    created: createdDefinition,
    withEqualFields,
    completed: rememberingKills,
    seen: ({ flags }, name) => {
      const flag = flags.get(name);
      return (
        flag && {
          id: flag.id,
          existence: flag.existence,
          places: new Map([...flag.definitions].map(([place, live]) => [place, live !== null])),
        }
      );
    },
  },
};

function flagParts(name: string, input: PlanInput): Parts | undefined {
  const actual = input.actual.flags.get(name);
  if (!actual || actual.existence === 'absent') return undefined;
  const entry = flagEntry(input.state, name);
  const known = entry?.id;
  const isUnseen = known !== undefined && actual.id === undefined;
  const held = known !== undefined && !isUnseen && actual.id !== known ? { held: NOT_OURS } : {};
  const archives = isArchived(entry, input.desired.flags.get(name), input);
  const whole = archives ? 'archive-flag' : 'delete-flag';
  const archive = archives ? { archive: true as const } : {};
  const common = { action: 'delete' as const, ...archive, ...held };
  return {
    placeIn: ({ name: environment, id }) => {
      const live = actual.definitions.get(environment);
      if (!live) return undefined;
      const base = entry?.environments[id]?.spec;
      return {
        ...common,
        fields: removedFields(
          definitionFields(definitionFromWire(live), []),
          base && definitionFields(canonicalDefinition(base), []),
        ),
        requests: archives ? [] : [{ action: 'delete-definition', flag: name, environment }],
      };
    },
    whole: () => {
      const base = entry?.workspace?.spec;
      const fields = removedFields(
        flagFields(actual.flag ? flagFieldsFromWire(actual.flag) : {}),
        base && flagFields(withTag(base.fields, base.ownershipTag)),
      );
      const unseen = isUnseen && { unseenId: known };
      return { ...common, fields, requests: [{ action: whole, flag: name, ...unseen }] };
    },
  };
}
