import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../support/service.js';
import { aDefinition } from '../../support/service-calls.js';
import { changeAnswer } from '../../support/changed-answers.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const FLAGS = 50;
/** In staging and production. */
const DEFINITIONS = FLAGS * 2;
const NAMES = Array.from({ length: FLAGS }, (_, index) => `flag-${index}`);
const MOST_PER_WRITE = 1.2;

const CONFIG = PIPELINE_CONFIG.replace('production: {}', 'production: { protected: true }');

function commitFlags({ repository }: PipelineWorld): void {
  const files = NAMES.map((name) => [`flags/${name}.yaml`, flagSpec(name)]);
  repository.commit('Add flags', {
    'flagkeel.yaml': CONFIG,
    ...(Object.fromEntries(files) as Record<string, string>),
  });
}

/** Interrupts a first apply when it has made all flags and so many definitions. @returns requests that created. */
async function cutAfter(world: PipelineWorld, definitions: number): Promise<number> {
  commitFlags(world);
  const interrupt = new AbortController();
  const passing = FLAGS + definitions;
  world.service.failNext({ method: 'POST', path: /user$|environments/, passing }, 'hold');
  const cut = world.applied({ signal: interrupt.signal });
  await world.service.held();
  interrupt.abort();
  world.service.release();
  expect((await cut).converged).toBe(false);
  return createdIn(world);
}

function createdIn(world: PipelineWorld): number {
  const posts = world.writes().filter(({ method }) => method === 'POST');
  return posts.filter(({ status }) => status === 200).length;
}

const LOOK_AT_DEFINITION = /\/splits\/ws\/[^/]+\/[^/]+\/environments\/[^/]+$/;

function isLook({ method, path }: RecordedRequest): boolean {
  return method === 'GET' && LOOK_AT_DEFINITION.test(path);
}

describe('a first apply that was interrupted', () => {
  it('goes on with one request for each write that is left, and some pages, where the service has lists', async () => {
    const world = await pipelineWorld(undefined, { strict: false });
    const left = FLAGS + DEFINITIONS - (await cutAfter(world, 10));

    const resumed = await world.applied();

    const { requests } = world.service;
    expect(resumed.converged).toBe(true);
    expect(requests.filter(isLook)).toEqual([]);
    expect(requests.length / left).toBeLessThanOrEqual(MOST_PER_WRITE);
  });

  it('looks once at what is there, and not at what it creates, where the service has no lists', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    const created = await cutAfter(world, 10);
    const left = FLAGS + DEFINITIONS - created;

    const resumed = await world.applied();

    const { requests } = world.service;
    const looks = requests.filter(isLook);
    expect(resumed.converged).toBe(true);
    expect(looks).toHaveLength(created - FLAGS);
    expect((requests.length - looks.length) / left).toBeLessThanOrEqual(MOST_PER_WRITE);
  });

  it('looks at everything again once a run in between was not interrupted', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    await cutAfter(world, 10);
    await world.applied({ only: ['flag/flag-49'] });
    world.service.requests.length = 0;

    expect((await world.applied()).converged).toBe(true);

    expect(world.service.requests.filter(isLook)).toHaveLength(DEFINITIONS);
  });

  it('looks at everything again where something else than an interruption skipped the creations', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    commitFlags(world);
    for (let refused = 0; refused < 10; refused += 1) {
      world.service.failNext({ method: 'POST', path: /user$/ }, 404);
    }
    const skipped = await world.applied();
    expect([...skipped.outcomes.values()].some(({ status }) => status === 'skipped')).toBe(true);
    world.service.requests.length = 0;

    expect((await world.applied()).converged).toBe(true);

    expect(world.service.requests.filter(isLook)).toHaveLength(DEFINITIONS);
  });

  it('leaves alone what another writer has created meanwhile', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    await cutAfter(world, 10);
    const { id, production } = world.live;
    const path = `/splits/ws/${id}/flag-49/environments/${production}`;
    await world.live.ok('POST', path, aDefinition());

    const refused = await world.applied();
    const next = await world.applied();

    expect(refused.outcomes.get('flag/flag-49@production')).toMatchObject({
      status: 'failed',
      error: { status: 409 },
    });
    expect(next.plan.withheld.map(({ id, why }) => `${id} ${why}`)).toEqual([
      'flag/flag-49@production adopt-needed',
    ]);
  });
});

describe('the look after an apply on a service without lists', () => {
  /** Answers to creations of definitions show another share. */
  const inexact =
    (next: RequestListener): RequestListener =>
    (request, response) => {
      if (request.method === 'POST' && request.url?.includes('/environments/') === true) {
        changeAnswer(response, (text) =>
          text.replace('"size":10', '"size":0').replace('"size":90', '"size":100'),
        );
      }
      next(request, response);
    };

  it('takes the answers to creations, which show what the service made of them', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    commitFlags(world);

    const done = await world.applied();

    const { requests } = world.service;
    expect(done.converged).toBe(true);
    expect(requests.filter(isLook)).toHaveLength(DEFINITIONS);
    expect((await world.planned()).plan.changes).toEqual([]);
  });

  it('reads the definitions whose answers show something else', async () => {
    const world = await pipelineWorld(undefined, { strict: true, middleware: inexact });
    commitFlags(world);

    const done = await world.applied();

    expect(done.left).toEqual([]);
    expect(done.converged).toBe(true);
  });
});
