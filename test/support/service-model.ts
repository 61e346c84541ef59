import fastJsonPatch from 'fast-json-patch';
import type { WireDefinition, WireRule } from '../../src/admin-api/wire.js';
import type { Attributes } from '../../src/model/identities.js';
import { keyList } from '../../src/model/segment-keys.js';
import type { Actual, ActualFlag, ActualSegment } from '../../src/model/actual.js';
import type { Plan, Step } from '../../src/model/plan.js';
import type { Outcomes } from '../../src/model/outcome.js';
import { ENVIRONMENTS } from './builders.js';

/**
 * The service as plain data, with the rules that keep it whole: a pure stand-in for properties that need thousands of
 * runs. A step that the real service would refuse throws, so a wrong order cannot go unseen.
 */
export interface World {
  readonly flags: ReadonlyMap<string, WorldFlag>;
  readonly segments: ReadonlyMap<string, WorldSegment>;
  /** `TRAFFIC TYPE@ENVIRONMENT` → key → attributes. */
  readonly identities: ReadonlyMap<string, ReadonlyMap<string, Attributes>>;
}

export interface WorldFlag {
  readonly trafficType: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly rolloutStatusId: string;
  readonly definitions: ReadonlyMap<string, WireDefinition>;
}

export interface WorldSegment {
  readonly trafficType: string;
  readonly description: string;
  readonly environments: ReadonlyMap<string, ReadonlySet<string>>;
}

export const EMPTY_WORLD: World = {
  flags: new Map(),
  segments: new Map(),
  identities: new Map(),
};

const STATUSES = [
  { id: 'rs-1', name: 'Pre-Production', description: '' },
  { id: 'rs-2', name: 'Ramping', description: '' },
];

/** Of identities there is nothing to look at but the answers: here all are taken. */
export function allTaken({ changes }: Plan): Outcomes {
  return new Map(
    changes.map(({ id, ref, keys }) => {
      const written = [...(keys?.added ?? []), ...(keys?.changed ?? [])];
      const identities = ref.kind === 'identities' ? { identities: { written, failed: [] } } : {};
      return [id, { status: 'applied', ...identities }];
    }),
  );
}

export function applyAll(world: World, steps: readonly Step[]): World {
  return steps.reduce(applyStep, world);
}

/** One request. Throws where the service would refuse it. */
export function applyStep(world: World, step: Step): World {
  const next = changed(world, step);
  checkWhole(next, step);
  return next;
}

function changed(world: World, step: Step): World {
  switch (step.action) {
    case 'create-flag': {
      absent(world.flags, step.flag);
      const { trafficType, description } = step;
      const flag = { trafficType, description, tags: [], rolloutStatusId: 'rs-1' };
      const flags = put(world.flags, step.flag, { ...flag, definitions: new Map() });
      return { ...world, flags };
    }
    case 'patch-flag': {
      const before = present(world.flags, step.flag);
      const document = {
        description: before.description,
        tags: before.tags.map((name) => ({ name })),
        rolloutStatus: { id: before.rolloutStatusId },
      };
      const { description, tags, rolloutStatus } = patched(document, step.operations);
      const own = { description, tags: tags.map(({ name }) => name) };
      const flag = { ...before, ...own, rolloutStatusId: rolloutStatus.id };
      return { ...world, flags: put(world.flags, step.flag, flag) };
    }
    case 'archive-flag':
    case 'delete-flag':
      present(world.flags, step.flag);
      return { ...world, flags: without(world.flags, step.flag) };
    case 'create-definition':
      return withDefinitions(world, step.flag, (definitions, { trafficType }) => {
        absent(definitions, step.environment);
        const { id, name } = environment(step.environment);
        return put(definitions, step.environment, {
          ...step.body,
          id: `id-${step.flag}`,
          name: step.flag,
          environment: { id, name },
          trafficType: { id: 'tt', name: trafficType },
          creationTime: 1,
          lastUpdateTime: 1,
        });
      });
    case 'patch-definition':
      return withDefinitions(world, step.flag, (definitions) => {
        const before = structuredClone(present(definitions, step.environment));
        return put(definitions, step.environment, patched(before, step.operations));
      });
    case 'kill-flag':
      return withDefinitions(world, step.flag, (definitions) => {
        const before = present(definitions, step.environment);
        return put(definitions, step.environment, { ...before, killed: true });
      });
    case 'delete-definition':
      return withDefinitions(world, step.flag, (definitions) => {
        present(definitions, step.environment);
        return without(definitions, step.environment);
      });
    case 'create-segment': {
      absent(world.segments, step.segment);
      const { trafficType, description } = step;
      const segment = { trafficType, description, environments: new Map() };
      return { ...world, segments: put(world.segments, step.segment, segment) };
    }
    case 'activate-segment':
      return withActivations(world, step.segment, (environments) => {
        return put(environments, step.environment, environments.get(step.environment) ?? new Set());
      });
    case 'upload-keys':
      return withActivations(world, step.segment, (environments) => {
        const before = present(environments, step.environment);
        return put(environments, step.environment, new Set([...before, ...step.keys]));
      });
    case 'remove-keys':
      return withActivations(world, step.segment, (environments) => {
        const before = present(environments, step.environment);
        const gone = new Set(step.keys);
        const left = [...before].filter((key) => !gone.has(key));
        return put(environments, step.environment, new Set(left));
      });
    case 'deactivate-segment':
      return withActivations(world, step.segment, (environments) => {
        if (present(environments, step.environment).size > 0)
          throw new Error(`400 not empty: ${step.id}`);
        return without(environments, step.environment);
      });
    case 'delete-segment':
      present(world.segments, step.segment);
      return { ...world, segments: without(world.segments, step.segment) };
    case 'write-identities': {
      const place = `${step.trafficType}@${environment(step.environment).name}`;
      const before = world.identities.get(place) ?? new Map<string, Attributes>();
      const written = step.identities.map(({ key, values }) => {
        return [key, { ...before.get(key), ...values }] as const;
      });
      const identities = put(world.identities, place, new Map([...before, ...written]));
      return { ...world, identities };
    }
    case 'withdraw-request':
      return world;
  }
}

