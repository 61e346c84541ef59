import { expect, it } from 'vitest';
import type { LeadershipEvents } from '../../../../src/daemon/source/leadership.js';
import { SourceLoop } from '../../../../src/daemon/source/source-loop.js';
import { LocalUpstream } from '../../../../src/daemon/upstream/local.js';
import { realTime } from '../../../../src/platform/clock.js';
import { createLog } from '../../../../src/platform/log.js';
import { aRun } from '../../../support/daemon-view.js';
import { aReport } from '../../../support/plan-builder.js';

it('shows when the next change is due that the replica waits for which keeps the source', () => {
  const told: LeadershipEvents[] = [];
  const nothing = (): void => undefined;
  const loop = new SourceLoop(
    {
      ...{ name: 'shop', intervalMs: 60_000, jitterMs: 0, debounceMs: 0, schedule: null },
      ...{ upstream: new LocalUpstream('/nowhere'), allowOlder: false, note: {} },
      openRun: async () => Promise.reject(new Error('bug: a standby opens no run')),
      leadership: (events) => {
        told.push(events);
        const keep = async (): Promise<void> => Promise.resolve();
        return { isLeader: false, begin: () => null, forward: nothing, keep, share: nothing };
      },
    },
    {
      ...{
        time: realTime,
        log: createLog({ level: 'error', format: 'json', stream: { write: nothing } }),
      },
      ...{ newRunId: () => 'none', onChange: nothing, onBegin: nothing, onRun: nothing },
    },
  );
  const due = '2030-01-01T00:00:00.000Z';
  const shown = (dueAt?: number | null): string | null => {
    told[0]?.onRuns([{ run: aRun(aReport()), at: null, dueAt }]);
    return loop.view().nextDue;
  };

  // A run without a plan leaves what is known.
  expect([shown(Date.parse(due)), shown(), shown(null)]).toEqual([due, due, null]);
});
