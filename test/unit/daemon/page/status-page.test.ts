import { expect, it } from 'vitest';
import { flagPage } from '../../../../src/daemon/page/flag-page.js';
import { wayOut } from '../../../../src/daemon/page/object-lists.js';
import { runPage } from '../../../../src/daemon/page/runs.js';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import { standingsUnder } from '../../../../src/daemon/standings.js';
import type { SourceView } from '../../../../src/daemon/view.js';
import type { Outcome } from '../../../../src/model/outcome.js';
import { planText } from '../../../../src/report/text/plan.js';
import { aHeldEvening, aLiveFlag, anAfternoon } from '../../../support/daemon-story.js';
import {
  appliedReport,
  aRun,
  aSource,
  DaemonInMemory,
  minutesAgo,
  NOW,
  sourceAfter,
} from '../../../support/daemon-view.js';
import {
  aChange,
  aField,
  aReport,
  aWithheld,
  COMMIT,
  keyChange,
} from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';
import { onOff } from '../../../support/on-off.js';

const INLINE = /<\/?(?:a|b|bdi|code|i|span|strong|time)\b[^>]*>/g;
const ENTITIES = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'" };

/** The words of a page without its style and its script, in their order. */
function words(page: string): string {
  return page
    .slice(Math.max(0, page.indexOf('<header')))
    .replaceAll(INLINE, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&[a-z#0-9]+;/g, (each) => ENTITIES[each as keyof typeof ENTITIES])
    .replaceAll(/\s+/g, ' ');
}

const pageOf = (...sources: readonly SourceView[]): string =>
  statusPage(new DaemonInMemory(...sources), { now: NOW, takesRequests: false });

const DOWN = { what: 'service', why: 'no answer', since: minutesAgo(1) } as const;
const PAY = 'flag/pay@production';
const [SHOP = aSource()] = anAfternoon();

/** Of a commit with a wrong file. */
const WRONG = {
  severity: 'error',
  ...{ code: 'unknown-field', message: 'no field "trafic"' },
  ...{ file: 'flags/pay.yaml', line: 3, column: 1 },
} as const;

function broken(): SourceView {
  const held = aWithheld('flag/legacy@production', 'update', 'drift-reported', {
    fields: [aField('/defaultTreatment', 'on', 'off')],
    keys: keyChange(['user-1'], []),
  });
  const kills = [
    { id: PAY, reason: 'INC-6012 double charges', by: 'ana', since: '2026-10-03T22:14:00Z' },
    { id: 'flag/old@staging', reason: null, by: null, since: null },
  ];
  const runs = [
    aRun(null, { result: 'invalid', diagnostics: [WRONG] }),
    aRun(aReport({ withheld: [held] }), { kills }),
  ];
  return aSource({ runs });
}

function failed(): SourceView {
  const fields = [aField('/defaultTreatment', 'on', 'off')];
  const change = aChange(PAY, 'update', { reason: 'drift', fields });
  const error = { code: 'UNREADABLE', message: 'answered 500', status: 500 } as const;
  const outcome = { status: 'failed', partly: false, error: { ...error, transactionId: null } };
  const plan = aReport({ changes: [change], unmanaged: { flags: 52, segments: 1 } });
  const report = { ...plan, outcomes: new Map([[change.id, outcome as Outcome]]) };
  const unmanaged = { flags: ['banner'], segments: ['birds'] };
  return aSource({ runs: [aRun(report, { result: 'partial', unmanaged })] });
}

const FLAGS = [
  aLiveFlag('checkout', 25, { rules: 2, targets: 1, trafficAllocation: 50 }),
  aLiveFlag('payments', 100, { killed: true }),
  { ...aLiveFlag('lost', 0), serves: null },
];
const REMINDER = { id: PAY, what: 'review', due: '2026-10-01', reason: 'INC-1 <b>', by: 'ana' };
const HELD = aWithheld('flag/held', 'delete', 'window-closed', { archive: true });

it.each<[string, SourceView, readonly string[]]>([
  [
    'what was to be looked at again',
    sourceAfter({}, { reminders: [REMINDER as never] }),
    [
      `To be looked at again The kill of ${PAY} was to be reviewed by 2026-10-01; it stays until a commit takes it back: INC-1 <b>, by ana.`,
    ],
  ],
  [
    'a broken commit, what git keeps killed, and what withheld changes would do',
    broken(),
    [
      'flags/pay.yaml:3:1 error unknown-field no field "trafic"',
      `${PAY}: INC-6012 double charges, by ana, since 2026-10-03T22:14:00Z`,
      'flag/old@staging: its file says killed: true',
      'defaultTreatment: on → off +1 −0 keys',
    ],
  ],
  [
    'what no file declares, and what the last plan could not write',
    failed(),
    [
      '53 objects of the workspace that no file declares',
      'flag/banner segment/birds and 51 more',
      `✗ ${PAY} failed: answered 500 (UNREADABLE, status 500)`,
      'drift: changed outside git',
    ],
  ],
  [
    'the share of each flag',
    aSource({ flags: [{ environment: 'production', total: 12, flags: FLAGS }] }),
    [
      'What 12 flags serve',
      'checkout on 25 % of 50 %, 1 key, 2 rules lost not on the service payments ⊘ killed: everybody gets off',
      'and 9 more',
    ],
  ],
  [
    'the share of an only flag',
    aSource({ flags: [{ environment: 'production', total: 1, flags: FLAGS.slice(0, 1) }] }),
    ['What 1 flag serves'],
  ],
  [
    'that a standby, which came after the last change, does not know yet what flags serve',
    aSource({ leader: false, flags: [] }),
    ['What flags serve Not known here yet.'],
  ],
  [
    'the day of the apply, and not that of the commit',
    aSource({
      applied: { commit: 'a'.repeat(40), subject: 'Ramp pay', committedAt: minutesAgo(90) },
    }),
    ['Applied aaaaaaa Ramp pay 14:03 UTC, 2 min ago'],
  ],
  [
    'what is kept on the service as archived, and what is not as deleted',
    sourceAfter({
      changes: [aChange('flag/kept', 'delete', { archive: true }), aChange('flag/gone', 'delete')],
      withheld: [HELD],
    }),
    [
      '! flag/held would be archived',
      '- flag/kept will be archived',
      '- flag/gone will be deleted',
    ],
  ],
])('the page shows %s', (_, source, expected) => {
  const page = words(pageOf(source));

  expect(expected.filter((text) => !page.includes(text))).toEqual([]);
});

const doubt = { why: 'service-away', since: minutesAgo(64) } as const;
const OLD = aRun(aReport(), { startedAt: minutesAgo(585) });

it.each<[string, SourceView, readonly string[], RegExp]>([
  [
    'well while nobody knows',
    aSource({ runs: [aRun(null, { result: 'failed' }), OLD], troubles: [DOWN] }),
    ['production ! not known now; no objects as of 04:20 UTC, 9 h ago'],
    /<td>\s*<span class="mark fine"/,
  ],
  [
    'well while some specs are invalid',
    sourceAfter({}, { held: ['flag/pay'] }, { result: 'degraded', diagnostics: [WRONG] }),
    ['production ! no objects; part of the specs is invalid'],
    /<td>\s*<span class="mark fine"|verdict fine|class="says"><span class="mark fine"/,
  ],
  [
    'to have shares while none is known',
    { ...SHOP, standings: SHOP.standings && standingsUnder(SHOP.standings, doubt) },
    [
      'Flag production unknown since 13:01 UTC, 1 h ago',
      'checkout last seen 14:01 UTC: on 25 % 3 keys, 2 rules ? unknown',
    ],
    /class="share"/,
  ],
])('no environment is said %s, and the page says since when', (_, source, expected, claim) => {
  const page = pageOf(source);
  const text = words(page);

  expect(expected.filter((each) => !text.includes(each))).toEqual([]);
  expect(page).not.toMatch(claim);
});

it('claims nothing about flags before the first plan, nor where git declares none', () => {
  const none = [{ environment: 'production', total: 0, flags: [] }];
  const page = pageOf(aSource({ runs: [] }), aSource({ flags: none }));

  expect(words(page)).not.toContain('What flags serve');
});

it('does not say that nothing was applied while no run has applied a commit as a whole', () => {
  expect(words(pageOf({ ...broken(), applied: null }))).toContain(
    'Applied no commit as a whole yet',
  );
});

it('says first what a person on call needs, and then why', () => {
  const text = words(pageOf(...anAfternoon()));
  const order = [
    '1 of 2 sources to look at',
    'shop-flags',
    '1 object waiting',
    'full look 14:11 UTC, in 6 min',
    'production ! 1 object waiting 3f9c2ab 13:44 UTC, 21 min ago',
    'What 6 flags serve',
    'Flag production as of 14:01 UTC, 4 min ago staging as of 14:01 UTC, 4 min ago',
    'checkout on 25 % 3 keys, 2 rules on 100 %',
    'legacy on 60 % of 50 % ◷ changed on the service, which the config leaves so off 100 %',
    'payments ⊘ killed: everybody gets off not declared',
    'flag/legacy@production changed on the service, which the config leaves so as of',
    'flagkeel reconcile --revert-drift --only',
    '! flag/legacy@production would be updated: changed outside git, which is reported here',
    'applied 3f9c2ab Ramp checkout to 25 %',
    '3 looks, since 13:11 UTC',
    'search-flags',
  ];

  let from = 0;
  const missing = order.filter((each) => {
    const at = text.indexOf(each, from);
    if (at >= 0) from = at;
    return at < 0;
  });
  expect(missing).toEqual([]);
});

it('says of what is withheld what the text report says, with links to line and commit', () => {
  const held = aWithheld('flag/held@production', 'update', 'drift-reported', {
    location: { file: 'flags/held.yaml', line: 3, column: 1 },
    fields: [aField('/defaultRule', onOff(10), onOff(25))],
  });
  const report = aReport({ withheld: [held] });
  const layout = { color: false, width: 1_000, showKeys: false, verbose: true };
  const [, section = ''] = /Withheld\n([^]*?)\n\n/.exec(planText(report, layout)) ?? [];
  const said = words(section).trim().replace(' · flags/held.yaml:3', '');

  const location = 'https://github.com/shop/flags.git';
  const page = pageOf(aSource({ location, runs: [aRun(report)] }));

  expect(said).toMatch(/on 10 → 25 %/);
  expect(words(page)).toContain(said);
  expect(page).toContain(`/blob/${COMMIT}/flags/held.yaml#L3"`);
  expect(page).toContain(`href="https://github.com/shop/flags/commit/${COMMIT}"`);
});

it('shows the first rows and counts the others, and cuts long ones before the way out', () => {
  const fields = Array.from({ length: 30 }, (_, at) => aField(`/f${String(at)}`, 1, 2));
  const withheld = Array.from({ length: 60 }, (_, at) =>
    aWithheld(`flag/f${String(at)}`, 'update', 'drift-reported', { fields, because: 'ask ana' }),
  );
  const page = words(pageOf(sourceAfter({ withheld })));

  expect(page.match(/and 21 more → ask ana/g)).toHaveLength(50);
  expect(page).toContain('and 10 more: see the plan of the last run');
});

it('counts as waiting for an approval only what the run did not write', () => {
  const changes = [aChange('flag/new', 'create'), aChange('flag/new@staging', 'create')];
  const withheld = [aWithheld(PAY, 'create', 'window-closed', {})];
  const report = appliedReport(aReport({ changes, withheld }));
  const heldHash = `sha256:${'a'.repeat(64)}`;
  const page = words(pageOf(aSource({ runs: [aRun({ ...report, heldHash })] })));

  expect(page).toContain('1 change held until a window opens.');
  expect(page).not.toContain('see the plan of the last run');
});

it('shows the command of a way out as code, and never cuts it', () => {
  const only = Array.from({ length: 60 }, (_, at) => ['--only', `flag/f${String(at)}`]).flat();
  const run = ['drift', '--adopt', ...only];
  const way = wayOut({ because: null, ways: [{ run, to: 'keep it' }] }).text;

  expect(way).toContain(`<code><bdi>flagkeel ${run.join(' ')}</bdi></code>`);
  expect(words(way)).toMatch(/^→ run flagkeel drift .* to keep it$/);
});

it.each([
  ['maxShift', true],
  // Only a command with --force lets it pass.
  ['emptyRepository', false],
] as const)('offers to approve what the daemon would take: %s', (guard, isOffered) => {
  const changes = [aChange(PAY, 'update')];
  const report = aReport(
    { changes },
    { guardFindings: [{ guard, environment: null, found: 9, limit: 1 }] },
  );
  const source = aSource({ runs: [aRun({ ...report, heldHash: `sha256:${'a'.repeat(64)}` })] });
  const page = statusPage(new DaemonInMemory(source), { now: NOW, takesRequests: true });

  expect(page.includes('data-path="approve"')).toBe(isOffered);
  expect(words(page)).toContain(`1 change refused by a guard (${guard})`);
});

it('has buttons only where the daemon answers them, and links that need no script', () => {
  const page = pageOf(...anAfternoon());
  const asked = statusPage(new DaemonInMemory(...anAfternoon()), { now: NOW, takesRequests: true });

  expect(page).not.toContain('data-path=');
  expect(asked.match(/data-path="(reconcile|suspend|pin)"/g)).toHaveLength(6);
  expect(page).toContain('href="flags/shop-flags/checkout"');
  expect(page).toContain('as of <time datetime="2026-10-03T14:05:00.000Z">14:05:00 UTC</time>');
});

it('says of a button what it does while the source is suspended or pinned, and offers none that does nothing', () => {
  const withheld = [aWithheld('flag/old@production', 'update', 'adopt-needed', {})];
  const seen = { ...SHOP.seen, commit: 'f'.repeat(40), subject: 'Newest' } as SourceView['seen'];
  const source = aSource({ runs: [aRun(aReport({ withheld }))], seen });
  const saysOf = (members: Partial<SourceView>): Record<string, string> => {
    const view = new DaemonInMemory({ ...source, ...members });
    const page = statusPage(view, { now: NOW, takesRequests: true });
    const found = page.matchAll(/data-path="(\w+)"\s+data-says="([^"]*)"/g);
    return Object.fromEntries([...found].map(([, path = '', says = '']) => [path, says]));
  };
  const suspended = { reason: 'INC-1', until: minutesAgo(-60) };
  const pinned = { commit: COMMIT, ...suspended };
  const like = (words: RegExp): unknown => expect.stringMatching(words);
  const kills = like(/ Nothing but kills is written while the source is suspended\.$/);

  expect(saysOf({})).toMatchObject({ adopt: like(/over its live values/) });
  expect(saysOf({ suspended })).toEqual({
    reconcile: kills,
    resume: like(/is not applied yet/),
    pin: kills,
  });
  expect(saysOf({ suspended, pinned })).toMatchObject({ unpin: kills });
  expect(saysOf({ pinned })).toMatchObject({
    reconcile: like(/fffffff .*Newest.* waits for the end of the pin\.$/),
  });
});

it('has a mark for each run, the newest last, which says its result in words', () => {
  const marks = [...pageOf(SHOP).matchAll(/<a\s[^>]*title="([^"]*)"/g)].map(([, title]) => title);

  expect(marks).toEqual([
    'in sync, 12:49 UTC',
    'failed, 12:59 UTC',
    'in sync, 13:31 UTC',
    'applied, 13:44 UTC',
    'in sync, 14:01 UTC',
  ]);
});

it('shows a flag with its words, its ramp, what is open, and its last writes', () => {
  const [evening = aSource()] = aHeldEvening();
  const flag = (name: string): string => words(flagPage(evening, name, NOW) ?? '');

  expect(flag('new-checkout')).toContain('in segment staff → on 100 %');
  expect(flag('new-checkout')).toContain('others → on 25 %, off 75 %');
  expect(flag('new-checkout')).toContain(
    'flag/new-checkout@production will be updated: on 25 → 100 %',
  );
  expect(flag('search-ranking')).toContain('⊘ killed on the service, not ordered by git');
  expect(flag('search-ranking')).toContain('5 % done 20 % now 50 % Mon 5 Oct');
  expect(flag('payments')).toContain('Last writes production updated 13:44 UTC, 21 min ago');
  expect(flag('payments')).toContain('killed: no → YES');
  expect(flag('payments')).toContain('Ramp checkout to 25 % by a run of 3f9c2ab');
  expect(flagPage(evening, 'nothing', NOW)).toBeNull();
});

it('shows a run with the report as the command prints it, and leads to its plan', () => {
  const run = aRun(appliedReport(aStory()));
  const page = runPage(aSource({ runs: [run] }), run, NOW);
  const [, report = ''] = /<pre>([^]*)<\/pre>/.exec(page) ?? [];

  expect(words(report).trim()).toBe(run.text.replaceAll(/\s+/g, ' ').trim());
  expect(page).toContain(`href="${run.id}/plan"`);
  expect(words(page)).toContain('Took 1.2 s, 12 requests Because of new commit');
});
