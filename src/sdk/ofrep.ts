import { createHash } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openFeatureValue } from '../model/flag/flag.js';
import {
  segmentList,
  servedTo,
  type KnownKey,
  type ServedKey,
} from '../plan/impact/served-definition.js';
import { isMove } from '../plan/impact/serving.js';
import { Problem } from '../service/http/problem.js';
import type { Application, FindApplication, FlagList, ServedEnvironment } from './environment.js';
import type { SeededSplit } from './split.js';

const PATH = '/ofrep/v1/evaluate/flags';

interface Failure {
  readonly key?: string;
  readonly errorCode:
    'PARSE_ERROR' | 'TARGETING_KEY_MISSING' | 'INVALID_CONTEXT' | 'FLAG_NOT_FOUND' | 'GENERAL';
  readonly errorDetails: string;
}

/**
 * The remote evaluation protocol of OpenFeature: this service evaluates, and serves a key the same as the vendor's SDKs
 * do.
 */
export function addOfrepRoutes(scope: FastifyInstance, find: FindApplication): void {
  scope.setErrorHandler((error: FastifyError | Problem, _request, reply) => {
    const status = error instanceof Problem ? error.status : error.statusCode;
    if (status !== 400) throw error;
    return fail(reply, 400, { errorCode: 'PARSE_ERROR', errorDetails: error.message });
  });
  const options = { config: { isPublic: true } };
  scope.post(PATH, options, async (request, reply) =>
    answerAll(await find(request), request, reply),
  );
  scope.post(`${PATH}/:flag`, options, async (request, reply) =>
    answerOne(await find(request), request, reply),
  );
}

type Answer = (
  application: Application,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

const answerOne: Answer = async ({ environment }, request, reply) => {
  const { flag = '' } = request.params as { flag?: string };
  const known = await keyOf(environment, request.body);
  if ('errorCode' in known) return fail(reply, 400, { key: flag, ...known });
  const evaluation = evaluated(flag, known, await environment.flags());
  if (!('errorCode' in evaluation)) return reply.send(evaluation);
  return fail(reply, evaluation.errorCode === 'FLAG_NOT_FOUND' ? 404 : 400, evaluation);
};

/** All flags of the environment; 304 where neither they nor what is known of the key have changed. */
const answerAll: Answer = async ({ environment }, request, reply) => {
  const known = await keyOf(environment, request.body);
  if ('errorCode' in known) return fail(reply, 400, known);
  const list = await environment.flags();
  const etag = etagOf(list, known);
  void reply.header('etag', etag);
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const names = [...list.definitions.keys()].sort();
  return reply.send({ flags: names.map((name) => evaluated(name, known, list)) });
};

function etagOf({ till }: FlagList, { key, attributes, segments }: KnownKey): string {
  const facts = JSON.stringify([till, key, attributes, [...segments]]);
  return `"${createHash('sha256').update(facts).digest('base64url')}"`;
}

function fail(reply: FastifyReply, status: 400 | 404, failure: Failure): FastifyReply {
  return reply.code(status).send(failure);
}

async function keyOf(environment: ServedEnvironment, body: unknown): Promise<KnownKey | Failure> {
  const { context } = (body ?? {}) as { readonly context?: unknown };
  if (context !== undefined && (typeof context !== 'object' || context === null)) {
    return { errorCode: 'INVALID_CONTEXT', errorDetails: 'context must be an object' };
  }
  const { targetingKey: key, ...attributes } = (context ?? {}) as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') {
    const errorDetails = 'context.targetingKey must be a text that is not empty';
    return { errorCode: 'TARGETING_KEY_MISSING', errorDetails };
  }
  const segments = (await environment.segmentsOf(key)).map(segmentList);
  return { key, attributes, segments: new Set(segments) };
}

interface Evaluation {
  readonly key: string;
  readonly value: boolean | string;
  readonly variant: string;
  readonly reason: 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED';
  readonly metadata: Readonly<Record<string, string>>;
}

/** A flag with a matcher that no evaluator knows is a failure, where the SDKs serve `control`. */
function evaluated(flag: string, known: KnownKey, list: FlagList): Evaluation | Failure {
  const split = list.flags.get(flag)?.split;
  if (!split) {
    const errorDetails = `There is no flag ${flag} in this environment`;
    return { key: flag, errorCode: 'FLAG_NOT_FOUND', errorDetails };
  }
  const result = servedTo(flag, known, list.definitions);
  if (result.served === null) {
    const errorDetails = `The flag ${flag} has a condition of an unknown type`;
    return { key: flag, errorCode: 'GENERAL', errorDetails };
  }
  const { treatment } = result.served;
  const { treatments } = split.definition;
  const configuration = treatments.find(({ name }) => name === treatment)?.configurations;
  return {
    key: flag,
    value: openFeatureValue(
      treatment,
      treatments.map(({ name }) => name),
    ),
    variant: treatment,
    reason: reasonOf(result, split),
    metadata: configuration === undefined ? {} : { configuration },
  };
}

function reasonOf({ serving }: ServedKey, { definition }: SeededSplit): Evaluation['reason'] {
  if (definition.killed) return 'DISABLED';
  const { places, allocation, unallocated } = serving;
  const first = places[0] ?? null;
  const isSplit =
    places.some((each) => isMove({ from: first, to: each })) ||
    (allocation < 100 && isMove({ from: first, to: unallocated }));
  if (isSplit) return 'SPLIT';
  const isTargeted = definition.treatments.some(({ keys, segments }) => keys ?? segments);
  return definition.rules.length > 0 || isTargeted ? 'TARGETING_MATCH' : 'STATIC';
}
