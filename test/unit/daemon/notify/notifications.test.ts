import { afterEach, describe, expect, it } from 'vitest';
import { FORMATS } from '../../../../src/daemon/notify/formats.js';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { startNotifications } from '../../../../src/daemon/notify/notifications.js';
import type { NotifyTarget } from '../../../../src/daemon/notify/formats.js';
import { standingsUnder } from '../../../../src/daemon/standings.js';
import type { RunRecord } from '../../../../src/daemon/view.js';
import type { Reminder } from '../../../../src/model/plan.js';
import { createLog } from '../../../../src/platform/log.js';
import { aRun, aSource, appliedReport, DaemonInMemory } from '../../../support/daemon-view.js';
import { JumpingTime } from '../../../support/http-time.js';
import { startScripted, type Script } from '../../../support/http.js';
import type { MessageKind, ToldObject } from '../../../../src/daemon/notify/message.js';
import { aChange, aField, aLiveKill, aReport, aWithheld } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const OK: Script = () => ({ status: 200, body: 'ok' });

/** A daemon whose runs are told to one scripted receiver. */
async function fixture(
  script: Script = OK,
  format: NotifyTarget['format'] = 'json',
  template?: string,
) {
  const server = await startScripted(script);
  closing.push(server.close);
  const daemon = new DaemonInMemory(aSource());
  const metrics = new Metrics();
  let logged = '';
  const stream = { write: (line: string) => (logged += line) };
  const log = createLog({ level: 'debug', format: 'json', stream });
  const time = new JumpingTime();
  const url = `${server.url}/hooks/secret-path?token=secret-token`;
  const notifications = startNotifications(
    daemon,
    [{ format, url, ...(template !== undefined && { template }) }],
    { log, metrics, time },
  );
  closing.push(notifications.close);
  return {
    daemon,
    server,
    close: notifications.close,
    logged: () => logged,
    bodies: () => server.seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    results: async () =>
      [...(await metrics.text(daemon, 0)).matchAll(/^flagkeel_notifications_total.*$/gm)].map(
        String,
      ),
  };
}

/** The JSON messages that these runs cause, one run after the other. */
async function messagesAfter(...runs: readonly RunRecord[]): Promise<Record<string, unknown>[]> {
  const { daemon, bodies, close } = await fixture();
  for (const run of runs) daemon.end(run);
  await close();
  return bodies();
}

