import { expect, it } from 'vitest';
import { SourceRecord } from '../../../src/daemon/source/run-log.js';
import { ObjectStandings } from '../../../src/daemon/standings.js';
import { objectId, type ObjectId } from '../../../src/model/ref.js';
import type { Standing } from '../../../src/model/verdict.js';
import { aRun, aSource, NOW } from '../../support/daemon-view.js';
import { aReport } from '../../support/plan-builder.js';

const idOf = (name: string): ObjectId =>
  objectId({ kind: 'flag', name, environment: 'production' });
const [A, B] = [idOf('a'), idOf('b')];
const LIVE: Standing = { is: 'live' };
const HELD: Standing = { is: 'held', why: 'review', remedy: 'review' as never };
const INVALID: Standing = { is: 'unknown', why: 'invalid-file', since: null };

/** Standings after a run that looked at everything found two objects live. */
function known(): ObjectStandings {
  const standings = new ObjectStandings();
  look(standings, [
    [A, LIVE],
    [B, LIVE],
  ]);
  return standings;
}

function look(
  standings: ObjectStandings,
  found: readonly (readonly [ObjectId, Standing])[],
  { isFull = true, changed = [] }: { isFull?: boolean; changed?: readonly ObjectId[] } = {},
): void {
  const verdict = { objects: new Map(found), whole: 'live' } as const;
  const plan = {
    changes: changed.map((id) => ({ id })) as never,
    observed: isFull ? 'full' : 'touched',
  } as const;
  standings.add(verdict, plan, '2026-11-01T08:00:00Z');
}

const PARTIAL = { isFull: false };

it.each<[string, Parameters<typeof look>[1], Parameters<typeof look>[2], object]>([
  ['keeps an object that a partial look left out', [[A, HELD]], PARTIAL, { live: 1, held: 1 }],
  [
    'drops an object that a partial look removed',
    [],
    { ...PARTIAL, changed: [B] },
    { live: 1, unknown: 0 },
  ],
  ['drops an object that a full look does not find', [[A, LIVE]], {}, { live: 1 }],
  [
    'keeps an object whose file is invalid, and does not know it',
    [[A, INVALID]],
    {},
    { live: 0, unknown: 1 },
  ],
  [
    'knows the other object beside one whose file is invalid',
    [[A, INVALID]],
    PARTIAL,
    { live: 1, unknown: 1 },
  ],
])('%s', (_, found, run, counts) => {
  const standings = known();
  look(standings, found, run);

  expect(standings.view(['production'])?.counts).toMatchObject(counts);
});

it('knows of what has left git all of the last run, and no more than so many of those before', () => {
  const standings = known();
  const leave = (run: number, count: number): readonly ObjectId[] => {
    const ids = Array.from({ length: count }, (_, at) => idOf(`left-${String(run)}-${String(at)}`));
    look(
      standings,
      ids.map((id) => [id, HELD]),
    );
    look(standings, []);
    return ids;
  };
  for (let run = 0; run < 5; run += 1) leave(run, 400);
  const last = leave(5, 1_500);

  expect(standings.view([])?.gone).toHaveLength(2_500);
  expect(standings.view([])?.gone?.slice(-1_500)).toEqual(last);
});

it('a replica that stands by knows again what the keeper finds after full looks that failed', () => {
  const record = new SourceRecord(() => NOW);
  const failed = aRun(null, { result: 'failed', triggers: ['schedule'] });
  const { runs, standings } = aSource({ runs: [aRun(aReport({ unchanged: [A] }))] });
  const [found = failed] = runs;
  const hear = (...all: (typeof failed)[]): unknown => {
    for (const run of all)
      record.ended(run, null, run === failed ? {} : { standings: standings ?? undefined });
    return record.view().standings?.doubt?.why ?? null;
  };

  expect([hear(found), hear(failed), hear(failed), hear(found)]).toEqual([
    ...[null, null, 'not-confirmed', null],
  ]);
});
