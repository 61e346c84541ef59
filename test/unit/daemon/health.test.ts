import { describe, expect, it } from 'vitest';
import { healthOf, verdictOver } from '../../../src/daemon/health.js';
import { standingsUnder } from '../../../src/daemon/standings.js';
import type { PlanReport } from '../../../src/report/plan-report.js';
import type { RunResult, SourceView } from '../../../src/daemon/view.js';
import { aRun, aSource, appliedReport, minutesAgo } from '../../support/daemon-view.js';
import { aChange, aLiveKill, aReport, aWithheld, COMMIT } from '../../support/plan-builder.js';

const RAMP = aChange('flag/checkout@production', 'update');
const HELD = aWithheld('flag/legacy@production', 'update', 'drift-reported', { reason: 'drift' });
const FIXED = aWithheld('flag/old', 'update', 'immutable');

const OLD = aRun(aReport(), { startedAt: minutesAgo(95) });

function headline(members: Partial<SourceView>): string {
  const { verdict } = healthOf(aSource(members));
  return `${verdict.level}: ${verdict.headline}`;
}

describe('the verdict over a source', () => {
  it.each<[string, Partial<SourceView>, string]>([
    ['in sync', {}, 'fine: In sync: 0 objects equal'],
    ['before its first run', { runs: [] }, 'busy: The first run is under way'],
    [
      'with a newer commit under way',
      {
        seen: { commit: 'ab12cd34'.repeat(5), subject: '', committedAt: minutesAgo(0) },
        phase: 'running',
      },
      'busy: ab12cd3 is being applied',
    ],
    [
      'suspended by request',
      { suspended: { reason: 'INC-1', until: minutesAgo(-5) } },
      'attention: Suspended: nothing but kills is written',
    ],
    [
      'pinned',
      { pinned: { commit: COMMIT, reason: 'INC-1', until: minutesAgo(-5) } },
      'attention: Pinned to 3f9c2ab',
    ],
    [
      'with a flag that is killed on the service and not by git',
      { runs: [aRun(aReport({ liveKills: [aLiveKill('flag/pay@production')] }))] },
      'attention: 1 object waiting',
    ],
    [
      'with something withheld',
      { runs: [aRun(aReport({ withheld: [HELD] }))] },
      'attention: 1 object waiting',
    ],
    [
      'with only what can never be written withheld',
      { runs: [aRun(aReport({ withheld: [FIXED] }))] },
      'fine: In sync: 0 objects equal',
    ],
    [
      'that another replica keeps',
      { leader: false, runs: [] },
      'busy: Another replica keeps this source',
    ],
    [
      'whose service is down, suspended or not',
      {
        suspended: { reason: 'INC-1', until: minutesAgo(-5) },
        troubles: [{ what: 'service', why: 'no answer', since: minutesAgo(4) }],
      },
      'trouble: The service cannot be reached',
    ],
  ])('%s', (_, members, expected) => {
    expect(headline(members)).toBe(expected);
  });

  it.each<[RunResult, string]>([
    ['applied', 'fine'],
    ['suspended', 'attention'],
    ['interrupted', 'attention'],
    ['refused', 'trouble'],
    ['invalid', 'trouble'],
    ['partial', 'trouble'],
    ['failed', 'trouble'],
  ])('whose last run ended as %s is %s', (result, level) => {
    const source = aSource({ runs: [aRun(aReport(), { result })] });

    expect(healthOf(source).verdict.level).toBe(level);
  });

  it.each<[string, Partial<PlanReport>, string, string]>([
    ['held', {}, 'attention: 1 object held for a person, 1 in sync', 'changed in git and on the'],
    ['invalid', { held: ['flag/bad'] }, 'attention: 1 object unknown, 1 in sync', 'invalid file'],
  ])('is not "In sync" while an object is %s, and names it', (what, members, expected, why) => {
    const withheld = [aWithheld('flag/pay@production', 'update', 'conflict-held')];
    const plan = { unchanged: ['flag/a'], ...(what === 'held' && { withheld }) };
    const source = aSource({ runs: [aRun(aReport(plan, { converged: false, ...members }))] });

    expect(headline(source)).toBe(expected);
    expect(healthOf(source).verdict.detail).toContain(why);
  });

  it('is not "In sync" while nothing confirms it', () => {
    const known = aSource({ runs: [aRun(aReport({ unchanged: ['flag/a', 'flag/b'] }))] });
    const doubt = { why: 'service-away', since: minutesAgo(9) } as const;
    const standings = known.standings && standingsUnder(known.standings, doubt);

    expect(headline({ ...known, standings })).toBe('attention: 2 objects unknown');
  });

  it('says why in the words of the run', () => {
    const source = aSource({ runs: [aRun(null, { result: 'failed', summary: 'no key' })] });

    expect(healthOf(source).verdict.detail).toBe('no key');
  });
});

