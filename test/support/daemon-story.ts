import type {
  EnvironmentFlags,
  LiveFlag,
  OrderedKill,
  RunRecord,
  Serving,
  SourceView,
} from '../../src/daemon/view.js';
import { aRun, aSource, appliedReport, minutesAgo, standingsAfter } from './daemon-view.js';
import { sharesOf } from './on-off.js';
import { aChange, aField, aReport, aWithheld } from './plan-builder.js';
import { aStory } from './plan-builder-story.js';

const KILLED: OrderedKill = {
  id: 'flag/payments@production',
  reason: 'INC-6012 double charges',
  by: 'ana',
  since: '2026-10-03T13:44:00Z',
};

const ALIVE: Serving = {
  killed: false,
  shares: [],
  trafficAllocation: 100,
  defaultTreatment: 'off',
  rules: 0,
  targets: 0,
};

/** A flag that serves so many per cent `on`. */
export function aLiveFlag(name: string, percent: number, members: Partial<Serving> = {}): LiveFlag {
  const serves = { ...ALIVE, shares: sharesOf(percent), ...members };
  return { name, file: `flags/${name}.yaml`, line: 3, serves, seenAt: minutesAgo(4) };
}

function flagsIn(environment: string, flags: readonly LiveFlag[]): EnvironmentFlags {
  return { environment, total: flags.length, flags };
}

const THREE_WAYS = [
  { treatment: 'classic', size: 50 },
  { treatment: 'compact', size: 30 },
  { treatment: 'cards', size: 20 },
];

const SHOP_FLAGS: readonly EnvironmentFlags[] = [
  flagsIn('staging', [aLiveFlag('checkout', 100), aLiveFlag('legacy', 0)]),
  flagsIn('production', [
    aLiveFlag('checkout', 25, { rules: 2, targets: 3 }),
    aLiveFlag('legacy', 60, { trafficAllocation: 50 }),
    aLiveFlag('listing-layout', 0, { shares: THREE_WAYS, defaultTreatment: 'classic' }),
    aLiveFlag('new-checkout', 25, { ruleTexts: ['in segment staff → on 100 %'], rules: 1 }),
    aLiveFlag('payments', 100, { killed: true }),
    aLiveFlag('search-ranking', 20),
  ]),
];

const UNMANAGED = {
  flags: ['mobile-onboarding-2024', 'seasonal-banner'],
  segments: ['early-birds'],
};

/** A shop on an ordinary afternoon: what was applied, what was changed outside git, and a quiet neighbour. */
export function anAfternoon(): SourceView[] {
  const story = appliedReport(aStory());
  const { withheld, unchanged } = story.plan;
  const unmanaged = { flags: 2, segments: 1 };
  const found = aReport({ withheld, unchanged, unmanaged });
  const held = { ...found, outcomes: new Map(), converged: true };
  const quiet = (minutes: number): RunRecord =>
    aRun(aReport({ unchanged }), {
      triggers: ['schedule'],
      startedAt: minutesAgo(minutes),
      durationMs: 610,
      requests: 9,
    });
  const looked = aRun(held, {
    triggers: ['schedule'],
    startedAt: minutesAgo(4),
    durationMs: 820,
    requests: 14,
    kills: [KILLED],
    unmanaged: UNMANAGED,
  });
  const applied = aRun(story, {
    triggers: ['webhook', 'commit'],
    startedAt: minutesAgo(21),
    durationMs: 3_420,
    requests: 31,
  });
  const failed = aRun(null, {
    result: 'failed',
    exitCode: 6,
    triggers: ['retry'],
    startedAt: minutesAgo(66),
    durationMs: 30_120,
    subject: 'Let the EU in on the new search',
    commit: '9b0c1d2e3f405162738495a6b7c8d9eaf0b1c2d3',
    summary: 'cannot read flags from https://admin.example.com: no answer within 30 s, 6 tries',
    text: 'cannot read flags from https://admin.example.com: no answer within 30 s, 6 tries\n',
    requests: 6,
  });
  return [
    aSource({
      flags: SHOP_FLAGS,
      runs: [looked, applied, quiet(34), quiet(44), quiet(54), failed, quiet(76)],
      nextSchedule: minutesAgo(-6),
      seen: {
        commit: applied.commit ?? '',
        subject: applied.subject ?? '',
        committedAt: minutesAgo(22),
      },
      applied: {
        commit: applied.commit ?? '',
        subject: applied.subject ?? '',
        committedAt: minutesAgo(22),
      },
    }),
    aSource({
      name: 'search-flags',
      location: '/srv/search/flags',
      workspace: 'Search',
      runs: [quiet(3), quiet(13), quiet(23)],
      nextSchedule: minutesAgo(-7),
      suspended: null,
    }),
  ];
}

