import { describe, expect, it } from 'vitest';
import { runStatus, statusContext } from '../../../../src/daemon/statuses/commit-statuses.js';
import type { RunRecord } from '../../../../src/daemon/view.js';
import { aRun } from '../../../support/daemon-view.js';
import { aChange, aReport, aWithheld } from '../../../support/plan-builder.js';

/** Two changes of staging and one of production, of which these became something else than applied. */
function ended(result: RunRecord['result'], ...missed: readonly string[]): RunRecord {
  const changes = ['flag/a@staging', 'flag/b@staging', 'flag/a@production'].map((id) =>
    aChange(id, 'update'),
  );
  const outcomes = new Map(
    changes.map(({ id }) => [
      id,
      missed.includes(id)
        ? ({ status: 'skipped', why: 'of a test' } as const)
        : ({ status: 'applied' } as const),
    ]),
  );
  const report = aReport({ changes }, { outcomes, converged: missed.length === 0 });
  return aRun(report, { result });
}

describe('the status of a run', () => {
  it('counts what was applied, as a whole and in each environment', () => {
    const run = ended('applied');

    expect([null, 'staging', 'production'].map((name) => runStatus(run, name))).toEqual([
      { state: 'success', description: '3 changes applied' },
      { state: 'success', description: '2 changes applied' },
      { state: 'success', description: '1 change applied' },
    ]);
  });

  it('is a failure only where something failed', () => {
    const run = ended('partial', 'flag/b@staging');

    expect([null, 'staging', 'production'].map((name) => runStatus(run, name))).toEqual([
      { state: 'failure', description: '1 of 3 changes failed or skipped' },
      { state: 'failure', description: '1 of 2 changes failed or skipped' },
      { state: 'success', description: '1 change applied' },
    ]);
  });

  it('is a failure everywhere where all was taken and the service shows something else', () => {
    expect(runStatus(ended('partial'), 'production').state).toBe('failure');
  });

  it('is open where a window holds back what the commit asked for, and not for drift that waits', () => {
    const held = [
      aWithheld('flag/a@production', 'update', 'window-closed'),
      aWithheld('flag/b@staging', 'update', 'window-closed', { reason: 'drift' }),
    ];
    const run = aRun(aReport({ withheld: held }), { result: 'in-sync' });

    expect([null, 'staging', 'production'].map((name) => runStatus(run, name))).toEqual([
      { state: 'pending', description: 'in line; 1 change held until a window opens' },
      { state: 'success', description: 'in line, 1 withheld' },
      { state: 'pending', description: 'in line; 1 change held until a window opens' },
    ]);
  });

  it('is no success where the commit is not on the service', () => {
    const results = [
      'suspended',
      'degraded',
      'refused',
      'invalid',
      'interrupted',
      'failed',
    ] as const;

    for (const result of results) {
      expect(runStatus(ended(result), 'staging').state).not.toBe('success');
      expect(runStatus(ended(result), null).description.length).toBeLessThanOrEqual(140);
    }
  });

  it('has a name of its own for each source and environment, and shows what is hidden in it', () => {
    expect(statusContext('default', null)).toBe('flagkeel-watch');
    expect(statusContext('default', 'staging')).toBe('flagkeel-watch/staging');
    expect(statusContext('shop', 'stag\u202eing')).toBe('flagkeel-watch/stag<U+202E>ing (shop)');
  });
});
