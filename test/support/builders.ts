import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireSegment,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import type { FlagFields } from '../../src/model/flag/fields.js';
import type { Definition, Matcher } from '../../src/model/flag/flag.js';
import { definitionBody } from '../../src/model/flag/wire.js';
import type { Attributes } from '../../src/model/identities.js';
import { keyList } from '../../src/model/segment-keys.js';
import type { Actual, ActualFlag, ActualSegment } from '../../src/model/actual.js';
import {
  bindEnvironments,
  environmentNames,
  type BoundDesired,
} from '../../src/model/bound-desired.js';
import type {
  Config,
  Desired,
  DesiredDefinition,
  DesiredFlag,
  DesiredIdentities,
  DesiredKill,
  DesiredSegment,
  SegmentMode,
  TimedField,
} from '../../src/model/desired.js';
import type { Location } from '../../src/model/diagnostic.js';
import type { Plan } from '../../src/model/plan.js';
import type { State } from '../../src/model/state.js';
import type { PlanPolicy, PlannedEnvironment } from '../../src/plan/policy.js';
import { onOff } from './on-off.js';

/** Values for tests of the planner: complete, small, and different only in what a test names. */

const HERE: Location = { file: 'spec.yaml', line: 1, column: 1 };
const TRAFFIC_TYPE = { id: 'tt-user', name: 'user' };

export const ENVIRONMENTS: readonly WireEnvironment[] = [
  { id: 'env-staging', name: 'staging', production: false },
  { id: 'env-production', name: 'production', production: true },
];

export const DEFINITION: Required<Definition> = {
  killed: false,
  ...serving('on', 'off'),
  targets: {},
  defaultTreatment: 'off',
  baselineTreatment: 'off',
  trafficAllocation: 100,
  rules: [],
  defaultRule: [{ treatment: 'off', size: 100 }],
};

export function onShare(percent: number): Pick<Required<Definition>, 'defaultRule'> {
  return { defaultRule: onOff(percent) };
}

export function serving(...names: string[]): Pick<Required<Definition>, 'treatments'> {
  return { treatments: names.map((name) => ({ name, description: '' })) };
}

type Rules = Pick<Required<Definition>, 'rules'>;

/** A rule that serves "on" where all of these match. */
export function onWhere(...matchers: Matcher[]): Rules {
  return { rules: [{ matchers, buckets: [{ treatment: 'on', size: 100 }] }] };
}

export function inSegment(segment: string): Rules {
  return onWhere({ type: 'IN_SEGMENT', string: segment });
}

/** @param treatments those that are asked for. Default: "on". */
export function dependingOn(flag: string, ...treatments: string[]): Rules {
  const asked = treatments.length === 0 ? ['on'] : treatments;
  return onWhere({ type: 'IN_SPLIT', depends: { splitName: flag, treatments: asked } });
}

export type Said = Definition &
  Pick<DesiredDefinition, 'ramps'> & {
    readonly unsaid?: readonly (keyof Definition)[];
    readonly timed?: Readonly<Record<string, TimedField>>;
  };

interface FlagParts {
  readonly fields?: FlagFields;
  readonly trafficType?: string;
  /** Environment → what differs from `DEFINITION`; `unsaid` fields are not managed. */
  readonly environments?: Readonly<Record<string, Said>>;
}

export function desiredFlag(name: string, parts: FlagParts = {}): DesiredFlag {
  const environments = Object.entries(parts.environments ?? {}).map(([environment, said]) => {
    const { unsaid = ['killed', 'baselineTreatment'], timed, ramps, ...rest } = said;
    const creation = { ...DEFINITION, ...rest };
    const fields = Object.fromEntries(
      Object.entries(creation).filter(
        ([field]) => field in rest || !unsaid.includes(field as keyof Definition),
      ),
    );
    const byTime = {
      ...(timed && { timed: new Map(Object.entries(timed)) }),
      ...(ramps && { ramps }),
    };
    return [environment, { location: HERE, fields, creation, ruleNames: [], ...byTime }] as const;
  });
  return {
    name,
    location: HERE,
    trafficType: parts.trafficType ?? 'user',
    fields: parts.fields ?? {},
    environments: new Map(environments),
  };
}

export function desiredSegment(
  name: string,
  environments: Readonly<Record<string, readonly string[] | undefined>>,
  mode: SegmentMode = 'exact',
): DesiredSegment {
  const activations = Object.entries(environments).map(
    ([environment, keys]) =>
      [environment, { location: HERE, mode, ...(keys && { keys: keyList(keys) }) }] as const,
  );
  return {
    name,
    location: HERE,
    trafficType: 'user',
    description: '',
    environments: new Map(activations),
  };
}

/** A kill that the break-glass list of an environment orders. */
export function desiredKill(flag: string, environment = 'production'): DesiredKill {
  const location = { ...HERE, file: `kills/${environment}.yaml` };
  return { flag, environment, reason: 'INC-1', location };
}

/** Identities of the traffic type `user`. */
export function desiredIdentities(
  environments: Readonly<Record<string, Readonly<Record<string, Attributes>>>>,
): DesiredIdentities {
  const parts = Object.entries(environments).map(
    ([environment, keys]) =>
      [environment, { location: HERE, keys: new Map(Object.entries(keys)) }] as const,
  );
  return { name: 'user', location: HERE, trafficType: 'user', environments: new Map(parts) };
}