/** The same shop when a commit with a slip is on its branch, and then while the service is away. */
export function aBadMorning(): SourceView[] {
  const [shop] = anAfternoon();
  if (!shop) throw new Error('bug: an afternoon without a shop');
  const commit = '9b0c1d2e3f405162738495a6b7c8d9eaf0b1c2d3';
  const broken = aRun(null, {
    result: 'invalid',
    exitCode: 3,
    startedAt: minutesAgo(1),
    subject: 'Let the EU in on the new search',
    commit,
    summary: 'the specs are invalid; nothing was sent',
    text: 'flags/search.yaml:12:7: error[unknown-segment] no segment "staf"; did you mean "staff"?\n',
    diagnostics: [
      {
        ...{ severity: 'error', code: 'unknown-segment', file: 'flags/search.yaml' },
        ...{ line: 12, column: 7, message: 'no segment "staf"; did you mean "staff"?' },
      },
    ],
  });
  const seen = { commit, subject: broken.subject ?? '', committedAt: minutesAgo(2) };
  const invalid = { ...shop, seen, runs: [broken, ...shop.runs] };
  const why = 'no answer from https://admin.example.com within 30 s';
  const away = {
    ...shop,
    name: 'search-flags',
    phase: 'backing-off',
    troubles: [{ what: 'service', why, since: minutesAgo(9) }],
    nextRetry: minutesAgo(-1),
  } as const;
  return [invalid, away];
}

/** What a run holds back: a guard wants somebody to approve it, a ramp waits for a kill that was made by hand. */
export function aHeldEvening(): SourceView[] {
  const changes = [
    aChange('flag/new-checkout@production', 'update', {
      location: { file: 'flags/checkout/new-checkout.yaml', line: 18, column: 3 },
      fields: [
        aField(
          '/defaultRule',
          [
            { treatment: 'on', size: 25 },
            { treatment: 'off', size: 75 },
          ],
          [{ treatment: 'on', size: 100 }],
        ),
      ],
    }),
  ];
  const [percent, due] = [[5, 20, 50, 100], '2026-10-05T09:00Z'];
  const steps = percent.map((each) => ({ percent: each, due, dueText: 'Mon 5 Oct 09:00 UTC' }));
  const waiting = { id: 'flag/search-ranking@production', rule: null, treatment: 'on', steps };
  const guard = { guard: 'maxShift', environment: 'production', found: 75, limit: 20 } as const;
  const members = {
    guardFindings: [guard],
    ramps: [{ ...waiting, step: 1, served: 20, held: 'it is killed' }],
    heldHash: `sha256:${'5f1c7a0d'.repeat(8)}`,
  };
  const ref = { kind: 'flag', name: 'search-ranking', environment: 'production' } as const;
  const location = { file: 'flags/search-ranking.yaml', line: 9, column: 3 };
  const seen = { id: waiting.id, ref, location, seen: minutesAgo(47), commit: null };
  const refused = aRun(aReport({ changes, liveKills: [seen] }, members), {
    result: 'refused',
    exitCode: 4,
    subject: 'Give the new checkout to everybody',
    triggers: ['commit'],
  });
  const [shop] = anAfternoon();
  if (!shop) return [];
  const runs = [refused, ...shop.runs];
  const flags = shop.flags.map(({ flags: own, ...at }) => ({
    ...at,
    flags: own.map((each) =>
      each.name === 'search-ranking' ? aLiveFlag(each.name, 20, { killed: true }) : each,
    ),
  }));
  const liveKills = runs[0]?.plan?.liveKills ?? [];
  return [{ ...shop, runs, flags, liveKills, standings: standingsAfter(runs) }];
}

/** A shop with something for each button: what no run remembers is withheld, and a neighbour is suspended and pinned by hand. */
export function aMorningOfQuestions(): SourceView[] {
  const [shop, search] = anAfternoon();
  if (!shop || !search) throw new Error('bug: an afternoon without its sources');
  const withheld = [aWithheld('flag/banner@production', 'update', 'adopt-needed', {})];
  const asked = aRun(aReport({ withheld }), { startedAt: minutesAgo(3), triggers: ['schedule'] });
  const held = { reason: 'INC-6012 double charges', until: minutesAgo(-60) };
  return [
    { ...shop, runs: [asked, ...shop.runs] },
    { ...search, suspended: held, pinned: { ...held, commit: search.applied?.commit ?? '' } },
  ];
}
