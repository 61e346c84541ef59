import { describe, expect, it } from 'vitest';
import { runStatus, statusContext } from '../../../../src/daemon/statuses/commit-statuses.js';
import type { RunRecord } from '../../../../src/daemon/view.js';
import { aRun, aSource } from '../../../support/daemon-view.js';
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

/** The status of the source as that run leaves it. */
function statusOf(run: RunRecord, environment: string | null) {
  return runStatus(aSource({ runs: [run] }), run, environment);
}

describe('the status of a run', () => {
  it('counts the objects by what became of them, as a whole and in each environment', () => {
    const run = ended('applied');

    expect([null, 'staging', 'production'].map((name) => statusOf(run, name))).toEqual([
      { state: 'success', description: 'In sync: 3 objects equal' },
      { state: 'success', description: 'In sync: 2 objects equal' },
      { state: 'success', description: 'In sync: 1 object equal' },
    ]);
  });

  it('is a failure only where something failed', () => {
    const run = ended('partial', 'flag/b@staging');

    expect([null, 'staging', 'production'].map((name) => statusOf(run, name))).toEqual([
      { state: 'failure', description: '1 object failed, 2 in sync' },
      { state: 'failure', description: '1 object failed, 1 in sync' },
      { state: 'success', description: 'In sync: 1 object equal' },
    ]);
  });

  it('is open where a window holds back a change, and a failure where a person has to act', () => {
    const held = [
      aWithheld('flag/a@production', 'update', 'window-closed'),
      aWithheld('flag/b@staging', 'update', 'conflict-held', { reason: 'conflict' }),
      aWithheld('flag/c@dev', 'update', 'drift-reported', { reason: 'drift' }),
    ];
    const run = aRun(aReport({ withheld: held }), { result: 'held' });

    expect([null, 'staging', 'production', 'dev'].map((name) => statusOf(run, name))).toEqual([
      { state: 'failure', description: '1 object held for a person, 2 objects waiting' },
      { state: 'failure', description: '1 object held for a person' },
      { state: 'pending', description: '1 object waiting' },
      { state: 'success', description: '1 object waiting' },
    ]);
  });

  it('is a failure of the whole where an invalid list of kills hides what is killed', () => {
    const run = ended('degraded');

    expect([null, 'production'].map((name) => statusOf(run, name))).toEqual([
      { state: 'failure', description: 'part of the specs is invalid' },
      { state: 'success', description: 'In sync: 1 object equal' },
    ]);
  });

  it('is no success where the run did not come to its end', () => {
    for (const result of ['invalid', 'interrupted', 'failed'] as const) {
      expect(statusOf(aRun(null, { result }), 'staging').state).not.toBe('success');
      expect(statusOf(ended(result), null).state).not.toBe('success');
      expect(statusOf(ended(result), null).description.length).toBeLessThanOrEqual(140);
    }
  });

  it('has a name of its own for each source and environment, and shows what is hidden in it', () => {
    expect(statusContext('default', null)).toBe('flagkeel-watch');
    expect(statusContext('default', 'staging')).toBe('flagkeel-watch/staging');
    expect(statusContext('shop', 'stag\u202eing')).toBe('flagkeel-watch/stag<U+202E>ing (shop)');
  });
});
