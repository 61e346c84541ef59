import { describe, expect, it } from 'vitest';
import { healthOf, verdictOver } from '../../../src/daemon/health.js';
import { standingsUnder } from '../../../src/daemon/standings.js';
import type { RunRecord, RunResult, SourceView } from '../../../src/daemon/view.js';
import type { PlanReport } from '../../../src/report/plan-report.js';
import {
  aRun,
  aSource,
  appliedReport,
  minutesAgo,
  sourceAfter,
} from '../../support/daemon-view.js';
import { aChange, aLiveKill, aReport, aWithheld, COMMIT } from '../../support/plan-builder.js';

const RAMP = aChange('flag/checkout@production', 'update');
const HELD = aWithheld('flag/legacy@production', 'update', 'drift-reported', { reason: 'drift' });
const FIXED = aWithheld('flag/old', 'update', 'immutable');
const CONFLICT = aWithheld('flag/pay@production', 'update', 'conflict-held');
const OLD = aRun(aReport(), { startedAt: minutesAgo(95) });
const SUSPENDED = { reason: 'INC-1', until: minutesAgo(-5) };
const PINNED = { ...SUSPENDED, commit: COMMIT };
const NO_MAPPING = {
  severity: 'error',
  ...{ code: 'wrong-type', message: '"kills" must be a mapping' },
  ...{ file: 'kills/production.yaml', line: 2, column: 3 },
} as const;
const DOWN = { what: 'service', why: 'no answer', since: minutesAgo(4) } as const;

const after = (
  plan: Parameters<typeof aReport>[0],
  members?: Partial<PlanReport>,
  run?: Partial<RunRecord>,
): Partial<SourceView> => ({ runs: sourceAfter(plan, members, run).runs });

const KNOWN = aSource(after({ unchanged: ['flag/a', 'flag/b'] }));
const DOUBT = { why: 'service-away', since: minutesAgo(9) } as const;
const UNKNOWN = KNOWN.standings && standingsUnder(KNOWN.standings, DOUBT);
const NEWER = { commit: 'ab12cd34'.repeat(5), subject: '', committedAt: minutesAgo(0) };

describe('the verdict over a source', () => {
  it.each<[string, Partial<SourceView>, string, string?]>([
    ['in sync', {}, 'fine: Nothing left to do'],
    ['before its first run', { runs: [] }, 'busy: The first run is under way'],
    [
      'with a newer commit under way',
      { seen: NEWER, phase: 'running' },
      'busy: ab12cd3 is being applied',
    ],
    [
      'with a newer commit that the replica which leads has not run yet',
      { leader: false, seen: NEWER },
      'busy: ab12cd3 is being applied',
    ],
    [
      'with a newer commit of which the replica that leads holds a part',
      {
        ...after({ withheld: [CONFLICT] }, { converged: false }, { commit: NEWER.commit }),
        ...{ leader: false, seen: NEWER },
      },
      'attention: 1 object held for a person',
    ],
    [
      'suspended by request',
      { suspended: SUSPENDED },
      'attention: Suspended: nothing but kills is written',
      'INC-1',
    ],
    [
      'resumed, with no run since',
      { runs: [aRun(aReport(), { result: 'suspended' })] },
      'fine: Nothing left to do',
    ],
    ['pinned', { pinned: PINNED }, 'attention: Pinned to 3f9c2ab', 'INC-1'],
    [
      'with a live kill',
      after({ liveKills: [aLiveKill('flag/pay@production')] }),
      'attention: 1 object waiting',
    ],
    ['with something withheld', after({ withheld: [HELD] }), 'attention: 1 object waiting'],
    [
      'with only what can never be written withheld',
      after({ withheld: [FIXED] }),
      'fine: Nothing left to do',
    ],
    [
      'with something held for a person',
      after({ unchanged: ['flag/a'], withheld: [CONFLICT] }, { converged: false }),
      'attention: 1 object held for a person, 1 in sync',
      'changed in git and on the',
    ],
    [
      'with an invalid file',
      after({ unchanged: ['flag/a'] }, { converged: false, held: ['flag/bad'] }),
      'attention: 1 object unknown, 1 in sync',
      'invalid file',
    ],
    [
      'with an invalid list of kills, which hides what is killed of objects that are in sync',
      after({ unchanged: ['flag/a'] }, {}, { result: 'degraded', diagnostics: [NO_MAPPING] }),
      'attention: Part of the specs is invalid',
      'kills/production.yaml:2 "kills" must be a mapping',
    ],
    ['that nothing confirms', { ...KNOWN, standings: UNKNOWN }, 'attention: 2 objects unknown'],
    [
      'that another replica keeps',
      { leader: false, runs: [] },
      'busy: Another replica keeps this source',
    ],
    [
      'whose service is down, suspended or not',
      { suspended: SUSPENDED, troubles: [DOWN] },
      'trouble: The service cannot be reached',
      'no answer',
    ],
    [
      'whose run failed, in the words of the run',
      { runs: [aRun(null, { result: 'failed', summary: 'no key' })] },
      'trouble: The last run failed',
      'no key',
    ],
  ])('%s', (_, members, expected, detail = '') => {
    const { verdict } = healthOf(aSource(members));

    expect(`${verdict.level}: ${verdict.headline}`).toBe(expected);
    expect(verdict.detail ?? '').toContain(detail);
  });

  it.each<[RunResult, string]>([
    ['applied', 'fine'],
    ['interrupted', 'attention'],
    ['refused', 'trouble'],
    ['invalid', 'trouble'],
    ['partial', 'trouble'],
    ['failed', 'trouble'],
  ])('whose last run ended as %s is %s', (result, level) => {
    expect(healthOf(sourceAfter({}, {}, { result })).verdict.level).toBe(level);
  });

  it('over all sources is that of the only one, fine where all are, and names those that are worst', () => {
    const fine = { name: 'a', verdict: healthOf(aSource()).verdict };
    const held = { name: 'b', verdict: healthOf(aSource({ pinned: PINNED })).verdict };

    expect(verdictOver([fine])).toBe(fine.verdict);
    expect(verdictOver([fine, fine])).toEqual({
      ...{ level: 'fine', headline: 'All 2 sources are in sync', detail: null },
    });
    expect(verdictOver([fine, held, fine])).toEqual({
      ...{ level: 'attention', headline: '1 of 3 sources to look at' },
      detail: 'b: Pinned to 3f9c2ab: INC-1',
    });
  });
});

