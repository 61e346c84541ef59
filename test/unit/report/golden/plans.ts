import type { RampStanding } from '../../../../src/model/flag/ramp.js';
import type { Impact } from '../../../../src/model/impact.js';
import type { Outcome } from '../../../../src/model/outcome.js';
import type { Change } from '../../../../src/model/plan.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';
import {
  aChange,
  aField,
  aLiveKill,
  aReport,
  aWithheld,
  COMMIT,
  judged,
  keyChange,
  manyKeys,
} from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';
import { onOff } from '../../../support/on-off.js';

/** What a newcomer has to have read within five seconds: a part of the first three lines. */
export interface GoldenPlan {
  readonly name: string;
  readonly inFiveSeconds: string;
  readonly report: PlanReport;
  /** Also printed with the names of keys, and as JSON. */
  readonly inFull?: true;
  /** The JSON is what it has beyond the document of this report. */
  readonly before?: PlanReport;
}

const CHECKOUT = 'flag/new-checkout@production';
const STAGING = 'flag/new-checkout@staging';
const NO_KEYS = { atLeast: 0, atMost: 0, certain: true } as const;

function moved(percent: number): Impact {
  const traffic = { atLeast: percent, atMost: percent };
  const move = { from: 'off', to: 'on', traffic, keys: NO_KEYS, names: [] };
  const place = { flag: 'new-checkout', environment: 'production' };
  const flag = { ...place, traffic, keys: NO_KEYS, listed: 0, moves: [move], bounded: false };
  return { flags: [flag], risks: [] };
}

function ramp(from: number, to: number, id = CHECKOUT, members: Partial<Change> = {}): Change {
  return aChange(id, 'update', {
    fields: [
      { ...aField('/defaultRule', onOff(from), onOff(to)), reason: members.reason ?? 'commit' },
    ],
    ...members,
  });
}

/** The report of changes that one commit caused. */
function by(
  title: string,
  changes: readonly Change[],
  members: Partial<PlanReport> = {},
): PlanReport {
  return aReport(
    { changes, unchanged: ['flag/search'] },
    {
      notes: new Map(changes.map(({ id }) => [id, { title, comment: title }])),
      ...members,
    },
  );
}

function newFlag(name: string): Change[] {
  return [
    aChange(`flag/${name}`, 'create', {
      fields: [aField('/description', undefined, `All of ${name}`)],
    }),
    ...['staging', 'production'].map((place) =>
      aChange(`flag/${name}@${place}`, 'create', {
        fields: [
          aField('/treatments', undefined, [{ name: 'on' }, { name: 'off' }]),
          aField('/defaultTreatment', undefined, 'off'),
          aField('/rules', undefined, [
            { matchers: [{ type: 'IN_SEGMENT', string: 'staff' }], buckets: onOff(100) },
          ]),
          aField('/defaultRule', undefined, onOff(place === 'staging' ? 100 : 5)),
        ],
      }),
    ),
  ];
}

const rule = (segment: string, on: number): object => ({
  matchers: [{ type: 'IN_SEGMENT', string: segment }],
  buckets: onOff(on),
});

const RAMP: RampStanding = {
  id: CHECKOUT,
  ...{ rule: null, treatment: 'on', step: 1, held: null, served: 25 },
  steps: [
    { percent: 25, due: '2026-11-20T08:00:00Z', dueText: '2026-11-20 09:00 Europe/Berlin' },
    { percent: 40, due: '2026-11-24T08:00:00Z', dueText: '2026-11-24 09:00 Europe/Berlin' },
    { percent: 100, due: '2026-11-27T08:00:00Z', dueText: '2026-11-27 09:00 Europe/Berlin' },
  ],
};

const STORY = aStory({
  impacts: new Map([[CHECKOUT, moved(15)]]),
  killReasons: new Map([['flag/payments@production', 'INC-6012 double charges, by ana']]),
});

/** The story, with what became of its changes in their order; the others are applied. */
function applied(endings: readonly Outcome[]): PlanReport {
  const outcomes = new Map(
    STORY.plan.changes.map(({ id }, at): [string, Outcome] => {
      return [id, endings[at] ?? { status: 'applied' }];
    }),
  );
  return judged({ ...STORY, outcomes, converged: endings.length === 0 });
}

