import type { AdminReader } from '../../src/admin-api/reader.js';
import type { AdminWriter } from '../../src/admin-api/writer.js';
import { StepError } from '../../src/admin-api/write-call.js';
import type { WireDefinition, WireFlag, WireSegment } from '../../src/admin-api/wire.js';
import { RejectedError } from '../../src/errors.js';
import type { ChangeNote } from '../../src/model/outcome.js';
import type { Fence } from '../../src/model/run.js';
import type { StepRequest } from '../../src/model/plan.js';
import { ENVIRONMENTS } from '../support/builders.js';
import {
  applyStep,
  observeWorld,
  type World,
  type WorldSegment,
} from '../support/service-model.js';

/** One write that the service took. */
export interface Written extends ChangeNote {
  /** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
  readonly id: string;
}

/** The administration service of a small world: the model, behind the two interfaces by which the program knows it. */
export class MemoryService {
  world: World;
  /** Called before each write; it may change the world, throw, or do nothing. */
  onWrite: (write: number) => Promise<void> = async () => Promise.resolve();
  /** Called after each write that was taken. */
  onWritten: (written: Written) => void = () => undefined;
  #writes = 0;

  constructor(world: World) {
    this.world = world;
  }

  reader(): AdminReader {
    const seen = () => observeWorld(this.world);
    const definition = (environmentId: string, flag: string): WireDefinition | undefined =>
      this.world.flags.get(flag)?.definitions.get(nameOf(environmentId));
    const keysOf = (environmentId: string, segment: string) =>
      this.world.segments.get(segment)?.environments.get(nameOf(environmentId));
    const flags = (): WireFlag[] =>
      [...seen().flags.values()].flatMap(({ flag }) => (flag ? [flag] : []));
    const { workspace } = seen();
    return {
      origin: 'https://admin.example.com',
      listWorkspaces: async () => Promise.resolve([workspace]),
      listEnvironments: async () => Promise.resolve(ENVIRONMENTS),
      listRolloutStatuses: async () => Promise.resolve(seen().rolloutStatuses),
      listSegments: async () => Promise.resolve([...this.world.segments].map(wireSegment)),
      getDefinition: async (_, environmentId, { name }) =>
        Promise.resolve(definition(environmentId, name)),
      learnFlag: () => undefined,
      learnAbsence: () => undefined,
      flagSaid: (_, name) =>
        this.world.flags.has(name) ? { id: `id-${name}`, ids: [`id-${name}`] } : 'absent',
      listKeys: async (environmentId, segment) => {
        const keys = keysOf(environmentId, segment);
        return Promise.resolve(keys && { keys: [...keys], openChangeRequestId: null });
      },
      countKeys: async (environmentId, segment) =>
        Promise.resolve(keysOf(environmentId, segment)?.size),
      listTrafficTypes: async () => Promise.resolve([{ id: 'tt', name: 'user' }]),
      listFlags: async () => Promise.resolve(flags()),
      getFlag: async (_, name) => Promise.resolve(flags().find((each) => each.name === name)),
      listChangeRequests: async () => Promise.resolve(null),
      listDefinitions: async (_, environmentId) =>
        Promise.resolve(
          [...this.world.flags.keys()].flatMap((name) => definition(environmentId, name) ?? []),
        ),
    };
  }

  /** @param check of the fence of the run, awaited right before each write as the client does. */
  writer(check?: Fence['check']): AdminWriter {
    const write = async (request: StepRequest, note: ChangeNote): Promise<void> => {
      await this.onWrite(this.#writes);
      await check?.({ isUrgent: isKill(request) });
      this.world = taken(this.world, request);
      this.#writes += 1;
      this.onWritten({ id: idOf(request), ...note });
    };
    const definitionNow = (flag: string, environment: string): WireDefinition =>
      present(this.world.flags.get(flag)?.definitions.get(environment), flag);
    return {
      submitChangeRequest: async () => Promise.resolve(null),
      send: async (step, { note }) => {
        const { action } = step;
        if (action === 'withdraw-request') return {};
        await write(step, note);
        if (action === 'create-definition')
          return { created: definitionNow(step.flag, step.environment) };
        if (action === 'kill-flag') return { killed: definitionNow(step.flag, step.environment) };
        return {};
      },
      restore: async (flag, { environmentId, note }) => {
        const place = { flag, environment: nameOf(environmentId) };
        const operations = [{ op: 'replace' as const, path: '/killed', value: false }];
        const expected = definitionNow(flag, place.environment);
        await write({ action: 'patch-definition', ...place, operations, expected }, note);
      },
    };
  }
}

function isKill(step: StepRequest): boolean {
  if (step.action !== 'patch-definition') return step.action === 'kill-flag';
  return step.operations.every(({ path, value }) => path === '/killed' && value === true);
}

/** What the model refuses it refuses with the status that the service would have. */
function taken(world: World, request: StepRequest): World {
  const id = idOf(request);
  try {
    return applyStep(world, { ...request, id, change: id, needs: [] });
  } catch (error) {
    const isOfFlag = request.action === 'patch-flag' || request.action === 'create-definition';
    if (isOfFlag && !world.flags.has(request.flag)) {
      throw new StepError('FLAG_GONE', `the service does not have flag "${request.flag}"`);
    }
    const message = error instanceof Error ? error.message : String(error);
    throw refusal(message, Number(/^(\d{3}) /.exec(message)?.[1] ?? 400));
  }
}

function refusal(message: string, status: number): RejectedError {
  return new RejectedError(message, { status, serviceMessage: message, transactionId: null });
}

function idOf(request: StepRequest): string {
  const at = 'environment' in request ? `@${request.environment}` : '';
  return 'flag' in request
    ? `flag/${request.flag}${at}`
    : `segment/${'segment' in request ? request.segment : ''}${at}`;
}

/** @param place an id or a name: the service takes both. */
function nameOf(place: string): string {
  return present(ENVIRONMENTS.find(({ id, name }) => id === place || name === place)?.name, place);
}

function wireSegment([name, { description, trafficType }]: readonly [
  string,
  WorldSegment,
]): WireSegment {
  return {
    name,
    description,
    trafficType: { id: 'tt', name: trafficType },
    creationTime: 1,
    tags: null,
  };
}

function present<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw refusal(`404 ${name}`, 404);
  return value;
}