describe('the environments of a source', () => {
  it('are those of its config, the protected ones first, also where nothing differs', () => {
    const { environments } = healthOf(aSource());

    expect(environments.map(({ name }) => name)).toEqual(['production', 'staging']);
  });

  it('count what differs by what becomes of it', () => {
    const lost = aChange('flag/lost@staging', 'update', { reason: 'drift' });
    const report = {
      ...aReport({ changes: [RAMP, lost], withheld: [HELD, FIXED] }),
      outcomes: new Map([
        ['flag/checkout@production', { status: 'applied' as const }],
        ['flag/lost@staging', { status: 'skipped' as const, why: 'its needs failed' }],
      ]),
    };

    const { environments } = healthOf(aSource({ runs: [aRun(report, { result: 'partial' })] }));

    const nothing = { failed: 0, waiting: 0, drift: 0, withheld: 0 };
    expect(environments).toMatchObject([
      { ...nothing, name: 'production', drift: 1, withheld: 1 },
      { ...nothing, name: 'staging', waiting: 1, drift: 1, lastChange: null },
    ]);
    expect(environments[0]?.lastChange?.result).toBe('partial');
  });

  it('count a plan that was not applied as waiting', () => {
    const run = aRun(aReport({ changes: [RAMP] }), { result: 'suspended' });

    const { environments } = healthOf(aSource({ runs: [run] }));

    expect(environments.find(({ name }) => name === 'production')?.waiting).toBe(1);
  });

  it.each<[string, Partial<SourceView>, string | null]>([
    ['of now', {}, null],
    [
      'of the last plan where the newest run came to none',
      { runs: [aRun(null), OLD] },
      minutesAgo(95),
    ],
    [
      'of the last plan while the service is away',
      { runs: [OLD], troubles: [{ what: 'service', why: 'no answer', since: minutesAgo(4) }] },
      minutesAgo(95),
    ],
    [
      'of now while only the database is away',
      { troubles: [{ what: 'database', why: 'no answer', since: minutesAgo(4) }] },
      null,
    ],
    ['of nothing before the first plan', { runs: [aRun(null)] }, null],
  ])('are %s', (_, members, asOf) => {
    const { environments } = healthOf(aSource(members));

    expect(new Set(environments.map((each) => each.asOf))).toEqual(new Set([asOf]));
  });

  it('remember the last run that wrote there, beyond the runs that had nothing to do', () => {
    const wrote = aRun(appliedReport(aReport({ changes: [RAMP] })));

    const { environments } = healthOf(aSource({ runs: [aRun(aReport()), aRun(null), wrote] }));

    expect(environments.map(({ lastChange }) => lastChange?.id)).toEqual([wrote.id, undefined]);
  });
});

describe('the verdict over all sources', () => {
  const fine = { name: 'a', verdict: healthOf(aSource()).verdict };
  const held = {
    name: 'b',
    verdict: healthOf(
      aSource({ pinned: { commit: COMMIT, reason: 'INC-4711', until: minutesAgo(-5) } }),
    ).verdict,
  };

  it('is that of the only one', () => {
    expect(verdictOver([fine]).headline).toBe('In sync: 0 objects equal');
  });

  it('is fine where all are', () => {
    expect(verdictOver([fine, fine])).toMatchObject({
      level: 'fine',
      headline: 'All 2 sources are in sync',
    });
  });

  it('names those that are worst', () => {
    expect(verdictOver([fine, held, fine])).toEqual({
      level: 'attention',
      headline: '1 of 3 sources to look at',
      detail: 'b: Pinned to 3f9c2ab: INC-4711',
    });
  });
});