/** Ordinary days. */
export const GOLDEN_PLANS: readonly GoldenPlan[] = [
  {
    name: 'ramp-step',
    inFiveSeconds: 'production will be updated: on 25 → 40 % · ramp: as its spec plans it',
    report: by('Ramp checkout', [ramp(25, 40, CHECKOUT, { reason: 'ramp' })], {
      impacts: new Map([[CHECKOUT, moved(15)]]),
      ramps: [RAMP],
    }),
  },
  {
    name: 'new-flag',
    inFiveSeconds: 'new flag: production on 5 %, 1 rule; staging on 100 %, 1 rule',
    report: by('Add search', newFlag('search')),
  },
  {
    name: 'restore',
    inFiveSeconds: 'production will be updated: no longer killed',
    report: by('Take the kill back', [
      aChange(CHECKOUT, 'update', {
        reason: 'restore',
        fields: [{ ...aField('/killed', true, false), reason: 'restore' }],
      }),
    ]),
  },
  {
    name: 'new-segment',
    inFiveSeconds: 'new segment: production 12 keys',
    report: by('Add a segment', [
      aChange('segment/beta', 'create', { fields: [aField('/description', undefined, 'Testers')] }),
      aChange('segment/beta@production', 'activate', { keys: keyChange(manyKeys('user', 12)) }),
    ]),
  },
  {
    name: 'deletion',
    inFiveSeconds: 'production will be deleted · prune: no longer in git',
    report: by('Remove the banner', [
      ramp(10, 20),
      aChange('flag/banner@production', 'delete', {
        reason: 'prune',
        location: null,
        fields: [aField('/defaultRule', onOff(100), undefined)],
      }),
    ]),
  },
  {
    name: 'rules',
    inFiveSeconds: 'production will be updated: 1 rule changed, 1 added',
    report: by('Half of the staff', [
      aChange(CHECKOUT, 'update', {
        fields: [aField('/rules', [rule('staff', 10)], [rule('staff', 50), rule('beta', 100)])],
      }),
    ]),
  },
  {
    name: 'variants',
    inFiveSeconds: 'production will be updated: red 50 → 30 %, blue 50 → 30 %, green 0 → 40 %',
    report: by('A third colour', [
      aChange(CHECKOUT, 'update', {
        fields: [
          aField(
            '/defaultRule',
            [
              { treatment: 'red', size: 50 },
              { treatment: 'blue', size: 50 },
            ],
            [
              { treatment: 'red', size: 30 },
              { treatment: 'blue', size: 30 },
              { treatment: 'green', size: 40 },
            ],
          ),
        ],
      }),
    ]),
  },
  {
    name: 'conflict-held',
    inFiveSeconds: 'would be updated: changed in git and outside git, which is held here',
    report: aReport({
      withheld: [
        aWithheld(CHECKOUT, 'update', 'conflict-held', {
          reason: 'conflict',
          fields: [
            {
              ...aField('/defaultRule', onOff(90), onOff(40)),
              ...{ reason: 'conflict', base: onOff(25) },
            },
          ],
        }),
      ],
      unchanged: ['flag/search'],
    }),
  },
  {
    name: 'conflict-in-rules',
    inFiveSeconds: 'would be updated: changed in git and outside git, which is held here',
    report: aReport({
      withheld: [
        aWithheld(CHECKOUT, 'update', 'conflict-held', {
          reason: 'conflict',
          fields: [
            {
              ...aField('/rules', [rule('staff', 5), rule('beta', 9)], [rule('staff', 20)]),
              ...{ reason: 'conflict', base: [rule('staff', 10), rule('beta', 9)] },
            },
          ],
        }),
      ],
    }),
  },
  {
    name: 'first-contact',
    inFiveSeconds: 'adopt: exists, and no run remembers it here',
    report: by('Declare checkout', [ramp(90, 40, STAGING, { reason: 'adopt' })]),
  },
  {
    name: 'guard',
    inFiveSeconds: 'Refused by a guard, nothing is sent',
    report: by(
      'Clean up',
      [
        aChange('flag/banner@production', 'delete', { reason: 'prune', location: null }),
        ramp(10, 90),
      ],
      {
        guardFindings: [
          { guard: 'maxDeletes', environment: 'production', found: 9, limit: 5 },
          { guard: 'maxKeyRemovalPercent', environment: null, found: 41, limit: 20 },
          {
            ...{ guard: 'maxShift', environment: 'production', id: CHECKOUT },
            ...{ found: 80, limit: 50, spentAllow: true },
          },
        ],
      },
    ),
  },
  {
    name: 'many-flags',
    inFiveSeconds: '300 new flags in flags: flag-1, flag-2, flag-3, … 297 more',
    report: by(
      'Import them all',
      Array.from({ length: 300 }, (_, i) => newFlag(`flag-${String(i + 1)}`)).flat(),
    ),
  },
  {
    name: 'live-kill',
    inFiveSeconds: 'Killed on the service, not ordered by git; they stay so',
    report: aReport({
      liveKills: [aLiveKill(CHECKOUT, { seen: '2026-10-03T22:14:00Z', commit: COMMIT })],
    }),
  },
  {
    name: 'in-sync',
    inFiveSeconds: 'In sync: 40 objects equal, nothing to write in workspace Default',
    report: aReport({ unchanged: manyKeys('flag/f', 40) }),
  },
  {
    name: 'story',
    inFiveSeconds: 'flag/payments in production will be updated: killed',
    report: STORY,
    inFull: true,
  },
  {
    name: 'story-applied',
    inFiveSeconds: 'flag/payments in production updated: killed',
    report: applied([]),
  },
  {
    name: 'story-failed',
    inFiveSeconds: 'segment/beta in production partly applied, then failed: cannot add keys',
    report: applied([
      { status: 'applied' },
      { status: 'applied' },
      {
        ...{ status: 'failed', partly: true },
        error: {
          ...{ code: 'REJECTED', status: 400, transactionId: 't-17' },
          message: 'cannot add keys to segment "beta": the service is read-only',
        },
      },
      { status: 'skipped', why: 'needs segment/beta@production' },
    ]),
    inFull: true,
    before: STORY,
  },
  {
    name: 'touched-and-stateless',
    inFiveSeconds: 'no commit with local changes',
    report: aReport(
      {
        changes: [aChange('flag/a', 'update')],
        observed: 'touched',
        notCompared: [{ id: 'segment/s@production', what: 'keys', why: 'counted' }],
      } as object,
      { revision: { commit: null, dirty: true }, stateless: true, held: ['flag/broken'] },
    ),
  },
  {
    name: 'reviewed',
    inFiveSeconds: 'flag/mine in staging will be updated',
    report: aReport({
      changes: [aChange('flag/mine@staging', 'update')],
      withheld: [
        aWithheld('flag/theirs@staging', 'update', 'not-reviewed', { reason: 'drift' }),
        aWithheld('flag/held@staging', 'update', 'live-kill'),
      ],
    }),
  },
  {
    name: 'made-again',
    inFiveSeconds: 'flag/search in production will be created · drift: changed outside git',
    report: by(
      'Correct drift of flag/search',
      newFlag('search').map((each) => ({ ...each, reason: 'drift' })),
    ),
  },
  {
    name: 'rename',
    inFiveSeconds: 'flag/new will be created',
    report: aReport({
      changes: [aChange('flag/new', 'create', { rename: { from: 'flag/old' } })],
      withheld: [
        aWithheld('flag/old', 'delete', 'prune-off', {
          ...{ location: null, reason: 'prune', rename: { to: 'flag/new' } },
        }),
      ],
    }),
  },
  {
    name: 'suspended',
    inFiveSeconds: 'Nothing to write · flag/a would be updated: nothing is written while',
    report: aReport(
      { withheld: ['flag/a', 'flag/b'].map((id) => aWithheld(id, 'update', 'suspended')) },
      { suspended: { reason: 'ana: INC-4711\u001b[31m', until: '2026-10-03T14:00:00.000Z' } },
    ),
  },
  {
    name: 'field-reasons',
    inFiveSeconds: 'on 30 → 25 % · conflict: changed in git and outside git',
    report: aReport({
      changes: [
        aChange(CHECKOUT, 'update', {
          reason: 'conflict',
          fields: [
            {
              ...aField('/defaultRule', [onOff(30)[0]], [onOff(25)[0]]),
              ...{ reason: 'conflict', base: [onOff(10)[0]] },
            },
            aField('/baselineTreatment', 'on', 'off'),
          ],
        }),
      ],
    }),
  },
  {
    name: 'identities',
    inFiveSeconds: 'identities/user in production will be updated',
    report: aReport({
      changes: [
        aChange('identities/user@production', 'update', {
          keys: { ...keyChange(['user-7']), changed: ['user-1042', 'user-1043'] },
        }),
      ],
      withheld: [
        aWithheld('identities/user@staging', 'delete', 'stays-on-service', {
          keys: { ...keyChange([], ['user-7']), changed: ['user-8', 'user-9'] },
          location: null,
        }),
        aWithheld('identities/account@production', 'create', 'not-remembered', {
          keys: { ...keyChange(['user-1']), changed: [] },
        }),
      ],
    }),
    inFull: true,
  },
  {
    name: 'identities-refused',
    inFiveSeconds: 'partly applied, then failed: cannot (IDENTITIES_REFUSED)',
    report: aReport(
      {
        changes: [
          aChange('identities/user@staging', 'create', {
            keys: { ...keyChange(['user-1', 'user-2', 'user-3']), changed: [] },
          }),
        ],
      },
      {
        outcomes: new Map([
          [
            'identities/user@staging',
            {
              ...{ status: 'failed', partly: true },
              error: {
                ...{ code: 'IDENTITIES_REFUSED', message: 'cannot' },
                ...{ status: null, transactionId: null },
              },
              identities: {
                written: ['user-3'],
                failed: ['user-1', 'user-2'].map((key) => {
                  return { key, status: 400, message: `${key} has a bad plan` };
                }),
              },
            },
          ],
        ]),
      },
    ),
    inFull: true,
  },
];