async function eventually(check: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!check()) {
    if (Date.now() > deadline) throw new Error('it never happened');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const APPLIED = () =>
  aRun(appliedReport(aReport({ changes: [aChange('flag/a@production', 'update')] })));
const DOWN = (tries = 4) =>
  aRun(null, {
    result: 'failed',
    exitCode: 6,
    summary: `no answer within 30 s, ${String(tries)} tries`,
    commit: null,
  });
const INVALID = (line: number) =>
  aRun(null, {
    result: 'invalid',
    exitCode: 3,
    summary: '1 problem',
    text: `flags/a.yaml:${String(line)}:1: error`,
  });

describe('what was to be looked at again', () => {
  it('is told once a day, however many runs find it, and not where none does', async () => {
    const due: Reminder = { id: 'flag/pay@production', what: 'review', due: '2026-10-01' };
    const report = aReport({}, { reminders: [due] });
    const at = (startedAt: string, plan = report): RunRecord => aRun(plan, { startedAt });

    const bodies = await messagesAfter(
      at('2026-10-03T09:00:00.000Z'),
      at('2026-10-03T23:00:00.000Z'),
      aRun(null, { startedAt: '2026-10-04T00:00:00.000Z', result: 'interrupted' }),
      at('2026-10-04T01:00:00.000Z'),
      at('2026-10-05T01:00:00.000Z', aReport()),
    );

    expect(bodies.map(({ event, startedAt }) => [event, startedAt])).toEqual([
      ['reminder', '2026-10-03T09:00:00.000Z'],
      ['reminder', '2026-10-04T01:00:00.000Z'],
    ]);
    expect(bodies[0]?.['text']).toContain('was to be reviewed by 2026-10-01');
  });
});

describe('a run', () => {
  it('that changed something is told once, with the report that the command prints', async () => {
    const run = aRun(appliedReport(aStory()));

    const bodies = await messagesAfter(run);

    // What it left as it was is told beside it.
    expect(bodies).toMatchObject([
      { formatVersion: 1, event: 'changed', source: 'shop-flags', run: run.id, text: run.text },
      { event: 'drift' },
    ]);
  });

  it.each(['plain', 'slack', 'teams'] as const)(
    'that changed something is told by the first line of its report, as %s',
    async (format) => {
      const { daemon, server, close } = await fixture(OK, format);
      const fields = [aField('/trafficAllocation', 50, 100)];
      const report = aReport({ changes: [aChange('flag/a@production', 'update', { fields })] });
      const run = aRun(appliedReport(report));

      daemon.end(run);
      await close();

      const [headline = ''] = run.text.split('\n');
      expect(headline).toContain('a in production updated');
      const title = `shop-flags changed: ${headline} at 3f9c2ab Ramp checkout to 25 %`;
      expect(server.seen[0]?.body).toContain(title);
    },
  );

  it('that found nothing to do, or was only planned, is not told', async () => {
    const bodies = await messagesAfter(
      aRun(aReport()),
      aRun(aReport({ changes: [aChange('flag/a', 'update')] }), { result: 'suspended' }),
      aRun(aReport(), { result: 'interrupted' }),
    );

    expect(bodies).toEqual([]);
  });

  it('that fails as the one before is told once, whatever numbers differ, and so is its end', async () => {
    const { daemon, bodies, close } = await fixture();

    for (const tries of [4, 5, 6]) daemon.end(DOWN(tries));
    daemon.end(aRun(aReport(), { result: 'interrupted' }));
    daemon.end(DOWN(7));
    daemon.end(aRun(aReport()));
    daemon.end(aRun(aReport()));
    await close();

    expect(bodies().map(({ event }) => event)).toEqual(['failed', 'recovered']);
  });

  it('that fails in another way is told, and so is one that fails again later', async () => {
    const { daemon, bodies, close } = await fixture();

    for (const run of [DOWN(), INVALID(3), INVALID(3), INVALID(4)]) daemon.end(run);
    daemon.end(APPLIED());
    daemon.end(DOWN());
    await close();

    expect(bodies().map(({ event, result }) => [event, result])).toEqual([
      ['failed', 'failed'],
      ['failed', 'invalid'],
      ['failed', 'invalid'],
      ['recovered', 'applied'],
      ['failed', 'failed'],
    ]);
  });

  it('that fails as before but wrote something is told', async () => {
    const partial = (members: object) =>
      aRun({ ...appliedReport(aStory()), ...members }, { result: 'partial' });

    const bodies = await messagesAfter(
      partial({}),
      partial({ outcomes: new Map() }),
      partial({ outcomes: new Map() }),
    );

    expect(bodies.filter(({ event }) => event === 'failed')).toHaveLength(2);
  });

  it('of one source says nothing about the failures of another', async () => {
    const { daemon, bodies, close } = await fixture();
    daemon.show(aSource({ name: 'bank-flags' }));

    daemon.end(DOWN(), 'shop-flags');
    daemon.end(DOWN(), 'bank-flags');
    daemon.end(aRun(aReport()), 'bank-flags');
    await close();

    expect(bodies().map(({ event, source }) => [event, source])).toEqual([
      ['failed', 'shop-flags'],
      ['failed', 'bank-flags'],
      ['recovered', 'bank-flags'],
    ]);
  });
});

const OUTSIDE = { reason: 'drift' } as const;
const HELD = aWithheld('flag/legacy@production', 'update', 'drift-reported', OUTSIDE);
const OTHER = aWithheld('flag/other@production', 'update', 'drift-reported', OUTSIDE);
const RAMP = {
  ...{ id: 'flag/shop@production', rule: null, treatment: 'on', step: 0, served: 5 },
  steps: [{ percent: 5, dueMs: null, due: null, dueText: null }],
};

describe('something that is not as git says', () => {
  const told = (bodies: Record<string, unknown>[]): unknown[] =>
    bodies.map(({ event, objects }) => [event, (objects as ToldObject[]).map(({ id }) => id)]);

  it.each<[MessageKind, RunRecord, string]>([
    ['drift', aRun(aReport({ withheld: [HELD] })), HELD.id],
    [
      'live-kill',
      aRun(aReport({ liveKills: [aLiveKill('flag/pay@production')] })),
      'flag/pay@production',
    ],
    ['held-ramp', aRun({ ...aReport(), ramps: [{ ...RAMP, held: 'a freeze' }] }), RAMP.id],
  ])('is told once, though every run finds it: %s', async (kind, run, id) => {
    const bodies = await messagesAfter(run, run, aRun(null), run);

    expect(told(bodies)).toEqual([[kind, [id]]]);
  });

  it.each([
    [{ withheld: [HELD] }, '`flagkeel drift --adopt --only flag/legacy`'],
    [
      { liveKills: [aLiveKill('flag/pay@production')] },
      '`flagkeel restore pay --environment production`',
    ],
  ])('is told with the command that ends it: %#', async (plan, command) => {
    const { daemon, bodies, close } = await fixture();

    daemon.end(aRun(appliedReport(aReport(plan))));
    await close();

    const objects = bodies().flatMap((body) => body['objects'] as ToldObject[]);
    expect(objects.map(({ says }) => says)).toEqual([expect.stringContaining(command)]);
  });

  it.each(['drift', 'held'] as const)('is told in production first: %s', async (kind) => {
    const why = kind === 'held' ? 'conflict-held' : 'drift-reported';
    const withheld = ['staging', 'production'].map((place) =>
      aWithheld(`flag/a@${place}`, 'update', why, OUTSIDE),
    );

    const bodies = await messagesAfter(aRun(aReport({ withheld })));

    const ids = ['flag/a@production', 'flag/a@staging'];
    expect(told(bodies.filter(({ event }) => event === kind))).toEqual([[kind, ids]]);
  });

  it('is told again when it begins again, and what is new beside it alone', async () => {
    const touched = aReport({ observed: 'touched' });

    const bodies = await messagesAfter(
      aRun(aReport({ withheld: [HELD] })),
      aRun(aReport({ withheld: [HELD, OTHER] })),
      aRun(touched),
      aRun(aReport({ withheld: [OTHER] })),
      aRun(aReport({ withheld: [HELD, OTHER] })),
    );

    expect(told(bodies)).toEqual([
      ['drift', [HELD.id]],
      ['drift', [OTHER.id]],
      ['drift', [HELD.id]],
    ]);
  });

  it('is not told where the run put it back: that is a change', async () => {
    const fixed = aChange('flag/a@production', 'update', OUTSIDE);

    const bodies = await messagesAfter(aRun(appliedReport(aReport({ changes: [fixed] }))));

    expect(bodies.map(({ event }) => event)).toEqual(['changed']);
  });
});

describe('an object that a person has to look at', () => {
  const CONFLICT = aWithheld('flag/pay@production', 'update', 'conflict-held', {
    reason: 'conflict',
  });

  it('is told once when it is held, with its way out, and once when it is live again', async () => {
    const { daemon, bodies, close } = await fixture();

    for (const withheld of [[CONFLICT], [CONFLICT], [], []]) {
      daemon.end(aRun(aReport({ withheld }), { result: withheld.length > 0 ? 'held' : 'in-sync' }));
    }
    await close();

    const says = expect.stringContaining(
      '→ run `flagkeel drift --adopt --only flag/pay`',
    ) as string;
    expect(bodies()).toMatchObject([
      { event: 'held', objects: [{ id: CONFLICT.id, says }] },
      { event: 'live-again', objects: [{ id: CONFLICT.id }] },
    ]);
  });

  it('is told once of a whole source that nobody can confirm, without a run', async () => {
    const { daemon, bodies, close } = await fixture();
    const source = daemon.end(aRun(aReport({ unchanged: ['flag/a@production'] })));
    const doubt = { why: 'service-away', since: '2026-10-03T14:00:00.000Z' } as const;
    const known = source.standings;
    if (known === null) throw new Error('no standings');
    const away = { ...source, standings: standingsUnder(known, doubt) };

    for (const each of [away, away, source, source]) daemon.show(each);
    await close();

    expect(bodies().map(({ event }) => event)).toEqual(['unknown', 'live-again']);
    expect(JSON.stringify(bodies()[0]?.['objects'])).toContain('the service does not answer');
  });
});

it('tells once of each newest commit that no allowed signer signed', async () => {
  const { daemon, bodies, close } = await fixture();
  const source = daemon.end(aRun(aReport()));
  const unsigned = { commit: 'a'.repeat(40), committer: 'Eve', why: 'it has no signature' };
  const next = { ...unsigned, commit: 'b'.repeat(40) };

  for (const each of [unsigned, unsigned, next, null, next]) {
    daemon.show({ ...source, unsigned: each });
  }
  await close();

  const summaries = bodies().map(({ event, summary }) => [event, String(summary).slice(0, 8)]);
  expect(summaries).toEqual([
    ['unsigned', 'aaaaaaa '],
    ['unsigned', 'bbbbbbb '],
    ['unsigned', 'bbbbbbb '],
  ]);
});

describe('a message as plain text', () => {
  it('says what happened in a few lines, or in those of a template', async () => {
    const run = aRun(aReport({ withheld: [HELD] }), { subject: 'Ramp {text} \u001b[2J' });
    const ours = await fixture(OK, 'plain');
    const theirs = await fixture(OK, 'plain', '{event} in {source}: {subject} {commit}');

    for (const { daemon, close } of [ours, theirs]) {
      daemon.end(run);
      await close();
    }

    const [body] = ours.server.seen.map((each) => each.body);
    expect(body?.split('\n')[0]).toMatch(/^shop-flags has 1 object changed outside git at 3f9c2ab/);
    expect(body).toContain('\nflag/legacy@production: changed outside git');
    expect(theirs.server.seen[0]?.body).toMatch(
      /^drift in shop-flags: Ramp \{text\} .*\[2J 3f9c2ab[0-9a-f]+$/,
    );
    expect(theirs.server.seen[0]?.body).not.toContain('\u001b');
  });
});

describe('a message in the format of Teams', () => {
  it('is a card of less than 28 KB in which nothing of a commit is markup', async () => {
    const { daemon, server, close } = await fixture(OK, 'teams');
    const subject = '[link](https://evil.example) <at>all</at> **bold**';

    daemon.end({ ...APPLIED(), subject, text: `${'"\u202E line'.repeat(3)}\n`.repeat(2_000) });
    await close();

    const text = server.seen[0]?.body ?? '';
    const { attachments } = JSON.parse(text) as {
      attachments: { contentType: string; content: { body: { type: string }[] } }[];
    };
    const body = attachments[0]?.content.body ?? [];
    expect(attachments[0]?.contentType).toBe('application/vnd.microsoft.card.adaptive');
    // Text runs are never read as Markdown; text blocks would be.
    expect(new Set(body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']));
    expect(text).toContain('[link](https://evil.example)');
    expect(Buffer.byteLength(text)).toBeLessThan(28 * 1024);
  });
});

describe('a message in the format of Slack', () => {
  it('shows the report as it is, and calls nobody whatever a commit says', async () => {
    const { daemon, bodies, close } = await fixture(OK, 'slack');
    const subject = '<!channel> *bold* ```` <https://evil.example|x> & \u202Egnp';

    daemon.end({ ...APPLIED(), subject, text: `${subject}\n` });
    await close();

    const text = JSON.stringify(bodies());
    expect(text).not.toMatch(/<!|<http|\u202E/);
    expect(text).toContain('at 3f9c2ab &lt;!channel&gt; ∗bold∗');
    expect(text.match(/```/g)).toHaveLength(2);
  });

  it('is within what Slack takes, and cut between lines', async () => {
    const { daemon, bodies, close } = await fixture(OK, 'slack');
    const text = `${'& a line of the report'.padEnd(60, '.')}\n`.repeat(500);

    daemon.end({ ...APPLIED(), text, subject: '&'.repeat(5_000) });
    await close();

    const blocks = bodies()[0]?.['blocks'] as { text: { text: string; verbatim: boolean } }[];
    expect(blocks.map((block) => block.text.text.length <= 3_000)).toEqual([true, true]);
    expect(blocks.every((block) => block.text.verbatim)).toBe(true);
    expect(blocks[1]?.text.text).toMatch(/\.\n…\n```$/);
  });
});

describe('the way of a message', () => {
  it.each(FORMATS)('is a POST, and no secret of its address is logged: %s', async (format) => {
    const { daemon, server, close, logged, results } = await fixture(
      () => ({ status: 404 }),
      format,
    );

    daemon.end(APPLIED());
    await close();

    expect(
      server.seen.map(({ method, url, headers }) => [method, url, headers['content-type']]),
    ).toEqual([
      [
        'POST',
        '/hooks/secret-path?token=secret-token',
        format === 'plain' ? 'text/plain; charset=utf-8' : 'application/json',
      ],
    ]);
    expect(logged()).toContain('it answered 404');
    expect(logged()).not.toMatch(/secret/);
    expect(await results()).toEqual([
      `flagkeel_notifications_total{format="${format}",result="failed"} 1`,
    ]);
  });

  it('is tried again while the other side is down, and not for ever', async () => {
    const { daemon, server, results } = await fixture((_, nth) =>
      nth < 2 ? 'reset' : { status: 503 },
    );

    daemon.end(APPLIED());
    await eventually(() => server.seen.length === 5);
    daemon.end(APPLIED());
    await eventually(() => server.seen.length === 10);

    expect((await results()).join()).toContain('result="failed"');
  });

  it('comes through in the end, in the order of the runs', async () => {
    const { daemon, server, bodies, results } = await fixture((_, nth) => ({
      status: nth === 0 ? 429 : 200,
      headers: { 'retry-after': '2' },
    }));
    const [first, second] = [APPLIED(), APPLIED()];

    daemon.end(first);
    daemon.end(second);
    await eventually(() => server.seen.length === 3);
    await eventually(() => true);

    expect(bodies().map(({ run }) => run)).toEqual([first.id, first.id, second.id]);
    expect((await results()).join()).toContain('result="sent"');
  });

  it('follows no redirect', async () => {
    const { daemon, server, close } = await fixture(() => ({
      status: 307,
      headers: { location: '/elsewhere' },
    }));

    daemon.end(APPLIED());
    await close();

    expect(server.lines()).toEqual(['POST /hooks/secret-path']);
  });

  it('holds nobody up: a receiver that never answers is left behind', async () => {
    const { daemon, close, results } = await fixture(() => 'hang');

    for (let i = 0; i < 60; i += 1) daemon.end(APPLIED());
    await close();

    // One under way, fifty that wait, and the oldest given up for newer ones.
    expect(await results()).toEqual([
      'flagkeel_notifications_total{format="json",result="dropped"} 9',
      'flagkeel_notifications_total{format="json",result="failed"} 51',
    ]);
  });
});
