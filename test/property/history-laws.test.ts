import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actLive } from '../../src/kill/now.js';
import { truncateNote } from '../../src/model/audit-note.js';
import { recordAct, loggedWrite } from '../../src/reconcile/record.js';
import { applyMessage, parseChanges } from '../../src/state/run-log.js';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../support/pipeline-world.js';
import type { PipelineWorld } from '../support/pipeline-world.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('laws of the history', 200);
/** A story costs some fifty requests and as many git commands: the thousands are for the law in memory. */
const MOST_STORIES = 200;
const drawnStories = lawSettings('stories of the history', 2);
const stories = {
  ...drawnStories,
  numRuns: Math.min(MOST_STORIES, drawnStories.numRuns),
  // A case that is shrunk would start a service for each try.
  endOnFailure: true,
};

/** As a service sends it: of two zeros JSON knows one. */
const someValue = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as typeof value);

const someText = fc.string({ unit: 'binary', maxLength: 150 });

const someWrite = fc.record({
  id: fc.constantFrom('flag/pay@production', 'segment/staff', 'flag/a b@staging'),
  title: someText,
  comment: someText,
  fields: fc.array(
    fc.record({
      path: fc.constantFrom('/rules', '/killed'),
      reason: fc.constant('commit' as const),
      before: fc.option(someValue, { nil: undefined }),
      after: someValue,
    }),
    { maxLength: 3 },
  ),
});

const someEvent = fc.oneof(
  fc.record({ kind: fc.constant('ramp' as const), to: fc.integer({ min: 1, max: 99 }) }),
  fc.record({
    kind: fc.constant('edit' as const),
    place: fc.constantFrom('staging' as const, 'production' as const),
    to: fc.integer({ min: 1, max: 99 }),
  }),
  fc.record({ kind: fc.constantFrom('list-kill' as const, 'act' as const), on: fc.boolean() }),
  fc.record({ kind: fc.constant('break' as const), on: fc.boolean() }),
);

type Event = typeof someEvent extends fc.Arbitrary<infer T> ? T : never;

interface Words {
  readonly title: string | undefined;
  readonly comment: string | undefined;
}

describe('laws of the history', () => {
  it('what a record says of a write is read back with the title, the comment and the values that were sent', () => {
    fc.assert(
      fc.property(fc.array(someWrite, { maxLength: 5 }), (writes) => {
        const sent = writes.map(({ id, title, comment, fields }) => {
          const note = truncateNote({ title, comment }, `flagkeel: update ${id}`);
          return { id, fields, ...note };
        });
        const lines = sent.map(({ id, title, comment, fields }) => {
          const written = loggedWrite({ fields }, comment);
          return { outcome: 'applied', action: 'update', id, title, written };
        });

        const read = parseChanges(applyMessage('Apply', 'a'.repeat(40), lines).split('\n'));

        expect(
          read.map(({ id, title, written }) => ({ id, title, comment: written?.comment })),
        ).toEqual(sent.map(({ id, title, comment }) => ({ id, title, comment })));
        expect(
          read.map(({ written }) => written?.fields.map(({ path, after }) => ({ path, after }))),
        ).toEqual(sent.map(({ fields }) => fields.map(({ path, after }) => ({ path, after }))));
      }),
      settings,
    );
  });

  it('every write that the service recorded is in the history with the same title and comment', async () => {
    const law = fc.asyncProperty(
      fc.array(someEvent, { minLength: 3, maxLength: 6 }),
      async (events) => {
        const world = await pipelineWorld();
        world.repository.commit('Add pay', filesOf({ on: 10 }));
        await run(world);
        const story = { on: 10, isListed: false, isBroken: false };
        for (const event of events) await happen(event, story, world);

        expect(toldIn(world)).toEqual(sentTo(world));
      },
    );

    await fc.assert(law, stories);
  });
});

interface Story {
  on: number;
  isListed: boolean;
  isBroken: boolean;
}

const BY_HAND = 'By hand';

function filesOf({
  on = 10,
  isListed = false,
  isBroken = false,
}: Partial<Story>): Record<string, string> {
  const allocation = 'trafficAllocation: 100';
  return {
    'flagkeel.yaml': PIPELINE_CONFIG.replace('production: {}', 'production: { onDrift: report }'),
    'flags/pay.yaml': flagSpec('pay', { on, staging: allocation, production: allocation }),
    'flags/cart.yaml': isBroken ? 'flag: [' : flagSpec('cart'),
    'kills/production.yaml': isListed ? 'kills:\n  pay: { reason: INC-1 }\n' : 'kills: {}\n',
  };
}

/** One event, and a run after it. */
async function happen(event: Event, story: Story, world: PipelineWorld): Promise<void> {
  if (event.kind === 'edit') {
    const place = `/splits/ws/${world.live.id}/pay/environments/${world.live[event.place]}`;
    const operation = { op: 'replace', path: '/trafficAllocation', value: event.to };
    await world.live.ok('PATCH', `${place}?title=${BY_HAND}&comment=${BY_HAND}`, [operation]);
  } else if (event.kind === 'act') {
    await act(event.on, world);
  } else {
    if (event.kind === 'ramp') story.on = event.to;
    else if (event.kind === 'break') story.isBroken = event.on;
    else story.isListed = event.on;
    const subject = `${event.kind} ${String('to' in event ? event.to : event.on)}`;
    world.repository.write(filesOf(story));
    world.repository.git('add', '--all');
    world.repository.git('commit', '--quiet', '--allow-empty', '-m', `${subject}\n\nWhy: ☂`);
  }
  await run(world);
}

/** Kills or restores as the command does. */
async function act(isKill: boolean, world: PipelineWorld): Promise<void> {
  const { context, openWriter } = await world.opened();
  const what = { flag: 'pay', environment: 'production', isKill, reason: 'INC-2' };
  const { place, environmentName, wasKilled, sent } = await actLive(
    { ...context, openWriter },
    what,
  );
  const done = { flag: 'pay', environment: environmentName, isKill, wasKilled };
  if (sent) await recordAct(context, await place(), { ...done, note: sent });
}

/** Specs that are invalid refuse the run, and are a part of the story. */
async function run(world: PipelineWorld): Promise<void> {
  await world.reconciled().catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes('the specs are invalid'))) throw error;
  });
}

function sentTo({ service }: PipelineWorld): Words[] {
  const writes = service.requests.filter(
    ({ method, status }) => method !== 'GET' && status === 200,
  );
  return distinct(
    writes
      .map(({ query }) => ({ title: query['title'], comment: query['comment'] }))
      .filter(({ title }) => title !== undefined && title !== BY_HAND),
  );
}

function toldIn(world: PipelineWorld): Words[] {
  const refs = world.repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel');
  const messages = world.repository.git('log', '--format=%B', refs.split('\n')[0] ?? '');
  return distinct(
    parseChanges(messages.split('\n')).flatMap(({ title, written }) =>
      written ? [{ title, comment: written.comment }] : [],
    ),
  );
}

function distinct(words: readonly Words[]): Words[] {
  const texts = new Set(words.map((each) => JSON.stringify(each)));
  return [...texts].sort().map((text) => JSON.parse(text) as Words);
}