export function aDesired(
  parts: {
    flags?: DesiredFlag[];
    segments?: DesiredSegment[];
    identities?: DesiredIdentities[];
    kills?: Desired['kills'];
    killLists?: Desired['killLists'];
  } = {},
): BoundDesired {
  const config: Config = {
    workspace: 'Default',
    environments: ENVIRONMENTS.map(({ name }) => ({ name, guards: {} })),
    references: { segments: [], flags: [] },
    prune: false,
    suspend: false,
    pushState: false,
    guards: {},
  };
  const desired: Desired = {
    config,
    flags: new Map((parts.flags ?? []).map((flag) => [flag.name, flag])),
    segments: new Map((parts.segments ?? []).map((segment) => [segment.name, segment])),
    identities: new Map((parts.identities ?? []).map((each) => [each.name, each])),
    kills: parts.kills ?? [],
    killLists: parts.killLists ?? new Set(parts.kills?.map(({ environment }) => environment)),
  };
  return bindEnvironments(desired, environmentNames(ENVIRONMENTS));
}

export function liveDefinition(
  flag: string,
  environment: string,
  said: Definition = {},
  more: Partial<WireDefinition> = {},
): WireDefinition {
  const { id, name } = ENVIRONMENTS.find((each) => each.name === environment) ?? {
    id: '?',
    name: '?',
  };
  return {
    ...definitionBody({ ...DEFINITION, ...said }),
    id: `id-${flag}`,
    name: flag,
    environment: { id, name },
    trafficType: TRAFFIC_TYPE,
    creationTime: 1,
    lastUpdateTime: 1,
    ...more,
  };
}

export function wireSegment(name: string): WireSegment {
  return { name, description: '', trafficType: TRAFFIC_TYPE, creationTime: 1, tags: null };
}

export function wireFlag(name: string): WireFlag {
  const rolloutStatus = { id: 'rs-1', name: 'Pre-Production' };
  return { ...wireSegment(name), id: `id-${name}`, rolloutStatus, rolloutStatusTimestamp: 1 };
}

/**
 * A flag that the service has, with a definition in the environments that are named and none in the others.
 *
 * @param more what answers have of each definition besides.
 */
export function liveFlag(
  name: string,
  environments: Readonly<Record<string, Definition>> = {},
  flag: Partial<WireFlag> = {},
  more: Partial<WireDefinition> = {},
): [string, ActualFlag] {
  const definitions = ENVIRONMENTS.map(({ name: environment }) => {
    const said = environments[environment];
    return [environment, said ? liveDefinition(name, environment, said, more) : null] as const;
  });
  const wire = { ...wireFlag(name), ...flag };
  return [
    name,
    { existence: 'present', id: wire.id, flag: wire, definitions: new Map(definitions) },
  ];
}

export function noFlag(name: string): [string, ActualFlag] {
  const definitions = new Map(ENVIRONMENTS.map(({ name: environment }) => [environment, null]));
  return [name, { existence: 'absent', definitions }];
}

/** Keys per environment; an environment that is not named has the segment not active. */
export function liveSegment(
  name: string,
  environments: Readonly<Record<string, readonly string[]>> = {},
): [string, ActualSegment] {
  const activations = ENVIRONMENTS.map(({ name: environment }) => {
    const keys = environments[environment];
    return [environment, keys ? { active: true, keys: keyList(keys) } : { active: false }] as const;
  });
  return [name, { segment: wireSegment(name), environments: new Map(activations) }];
}

export function noSegment(name: string): [string, ActualSegment] {
  const activations = ENVIRONMENTS.map(({ name: each }) => [each, { active: false }] as const);
  return [name, { environments: new Map(activations) }];
}

export const WORKSPACE: WireWorkspace = {
  id: 'ws-1',
  name: 'Default',
  type: 'workspace',
  requiresTitleAndComments: false,
};

export function anActual(
  parts: { flags?: [string, ActualFlag][]; segments?: [string, ActualSegment][] } = {},
): Actual {
  const flags = new Map(parts.flags);
  const segments = new Map(parts.segments);
  return {
    rolloutStatuses: [
      { id: 'rs-1', name: 'Pre-Production', description: '' },
      { id: 'rs-2', name: 'Ramping', description: '' },
    ],
    trafficTypeIds: new Map([[TRAFFIC_TYPE.name, TRAFFIC_TYPE.id]]),
    flags,
    segments,
    allFlags: [...flags].filter(([, each]) => each.existence === 'present').map(([name]) => name),
    allSegments: [...segments].filter(([, each]) => each.segment).map(([name]) => name),
    showsFlags: true,
  };
}

export function aPolicy(parts: Partial<PlanPolicy> = {}): PlanPolicy {
  return {
    environments: ENVIRONMENTS.map((each) => anEnvironment(each.name)),
    only: null,
    quarantined: new Set(),
    prune: false,
    adopt: false,
    revertDrift: false,
    identities: 'changed',
    stateless: false,
    suspended: null,
    provenRemovals: new Set(),
    restorable: new Map(),
    ...parts,
  };
}

export function anEnvironment(
  name: string,
  parts: Partial<PlannedEnvironment> = {},
): PlannedEnvironment {
  return {
    name,
    id: `env-${name}`,
    protected: false,
    onDrift: 'revert',
    onConflict: 'apply',
    onLiveKill: 'keep',
    selected: true,
    ...parts,
  };
}

export const NO_STATE: State = new Map();

/** A plan as lines, in its order; withheld changes behind. */
export function planLines(plan: Plan): string[] {
  return [
    ...plan.changes.map(({ action, id, reason }) =>
      reason === 'commit' ? `${action} ${id}` : `${action} ${id} (${reason})`,
    ),
    ...plan.withheld.map(({ action, id, why }) => `withheld ${action} ${id}: ${why}`),
  ];
}

export function stepLines(plan: Plan): string[] {
  return plan.steps.map((step) => step.id);
}
