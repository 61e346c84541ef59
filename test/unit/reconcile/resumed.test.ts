import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { healthOf, type Verdict } from '../../../src/daemon/health.js';
import type { ObjectId } from '../../../src/model/ref.js';
import type { Planned } from '../../../src/reconcile/context.js';
import { notComparedTexts } from '../../../src/report/view/sentences.js';
import { wholeText } from '../../../src/report/view/verdict.js';
import type { RecordedRequest } from '../../support/service.js';
import { changeAnswer } from '../../support/answers.js';
import type { Files } from '../../support/git.js';
import { InProcessDaemon } from '../../support/in-process-daemon.js';
import {
  flagSpec,
  pipelineWorld,
  PROTECTED_PIPELINE,
  withheldIn,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

/** More than are asked for one by one, and more definitions than are written side by side. */
const FLAGS = 20;
/** In staging and production. */
const DEFINITIONS = FLAGS * 2;
const NAMES = Array.from({ length: FLAGS }, (_, index) => `flag-${index}`);
/** Beside one for each write: the workspace, its environments, its kinds, and pages of what there is. */
const MOST_MORE = 12;

function commitFlags({ repository }: PipelineWorld): void {
  const files = NAMES.map((name) => [`flags/${name}.yaml`, flagSpec(name)]);
  repository.commit('Add flags', {
    'flagkeel.yaml': PROTECTED_PIPELINE,
    ...(Object.fromEntries(files) as Record<string, string>),
  });
}

/** Interrupts a first apply when it has made all flags and so many definitions. @returns requests that created. */
async function cutAfter(world: PipelineWorld, definitions: number): Promise<number> {
  commitFlags(world);
  return cut(world, FLAGS + definitions);
}

/** Interrupts a run after so many creations. @returns requests that created. */
async function cut(
  world: PipelineWorld,
  passing: number,
  settings: Parameters<PipelineWorld['planned']>[0] = {},
): Promise<number> {
  const interrupt = new AbortController();
  world.service.failNext({ method: 'POST', path: /user$|environments/, passing }, 'hold');
  const run = world.applied({ ...settings, signal: interrupt.signal });
  await world.service.held();
  interrupt.abort();
  world.service.release();
  expect((await run).converged).toBe(false);
  return createdIn(world);
}

function notLookedAtIn({ plan }: Planned): readonly ObjectId[] {
  return plan.notCompared.flatMap(({ id, what }) => (what === 'definition' ? [id] : []));
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
    const left = FLAGS + DEFINITIONS - (await cutAfter(world, 4));

    const resumed = await world.applied();

    const { requests } = world.service;
    expect(resumed.converged).toBe(true);
    expect(requests.filter(isLook)).toEqual([]);
    expect(requests.length - left).toBeLessThanOrEqual(MOST_MORE);
  });

  it('goes on with one request for each write that is left where the service has no lists, and says and remembers what it leaves to the next run', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    const created = await cutAfter(world, 8);
    const left = FLAGS + DEFINITIONS - created;

    const resumed = await world.applied();

    const { requests } = world.service;
    expect(requests.filter(isLook)).toEqual([]);
    expect(requests.length - left).toBeLessThanOrEqual(MOST_MORE);
    const notLookedAt = notLookedAtIn(resumed);
    expect(notLookedAt).toHaveLength(created - FLAGS);
    expect(resumed.plan.observed).toBe('touched');
    expect(resumed.converged).toBe(true);
    expect(notLookedAt.filter((id) => resumed.verdict.objects.has(id))).toEqual([]);
    expect(wholeText(world.reportOf(resumed))).toMatch(/^In sync as far as was compared: /);
    expect(notComparedTexts(resumed.plan.notCompared).join()).toContain(
      `Not looked at since an interrupted run wrote them: ${created - FLAGS} definitions (flag/flag-0@staging,`,
    );

    expect(resumed.remembered.outOfSync).toHaveLength(created - FLAGS);
    world.service.requests.length = 0;
    const planned = await world.planned({ touchedSince: 'state' });
    expect(planned.plan.observed).toBe('touched');
    expect(requests.filter(isLook).length).toBeGreaterThanOrEqual(created - FLAGS);
    expect(notLookedAtIn(planned)).toEqual([]);
    world.service.requests.length = 0;
    const next = await world.applied();
    expect(world.service.requests.filter(isLook)).toHaveLength(DEFINITIONS);
    expect(next.plan).toMatchObject({ observed: 'full', notCompared: [], changes: [] });
    expect(next.verdict).toMatchObject({ whole: 'live' });
  });

  it.each<[string, string | undefined]>([
    ['', undefined],
    [' of a run that recorded the use of an approval', 'https://forge.example.com/comments/1'],
  ])('goes on as cheaply after a second interruption%s', async (_, comment) => {
    const world = await pipelineWorld(undefined, { strict: true });
    const first = await cutAfter(world, 8);
    const { planHash: hash } = await world.planned();
    const second = await cut(world, 8, { approvals: [{ hash, comment }] });
    const left = FLAGS + DEFINITIONS - first - second;

    const resumed = await world.applied();

    const { requests } = world.service;
    expect(requests.filter(isLook)).toEqual([]);
    expect(requests.length - left).toBeLessThanOrEqual(MOST_MORE);
    expect(notLookedAtIn(resumed)).toHaveLength(first + second - FLAGS);
    expect(resumed.converged).toBe(true);
  });

  it('looks at what a newer commit changes alone: what was changed or killed meanwhile the next run finds, and nothing writes over it', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    await cutAfter(world, 24);
    await world.live.set('flag-0', { killed: true }, 'staging');
    await world.live.set('flag-1', { on: 100 });
    world.repository.commit('Ramp', { 'flags/flag-10.yaml': flagSpec('flag-10', { on: 20 }) });
    world.service.requests.length = 0;

    const resumed = await world.applied();
    const looks = world.service.requests.filter(isLook);
    const written = world.writes().map(({ method, path: to }) => `${method} ${to}`);
    const next = await world.applied();

    expect(written.filter((each) => /flag-[01]\//.test(each))).toEqual([]);
    expect(looks.filter(({ path }) => !path.includes('/flag-10/'))).toEqual([]);
    const updates = resumed.plan.changes.filter(({ action }) => action === 'update');
    expect(updates.map((each) => each.id)).toEqual([
      'flag/flag-10@staging',
      'flag/flag-10@production',
    ]);
    expect(resumed.converged).toBe(true);
    expect(next.plan.liveKills.map((each) => each.id)).toEqual(['flag/flag-0@staging']);
    expect(withheldIn(next)).toEqual(['flag/flag-1@production drift-reported']);
  });

  it.each<[string, Files, string[]]>([
    ['prune: true', { 'flags/flag-0.yaml': null }, ['delete flag/flag-0']],
    ['suspend: true', {}, []],
  ])(
    'looks at everything where an object may go, or nothing may be written: %s',
    async (line, files, gone) => {
      const world = await pipelineWorld(undefined, { strict: true });
      await cutAfter(world, 24);
      world.repository.commit('Go on', {
        'flagkeel.yaml': `${PROTECTED_PIPELINE}${line}\n`,
        ...files,
      });

      const { plan } = await world.applied();

      expect(plan).toMatchObject({ observed: 'full', notCompared: [] });
      const changes = plan.changes.map(({ action, id }) => `${action} ${id}`);
      expect(changes).toEqual(expect.arrayContaining(gone));
    },
  );

  it('is looked at whole by a daemon as soon as the writes are made, which says until then what it owes', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    const created = await cutAfter(world, 8);
    const watched = new InProcessDaemon(world.repository.directory, world.service);
    onTestFinished(async () => {
      await watched.daemon.stop('SIGTERM');
    });
    const verdicts: Verdict[] = [];
    watched.daemon.events.on('end', (view) => verdicts.push(healthOf(view).verdict));
    watched.daemon.start();
    await watched.rest(2);

    expect(watched.runs.map(({ triggers }) => triggers.join())).toEqual(['start', 'due']);
    expect(watched.runs[0]?.summary).toContain('In sync as far as was compared');
    expect(verdicts).toEqual([
      {
        level: 'busy',
        headline: `${created - FLAGS} definitions not looked at since an interrupted run`,
        detail: null,
      },
      { level: 'fine', headline: 'In sync: 60 objects equal', detail: null },
    ]);
    expect(watched.view.standings?.lookedAt).not.toBeNull();
    expect(world.service.requests.filter(isLook)).toHaveLength(DEFINITIONS);
  });

  it('looks at everything again once a run in between was not interrupted', async () => {
    const world = await pipelineWorld(undefined, { strict: true });
    await cutAfter(world, 4);
    await world.applied({ only: ['flag/flag-19'] });
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
