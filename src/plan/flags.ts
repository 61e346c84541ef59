import type { WirePatchOperation } from '../api/wire.js';
import type { FlagFields } from '../kinds/flag.js';
import { flagFieldsFromWire } from '../kinds/flag-wire.js';
import type { Actual, ActualFlag } from '../model/actual.js';
import type { DesiredFlag } from '../model/desired.js';
import { objectId } from '../model/object-id.js';
import type { FieldChange } from '../model/plan.js';
import { flagEntry, type Base, type FlagBase, type FlagEntry } from '../model/state.js';
import type { StepRequest } from '../model/step.js';
import { planDefinition } from './definitions.js';
import { draft, partFields, withheld, type Drafted, type DraftSubject } from './draft.js';
import { flagFields } from './fields.js';
import { creationReason, withoutBase, type PlanInput } from './plan-input.js';
import { heldBack, workspaceRules } from './policy.js';
import { createdFields, threeWay } from './three-way.js';

/** Plans one flag: its workspace level, then each selected environment that the spec names. */
export function planFlag(flag: DesiredFlag, input: PlanInput): Drafted[] {
  const actual = input.actual.flags.get(flag.name);
  if (!actual) throw new Error(`bug: flag "${flag.name}" was not observed`);
  const entry = flagEntry(input.state, flag.name);
  const blocked = otherTrafficType(flag, actual);
  if (blocked) return [blocked];
  return [
    planWorkspaceLevel(flag, actual, entry, input),
    ...input.policy.environments.flatMap((environment) => {
      const definition = flag.environments.get(environment.configName);
      if (!definition || !environment.selected) return [];
      return [planDefinition({ flag, definition, actual, entry, environment }, input)];
    }),
  ];
}

/** The service cannot change a traffic type; anything else about such a flag would be about another flag. */
function otherTrafficType(flag: DesiredFlag, actual: ActualFlag): Drafted | undefined {
  const live =
    actual.flag?.trafficType.name ??
    [...actual.definitions.values()].find((each) => each !== null)?.trafficType.name;
  if (live === undefined || live === flag.trafficType) return undefined;
  const subject = workspaceSubject(flag);
  const fields: FieldChange[] = [
    { path: '/trafficType', reason: 'conflict', before: live, after: flag.trafficType },
  ];
  const wayOut = `the traffic type of a flag is set at its creation; write \`trafficType: ${live}\`, or choose another name`;
  return {
    id: objectId(subject.ref),
    withheld: [withheld(subject, { action: 'update', fields }, { why: 'immutable', wayOut })],
  };
}

function workspaceSubject(flag: DesiredFlag): DraftSubject {
  return {
    ref: { kind: 'flag', name: flag.name, environment: null },
    location: flag.location,
  };
}

function planWorkspaceLevel(
  flag: DesiredFlag,
  actual: ActualFlag,
  entry: FlagEntry | undefined,
  input: PlanInput,
): Drafted {
  const subject = workspaceSubject(flag);
  const id = objectId(subject.ref);
  if (isToBeCreated(actual, entry)) return planCreation(flag, { actual, entry }, subject, input);
  const differences = workspaceDifferences(flag, actual, entry?.workspace, input);
  const parted = partFields(subject, differences, workspaceRules(input.policy));
  if (parted.allowed.length === 0) return { id, withheld: parted.withheld };
  const written = namedFields(flag.fields, parted.allowed);
  return {
    id,
    withheld: parted.withheld,
    draft: draft(subject, { action: 'update', fields: parted.allowed }, [
      { action: 'patch-flag', flag: flag.name, operations: flagOperations(written, input.actual) },
    ]),
  };
}

/** On a service that cannot show a flag by itself, the inventory is believed: the creation would be refused. */
function isToBeCreated(actual: ActualFlag, entry: FlagEntry | undefined): boolean {
  if (actual.existence === 'unknown') return entry?.workspace?.spec === undefined;
  return actual.existence === 'absent';
}

function planCreation(
  flag: DesiredFlag,
  { actual, entry }: { actual: ActualFlag; entry: FlagEntry | undefined },
  subject: DraftSubject,
  input: PlanInput,
): Drafted {
  const id = objectId(subject.ref);
  const { trafficType, fields: wanted } = flag;
  const reason = creationReason(entry?.workspace, { trafficType, fields: wanted });
  const fields: FieldChange[] = [
    { path: '/trafficType', reason, after: trafficType },
    ...createdFields(flagFields(wanted), reason),
  ];
  const held = heldBack({ reason }, workspaceRules(input.policy));
  if (held) return { id, withheld: [withheld(subject, { action: 'create', fields }, held)] };
  const { description, ...later } = flag.fields;
  const requests: StepRequest[] = [
    {
      action: 'create-flag',
      flag: flag.name,
      trafficType,
      description: description ?? '',
      mayExist: actual.existence === 'unknown',
    },
  ];
  const operations = flagOperations(later, input.actual);
  if (operations.length > 0) requests.push({ action: 'patch-flag', flag: flag.name, operations });
  return { id, withheld: [], draft: draft(subject, { action: 'create', fields }, requests) };
}

/** Where the service cannot show the flag, what changed in git since the base is written, and drift goes unseen. */
function workspaceDifferences(
  flag: DesiredFlag,
  actual: ActualFlag,
  base: Base<FlagBase> | undefined,
  { policy }: PlanInput,
): FieldChange[] {
  const baseFields = base?.spec && flagFields(base.spec.fields);
  const live = actual.flag ? flagFields(flagFieldsFromWire(actual.flag)) : baseFields;
  return threeWay({
    base: baseFields,
    desired: flagFields(flag.fields),
    actual: live ?? new Map(),
    withoutBase: withoutBase(policy, base),
  });
}

function namedFields(fields: FlagFields, changes: readonly FieldChange[]): FlagFields {
  const paths = new Set(changes.map((change) => change.path));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => paths.has(`/${name}`)));
}

function flagOperations(fields: FlagFields, actual: Actual): WirePatchOperation[] {
  const operations: WirePatchOperation[] = [];
  const { description, tags, rolloutStatus } = fields;
  if (description !== undefined) {
    operations.push({ op: 'replace', path: '/description', value: description });
  }
  if (tags !== undefined) {
    operations.push({ op: 'replace', path: '/tags', value: tags.map((name) => ({ name })) });
  }
  if (rolloutStatus !== undefined) {
    const status = actual.rolloutStatuses.find((each) => each.name === rolloutStatus);
    if (!status) throw new Error(`bug: rollout status "${rolloutStatus}" was not checked`);
    operations.push({ op: 'replace', path: '/rolloutStatus/id', value: status.id });
  }
  return operations;
}