describe('the environments of a source', () => {
  it('count what differs by what becomes of it, and remember the last run that wrote there', () => {
    const lost = aChange('flag/lost@staging', 'update', { reason: 'drift' });
    const report = {
      ...aReport({ changes: [RAMP, lost], withheld: [HELD, FIXED] }),
      outcomes: new Map([
        ['flag/checkout@production', { status: 'applied' as const }],
        ['flag/lost@staging', { status: 'skipped' as const, why: 'its needs failed' }],
      ]),
    };
    const wrote = aRun(appliedReport(aReport({ changes: [RAMP] })));
    const nothing = { failed: 0, waiting: 0, drift: 0, withheld: 0, lastChange: null };
    const of = (...runs: SourceView['runs']) => healthOf(aSource({ runs })).environments;
    const partial = aRun(report, { result: 'partial' });

    // The protected ones first, also where nothing differs.
    expect(of(aRun(aReport()))).toMatchObject([
      { ...nothing, name: 'production' },
      { ...nothing, name: 'staging' },
    ]);
    expect(of(partial)).toMatchObject([
      { ...nothing, name: 'production', drift: 1, withheld: 1, lastChange: partial },
      { ...nothing, name: 'staging', waiting: 1, drift: 1 },
    ]);
    expect(of(aRun(aReport({ changes: [RAMP] }), { result: 'suspended' }))).toMatchObject([
      { ...nothing, name: 'production', waiting: 1 },
      { ...nothing, name: 'staging' },
    ]);
    expect(of(aRun(aReport()), aRun(null), wrote)).toMatchObject([
      { name: 'production', lastChange: wrote },
      { name: 'staging', lastChange: null },
    ]);
  });

  const database = { ...DOWN, what: 'database' } as const;
  it.each<[string, Partial<SourceView>, string | null]>([
    ['now', {}, null],
    ['the last plan where the newest run has none', { runs: [aRun(null), OLD] }, minutesAgo(95)],
    ['the last plan while the service is away', { runs: [OLD], troubles: [DOWN] }, minutesAgo(95)],
    ['now while only the database is away', { troubles: [database] }, null],
    ['nothing before the first plan', { runs: [aRun(null)] }, null],
  ])('are as of %s', (_, members, asOf) => {
    const { environments } = healthOf(aSource(members));

    expect(new Set(environments.map((each) => each.asOf))).toEqual(new Set([asOf]));
  });
});
