import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { Fence } from '../../../../src/model/run.js';
import type { LeadershipEvents } from '../../../../src/daemon/source/leadership.js';
import type { DaemonEvents } from '../../../../src/daemon/view.js';
import { SourceLoop } from '../../../../src/daemon/source/source-loop.js';
import { LocalUpstream } from '../../../../src/daemon/upstream/local.js';
import { realTime } from '../../../../src/platform/clock.js';
import { createLog } from '../../../../src/platform/log.js';
import { aRun } from '../../../support/daemon-view.js';
import { aReport } from '../../../support/plan-builder.js';

const nothing = (): void => undefined;

/** @param onRun called after each run, all of which fail, because nobody can read the source. */
function aReplica(isLeader: boolean, onRun = nothing) {
  const told: LeadershipEvents[] = [];
  const events = new EventEmitter<DaemonEvents>();
  events.on('end', onRun);
  const loop = new SourceLoop(
    {
      ...{ name: 'shop', intervalMs: 60_000, jitterMs: 0, debounceMs: 0, schedule: null },
      ...{ upstream: new LocalUpstream('/nowhere'), allowOlder: false, note: {} },
      openRun: async () => Promise.reject(new Error('bug: no run is opened')),
      leadership: (events) => {
        told.push(events);
        const fence = {
          lease: 'shop',
          term: 2,
          check: nothing,
          enter: nothing,
        } as unknown as Fence;
        const permit = { signal: new AbortController().signal, fence: () => fence, end: nothing };
        const keep = async (): Promise<void> => Promise.resolve();
        const begin = () => (isLeader ? permit : null);
        return { isLeader, begin, forward: nothing, keep, share: nothing };
      },
    },
    {
      ...{
        time: realTime,
        log: createLog({ level: 'error', format: 'json', stream: { write: nothing } }),
      },
      ...{ newRunId: () => 'own', events },
    },
  );
  return { loop, told };
}

it('shows when the next change is due that the replica waits for which keeps the source', () => {
  const { loop, told } = aReplica(false);
  const due = '2030-01-01T00:00:00.000Z';
  const shown = (dueAt?: number | null): string | null => {
    told[0]?.onRuns([{ run: aRun(aReport()), at: null, dueAt }]);
    return loop.view().nextDue;
  };

  // A run without a plan leaves what is known.
  expect([shown(Date.parse(due)), shown(), shown(null)]).toEqual([due, due, null]);
});

it('shows a run of the leader before it that is told late behind its own, and keeps to what its own has found', async () => {
  let hasRun = nothing;
  const first = new Promise<void>((resolve) => (hasRun = resolve));
  const { loop, told } = aReplica(true, () => {
    hasRun();
  });
  const [before, late] = [aRun(aReport()), aRun(aReport())];
  // What is told before its own run is the newest.
  told[0]?.onRuns([{ run: before, at: null, term: 1, environments: ['staging'] }]);
  loop.start();
  await first;

  told[0]?.onRuns([{ run: late, at: null, term: 1, environments: ['production'] }]);

  expect(loop.view().runs.map(({ id }) => id)).toEqual(['own', late.id, before.id]);
  expect(loop.view().environments).toEqual(['staging']);
  await loop.stop('SIGTERM');
});

it('shows on a third replica a late run of the leader before behind those of the one that leads now', () => {
  const { loop, told } = aReplica(false);
  const due = Date.parse('2030-01-01T00:00:00.000Z');
  const [first, second, late] = [aRun(aReport()), aRun(aReport()), aRun(aReport())];
  for (const run of [first, second]) {
    told[0]?.onRuns([{ run, at: null, term: 2, environments: ['staging'], dueAt: due }]);
  }

  told[0]?.onRuns([{ run: late, at: null, term: 1, environments: ['production'], dueAt: null }]);

  const { runs, environments, nextDue } = loop.view();
  expect(runs.map(({ id }) => id)).toEqual([second.id, first.id, late.id]);
  expect([environments, nextDue]).toEqual([['staging'], new Date(due).toISOString()]);
});