/** The document itself is changed. */
function patched<T extends object>(document: T, operations: readonly object[]): T {
  const own = operations.map((each) => ({ ...each }));
  return fastJsonPatch.applyPatch(document, own as never, true, false).newDocument;
}

/** No intermediate state has a rule on a segment or flag that is not there, or a treatment that does not exist. */
function checkWhole(world: World, step: Step): void {
  for (const [name, { definitions }] of world.flags) {
    for (const [environmentName, definition] of definitions) {
      if (!mayHaveBroken(step, name, environmentName)) continue;
      const fault = faultOf(definition, environmentName, world);
      if (fault !== undefined)
        throw new Error(`after ${step.id}: ${name}@${environmentName} ${fault}`);
    }
  }
}

/** Everything in a world that the service would not have let stand. */
export function faultsOf(world: World): string[] {
  return [...world.flags].flatMap(([name, { definitions }]) =>
    [...definitions].flatMap(([environmentName, definition]) => {
      const fault = faultOf(definition, environmentName, world);
      return fault === undefined ? [] : [`${name}@${environmentName} ${fault}`];
    }),
  );
}

const REMOVE_EVERYWHERE = ['archive-flag', 'delete-flag', 'delete-segment'];
const REMOVE_IN_PLACE = ['delete-definition', 'deactivate-segment'];

/** What only adds breaks nobody but itself; large worlds would take long to check whole after each step. */
function mayHaveBroken(step: Step, flag: string, environmentName: string): boolean {
  if (REMOVE_EVERYWHERE.includes(step.action)) return true;
  if (!('environment' in step) || step.environment !== environmentName) return false;
  if (REMOVE_IN_PLACE.includes(step.action)) return true;
  const hasLost =
    step.action === 'patch-definition' &&
    step.operations.some(({ path }) => path === '/treatments');
  return hasLost || ('flag' in step && step.flag === flag);
}

function faultOf(
  definition: WireDefinition,
  environmentName: string,
  world: World,
): string | undefined {
  const names = new Set(definition.treatments.map(({ name }) => name));
  const buckets = [
    definition.defaultRule,
    ...definition.rules.map((rule: WireRule) => rule.buckets),
  ];
  for (const list of buckets) {
    if (list.reduce((sum, { size }) => sum + size, 0) !== 100)
      return 'has buckets that do not sum to 100';
    const unknown = list.find(({ treatment }) => !names.has(treatment));
    if (unknown) return `serves the unknown treatment ${unknown.treatment}`;
  }
  const targeted = definition.treatments.flatMap(({ keys }) => keys ?? []);
  if (new Set(targeted).size < targeted.length) return 'targets a key twice';
  for (const named of [definition.defaultTreatment, definition.baselineTreatment]) {
    if (!names.has(named)) return `names the unknown treatment ${named}`;
  }
  for (const segment of definition.treatments.flatMap(({ segments }) => segments ?? [])) {
    if (!world.segments.get(segment)?.environments.has(environmentName))
      return `targets the inactive segment ${segment}`;
  }
  for (const matcher of definition.rules.flatMap((rule) => rule.condition.matchers)) {
    if (matcher.type === 'IN_SEGMENT') {
      const segment = String(matcher['string']);
      if (!world.segments.get(segment)?.environments.has(environmentName))
        return `names the inactive segment ${segment}`;
    }
    if (matcher.type === 'IN_SPLIT') {
      const { splitName, treatments } = matcher['depends'] as {
        splitName: string;
        treatments: string[];
      };
      if (treatments.length === 0) return `depends on no treatment of ${splitName}`;
      const other = world.flags.get(splitName)?.definitions.get(environmentName);
      if (!other) return `depends on the undefined flag ${splitName}`;
      const missing = treatments.find(
        (treatment) => !other.treatments.some(({ name }) => name === treatment),
      );
      if (missing !== undefined) return `depends on ${splitName}'s unknown treatment ${missing}`;
    }
  }
  return undefined;
}

