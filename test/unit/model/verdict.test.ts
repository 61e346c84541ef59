import { describe, expect, it } from 'vitest';
import { countsOf, exitOf, isConverged, verdictIn, verdictOf } from '../../../src/model/verdict.js';
import type { RunEnd } from '../../../src/model/verdict.js';
import type { Outcome } from '../../../src/model/outcome.js';
import type { Reason, WithheldWhy } from '../../../src/model/plan.js';
import { aChange, aLiveKill, aPlan, aWithheld } from '../../support/plan-builder.js';

const PAY = 'flag/pay@production';
const ERROR = { code: 'REJECTED', message: 'no', status: 400, transactionId: null } as const;

const ended = (outcome: Outcome | undefined, more: Partial<RunEnd> = {}) =>
  verdictOf({
    plan: aPlan({ changes: [aChange(PAY, 'update')], unchanged: ['flag/a'] }),
    outcomes: new Map(outcome === undefined ? [] : [[PAY, outcome]]),
    ...more,
  });

describe('the verdict over a change', () => {
  const applied: Outcome = { status: 'applied' };
  const refused: Outcome = { status: 'failed', error: ERROR, partly: false };
  const unanswered: Outcome = { ...refused, partly: true, fateUnknown: true };
  const unapproved: Outcome = { status: 'skipped', why: 'approve it', approvalNeeded: true };
  const until = '2026-12-01T00:00:00Z';
  const closed: Outcome = { status: 'skipped', why: 'closed', windowClosed: true, until };
  const unseen = { isUnverified: true };
  const found = { left: [aChange(PAY, 'update')] };

  it.each<[string, Outcome | undefined, Partial<RunEnd>, standing: object, number]>([
    ['that was written', applied, {}, { is: 'live' }, 0],
    ['that a second look did not find', applied, found, { is: 'failed', why: 'not-as-written' }, 5],
    ['without a second look', applied, unseen, { is: 'unknown', why: 'unanswered' }, 5],
    ['that the service refused', refused, {}, { is: 'failed', why: 'refused' }, 5],
    ['without answer or look', unanswered, unseen, { is: 'unknown', why: 'unanswered' }, 5],
    ['that the run did not reach', undefined, {}, { is: 'failed', why: 'not-sent' }, 5],
    ['that the service wants approved', unapproved, {}, { is: 'held', why: 'approval' }, 8],
    ['whose window closed', closed, {}, { is: 'waits', why: 'window', until }, 0],
  ])('%s', (_, outcome, more, standing, exit) => {
    const verdict = ended(outcome, more);

    expect(verdict.objects.get(PAY)).toMatchObject(standing);
    expect(exitOf(verdict)).toBe(exit);
    expect(isConverged(verdict)).toBe(exit === 0);
  });

  it('is held where a guard refuses the plan, and waits in a plan that is not refused', () => {
    expect(
      ended(undefined, {
        outcomes: undefined,
        refusal: { planHash: 'sha256:1', findings: [], options: [] },
      }).whole,
    ).toBe('held');
    expect(ended(undefined, { outcomes: undefined }).whole).toBe('waits');
  });

  it('asks for a key before another run where the service refused the key', () => {
    const error = {
      code: 'UNAUTHORISED',
      message: 'no',
      status: 401,
      transactionId: null,
    } as const;

    expect(ended({ status: 'failed', error, partly: false }).objects.get(PAY)).toMatchObject({
      remedy: { ways: [{ run: ['reconcile'], once: 'runs have a key that the service accepts' }] },
    });
  });

  it('is none for an object that is gone as git orders', () => {
    const plan = aPlan({ changes: [aChange(PAY, 'delete')] });

    const verdict = verdictOf({ plan, outcomes: new Map([[PAY, { status: 'applied' }]]) });

    expect(verdict.objects.size).toBe(0);
    expect(verdict.whole).toBe('live');
  });
});

