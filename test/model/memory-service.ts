import { HttpAdminReader, type AdminReader } from '../../src/admin-api/reader.js';
import type { AdminWriter } from '../../src/admin-api/writer.js';
import { StepError } from '../../src/admin-api/write-call.js';
import type { WireDefinition, WireFlag, WireSegment } from '../../src/admin-api/wire.js';
import { RejectedError } from '../../src/errors.js';
import type { ChangeNote } from '../../src/model/outcome.js';
import type { Fence } from '../../src/model/run.js';
import type { StepRequest } from '../../src/model/plan.js';
import { ENVIRONMENTS, WORKSPACE } from '../support/builders.js';
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

  /** The real reader, over answers from the world: every route that it asks for, and 404 for all else. */
  reader(): AdminReader {
    const seen = () => observeWorld(this.world);
    const flags = (): WireFlag[] =>
      [...seen().flags.values()].flatMap(({ flag }) => (flag ? [flag] : []));
    const definitionIn = (flag: string, place: string): WireDefinition | undefined =>
      this.world.flags.get(flag)?.definitions.get(nameOf(place));
    const answers: Readonly<
      Record<string, (at: (word: string) => string, from: number, to: number) => unknown>
    > = {
      workspaces: () => page([WORKSPACE]),
      'environments/ws/:workspace': () => [...ENVIRONMENTS],
      rolloutStatuses: () => [...seen().rolloutStatuses],
      'trafficTypes/ws/:workspace': () => [{ id: 'tt', name: 'user' }],
      'segments/ws/:workspace': () => page([...this.world.segments].map(wireSegment)),
      'segments/:environment/:segment/keys': (at, from, to) => {
        const keys = this.world.segments
          .get(at('segment'))
          ?.environments.get(nameOf(at('environment')));
        if (!keys) return undefined;
        const held = [...keys].slice(from, to).map((key) => ({ key }));
        return { keys: held, count: keys.size, offset: from, openChangeRequestId: null };
      },
      'splits/ws/:workspace': () => page(flags()),
      'splits/ws/:workspace/:flag': (at) => flags().find(({ name }) => name === at('flag')),
      'splits/ws/:workspace/environments/:environment': (at) =>
        page(
          [...this.world.flags.keys()].flatMap(
            (flag) => definitionIn(flag, at('environment')) ?? [],
          ),
        ),
      'splits/ws/:workspace/:flag/environments/:environment': (at) =>
        definitionIn(at('flag'), at('environment')),
    };
    return new HttpAdminReader({
      origin: 'https://admin.example.com',
      get: async ({ route, at, query, check, accepts }) => {
        const [from, limit] = [Number(query?.['offset']), Number(query?.['limit'])];
        const body = answers[route]?.((word) => at?.[word] ?? '', from, from + limit);
        if (body !== undefined)
          return Promise.resolve({ status: 200, json: check?.(body), length: 1 });
        if (accepts?.(404, true) !== true) throw refusal(`404 ${route}`, 404);
        return { status: 404, json: undefined, length: 1 };
      },
    });
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

function page(objects: readonly unknown[]): object {
  return { objects: [...objects], offset: 0, totalCount: objects.length };
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