/** The whole of it, every object in every environment. */
export function observeWorld(
  world: World,
  also: { flags?: Iterable<string>; segments?: Iterable<string> } = {},
): Actual {
  const flagNames = [...new Set([...world.flags.keys(), ...(also.flags ?? [])])];
  const segmentNames = [...new Set([...world.segments.keys(), ...(also.segments ?? [])])];
  return {
    rolloutStatuses: STATUSES,
    trafficTypeIds: new Map([['user', 'tt']]),
    flags: new Map(flagNames.map((name) => [name, actualFlag(name, world.flags.get(name))])),
    segments: new Map(
      segmentNames.map((name) => [name, actualSegment(name, world.segments.get(name))]),
    ),
    allFlags: [...world.flags.keys()],
    allSegments: [...world.segments.keys()],
    showsFlags: true,
  };
}

function actualFlag(name: string, flag: WorldFlag | undefined): ActualFlag {
  const definitions = new Map(
    ENVIRONMENTS.map((each) => [each.name, flag?.definitions.get(each.name) ?? null]),
  );
  if (!flag) return { existence: 'absent', definitions };
  return {
    existence: 'present',
    id: `id-${name}`,
    definitions,
    flag: {
      id: `id-${name}`,
      name,
      description: flag.description,
      trafficType: { id: 'tt', name: flag.trafficType },
      creationTime: 1,
      rolloutStatus: STATUSES.find(({ id }) => id === flag.rolloutStatusId) ?? null,
      rolloutStatusTimestamp: 1,
      tags: flag.tags.map((tag) => ({ name: tag })),
    },
  };
}

function actualSegment(name: string, segment: WorldSegment | undefined): ActualSegment {
  const environments = new Map(
    ENVIRONMENTS.map((each) => {
      const keys = segment?.environments.get(each.name);
      return [each.name, keys ? { active: true, keys: keyList(keys) } : { active: false }];
    }),
  );
  if (!segment) return { environments };
  const trafficType = { id: 'tt', name: segment.trafficType };
  return {
    segment: { name, description: segment.description, trafficType, creationTime: 1, tags: null },
    environments,
  };
}

function withDefinitions(
  world: World,
  name: string,
  change: (of: WorldFlag['definitions'], flag: WorldFlag) => WorldFlag['definitions'],
): World {
  const flag = present(world.flags, name);
  const definitions = change(flag.definitions, flag);
  return { ...world, flags: put(world.flags, name, { ...flag, definitions }) };
}

function withActivations(
  world: World,
  name: string,
  change: (of: WorldSegment['environments']) => WorldSegment['environments'],
): World {
  const segment = present(world.segments, name);
  const environments = change(segment.environments);
  return { ...world, segments: put(world.segments, name, { ...segment, environments }) };
}

function environment(name: string): { id: string; name: string } {
  const found = ENVIRONMENTS.find((each) => each.name === name);
  if (!found) throw new Error(`404 ${name}`);
  return found;
}

function present<T>(map: ReadonlyMap<string, T>, name: string): T {
  const found = map.get(name);
  if (found === undefined) throw new Error(`404 ${name}`);
  return found;
}

function absent(map: ReadonlyMap<string, unknown>, name: string): void {
  if (map.has(name)) throw new Error(`409 ${name}`);
}

function put<T>(map: ReadonlyMap<string, T>, name: string, value: T): ReadonlyMap<string, T> {
  return new Map([...map, [name, value]]);
}

function without<T>(map: ReadonlyMap<string, T>, name: string): ReadonlyMap<string, T> {
  return new Map([...map].filter(([each]) => each !== name));
}