describe('the verdict over what is withheld', () => {
  it.each<[WithheldWhy, Reason, string | undefined, number]>([
    ['prune-off', 'prune', 'waits', 0],
    ['no-witness', 'prune', 'waits', 0],
    ['protected', 'prune', 'waits', 0],
    ['still-in-use', 'prune', 'waits', 0],
    ['drift-reported', 'drift', 'waits', 0],
    ['live-kill', 'drift', 'waits', 0],
    ['suspended', 'commit', 'waits', 0],
    ['window-closed', 'commit', 'waits', 0],
    ['ramp-held', 'ramp', 'waits', 0],
    ['ramp-held', 'drift', 'held', 8],
    ['check-failed', 'ramp', 'held', 8],
    ['conflict-held', 'conflict', 'held', 8],
    ['adopt-needed', 'adopt', 'held', 8],
    ['approval-needed', 'commit', 'held', 8],
    ['contested', 'drift', 'held', 8],
    ['not-reviewed', 'commit', 'held', 8],
    ['not-reviewed', 'drift', 'waits', 0],
    ['immutable', 'commit', undefined, 0],
    ['not-ours', 'prune', undefined, 0],
    ['not-remembered', 'unknown', undefined, 0],
    ['stays-on-service', 'commit', undefined, 0],
  ])('%s, %s', (why, reason, is, exit) => {
    const until = '2026-12-01T00:00:00Z';
    const plan = aPlan({ withheld: [aWithheld(PAY, 'update', why, { reason, until })] });

    const verdict = verdictOf({ plan, outcomes: new Map() });

    const { is: found, until: end } = {
      until: undefined,
      is: undefined,
      ...verdict.objects.get(PAY),
    };
    expect([found, end]).toEqual([is, is === 'waits' ? until : undefined]);
    expect(exitOf(verdict)).toBe(exit);
    expect(exitOf(verdict, { allowHeld: true })).toBe(0);
  });

  it('is as bad as the object that is needed', () => {
    const needs = (why: WithheldWhy) =>
      verdictOf({
        outcomes: new Map(),
        plan: aPlan({
          withheld: [
            aWithheld('segment/beta@production', 'activate', why),
            aWithheld(PAY, 'update', 'needs-withheld', { dependsOn: ['segment/beta@production'] }),
          ],
        }),
      }).objects.get(PAY)?.is;

    expect(needs('adopt-needed')).toBe('held');
    expect(needs('window-closed')).toBe('waits');
  });
});

describe('a whole', () => {
  it('is as good as its worst part, and so is each environment', () => {
    const verdict = verdictOf({
      outcomes: new Map(),
      plan: aPlan({
        unchanged: ['flag/a', 'flag/a@staging'],
        withheld: [aWithheld(PAY, 'update', 'conflict-held')],
        liveKills: [aLiveKill('flag/b@staging')],
      }),
      invalid: ['flag/bad'],
    });

    expect(verdict.whole).toBe('unknown');
    expect(countsOf(verdict)).toEqual({ live: 2, waits: 1, held: 1, failed: 0, unknown: 1 });
    expect(verdictIn(verdict, 'production').whole).toBe('held');
    expect(verdictIn(verdict, 'staging').whole).toBe('waits');
    expect(verdictIn(verdict, null).whole).toBe('unknown');
  });

  it('that only an invalid file makes unknown is exit 3, and a failure beside it exit 5', () => {
    expect(exitOf(ended({ status: 'applied' }, { invalid: ['flag/bad'] }))).toBe(3);
    const failed = { status: 'failed', error: ERROR, partly: false } as const;
    expect(exitOf(ended(failed, { invalid: ['flag/bad'] }))).toBe(5);
  });

  it('counts the worst of the parts of one object', () => {
    const verdict = verdictOf({
      outcomes: new Map([[PAY, { status: 'applied' }]]),
      plan: aPlan({
        changes: [aChange(PAY, 'update')],
        withheld: [aWithheld(PAY, 'update', 'conflict-held')],
      }),
    });

    expect(verdict.objects.get(PAY)?.is).toBe('held');
  });
});
