import { afterEach, describe, expect, it } from 'vitest';
import { FORMATS } from '../../../../src/daemon/notify/formats.js';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { startNotifications } from '../../../../src/daemon/notify/notifications.js';
import type { NotifyTarget } from '../../../../src/daemon/notify/formats.js';
import { standingsUnder } from '../../../../src/daemon/standings.js';
import type { RunRecord } from '../../../../src/daemon/view.js';
import type { Reminder } from '../../../../src/model/plan.js';
import { createLog } from '../../../../src/platform/log.js';
import {
  aRampStanding,
  aRun,
  aSource,
  appliedReport,
  DaemonInMemory,
  standingsAfter,
} from '../../../support/daemon-view.js';
import { JumpingTime } from '../../../support/http-time.js';
import { startScripted, type Script } from '../../../support/http.js';
import type { ToldObject } from '../../../../src/daemon/notify/message.js';
import { aChange, aField, aLiveKill, aReport, aWithheld } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const OK: Script = () => ({ status: 200, body: 'ok' });

/** A daemon whose runs are sent to one scripted receiver. */
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
  const url = `${server.url}/hooks/secret-path?token=secret-token`;
  const target = { format, url, ...(template !== undefined && { template }) };
  const options = { log, metrics, time: new JumpingTime() };
  const notifications = startNotifications(daemon, [target], options);
  closing.push(notifications.close);
  const results = async (): Promise<string[]> =>
    [...(await metrics.text(daemon, 0)).matchAll(/^flagkeel_notifications_total.*$/gm)].map(String);
  return { daemon, server, close: notifications.close, logged: () => logged, results };
}

/** The bodies that a receiver of this format gets when a daemon goes through this. */
async function bodiesAfter(
  play: (daemon: DaemonInMemory) => void,
  format: NotifyTarget['format'] = 'json',
  template?: string,
): Promise<string[]> {
  const { daemon, server, close } = await fixture(OK, format, template);
  play(daemon);
  await close();
  return server.seen.map(({ body }) => body);
}

type Told = Record<string, unknown> & { readonly objects: readonly ToldObject[] };

async function messagesAfter(...runs: readonly RunRecord[]): Promise<Told[]> {
  const bodies = await bodiesAfter((daemon) => {
    for (const run of runs) daemon.end(run);
  });
  return bodies.map((body) => JSON.parse(body) as Told);
}

const A = 'flag/a@production';
const PAY = 'flag/pay@production';
const APPLIED = () => aRun(appliedReport(aReport({ changes: [aChange(A, 'update')] })));
const CALM = () => aRun(aReport());
const CUT = () => aRun(aReport(), { result: 'interrupted' });
const UNSENT = (result: 'interrupted' | 'partial') =>
  aRun({ ...aReport({ changes: [aChange(A, 'update')] }), outcomes: new Map() }, { result });
const DOWN = (tries = 4) => {
  const summary = `no answer within 30 s, ${String(tries)} tries`;
  return aRun(null, { result: 'failed', exitCode: 6, summary, commit: null });
};
const INVALID = (line: number) => {
  const text = `flags/a.yaml:${String(line)}:1: error`;
  return aRun(null, { result: 'invalid', exitCode: 3, summary: '1 problem', text });
};
const PARTIAL = (members: object) =>
  aRun({ ...appliedReport(aStory()), ...members }, { result: 'partial' });

const AWAY = { why: 'service-away', since: '2026-10-03T14:00:00.000Z' } as const;
const OUTSIDE = { reason: 'drift' } as const;
const HELD = aWithheld('flag/legacy@production', 'update', 'drift-reported', OUTSIDE);
const NEXT = aWithheld('flag/other@production', 'update', 'drift-reported', OUTSIDE);
const CONFLICT = aWithheld(PAY, 'update', 'conflict-held', { reason: 'conflict' });
const FIXED = aChange(A, 'update', OUTSIDE);
const RAMP = aRampStanding('flag/shop@production', 'a freeze');
const KILLED = aRun(aReport({ liveKills: [aLiveKill(PAY)] }));
const RAMPING = aRun({ ...aReport(), ramps: [RAMP] });
const drifted = (...withheld: ReturnType<typeof aWithheld>[]): RunRecord =>
  aRun(aReport({ withheld }));
const held = (...withheld: ReturnType<typeof aWithheld>[]): RunRecord =>
  aRun(aReport({ withheld }), { result: withheld.length > 0 ? 'held' : 'in-sync' });
const bothPlaces = (why: 'conflict-held' | 'drift-reported'): RunRecord =>
  drifted(
    ...['staging', 'production'].map((place) =>
      aWithheld(`flag/a@${place}`, 'update', why, OUTSIDE),
    ),
  );
const IN_ORDER = 'flag/a@production flag/a@staging';
const SUSPENDED = aRun(aReport({ changes: [aChange('flag/a', 'update')] }), {
  result: 'suspended',
});
const remindedAt = (startedAt: string, isDue = true): RunRecord => {
  const due: Reminder = { id: PAY, what: 'review', due: '2026-10-01' };
  return aRun(aReport({}, isDue ? { reminders: [due] } : {}), { startedAt });
};

describe('what is told of these runs, in their order', () => {
  it.each<[string, readonly RunRecord[], readonly string[]]>([
    ['nothing to do, only planned, interrupted', [CALM(), SUSPENDED, CUT()], []],
    ['a change, and what it left as it was', [aRun(appliedReport(aStory()))], ['changed', 'drift']],
    [
      'the same failure, whatever numbers differ, and its end',
      [DOWN(4), DOWN(5), DOWN(6), CUT(), DOWN(7), CALM(), CALM()],
      ['failed', 'recovered'],
    ],
    [
      'other failures, and one that comes again later',
      [DOWN(), INVALID(3), INVALID(3), INVALID(4), APPLIED(), DOWN()],
      ['failed', 'failed', 'failed', 'recovered', 'failed'],
    ],
    [
      'the same failure of runs that wrote something',
      [PARTIAL({}), PARTIAL({ outcomes: new Map() }), PARTIAL({ outcomes: new Map() })],
      ['failed', 'drift', 'not-done', 'failed'],
    ],
    ['what an interrupt left to the run after it', [UNSENT('interrupted'), APPLIED()], ['changed']],
    [
      'what failed, while an interrupt leaves it as it was',
      [UNSENT('interrupted'), UNSENT('partial'), UNSENT('interrupted'), APPLIED()],
      ['not-done', 'failed', 'live-again', 'recovered'],
    ],
    ['drift', [drifted(HELD), drifted(HELD), aRun(null), drifted(HELD)], [`drift ${HELD.id}`]],
    ['a live kill', [KILLED, KILLED, aRun(null), KILLED], [`live-kill ${PAY}`]],
    [
      'a second kill by hand, after a run over touched objects saw that the first one had ended',
      [KILLED, aRun(aReport({ observed: 'touched' })), KILLED],
      [`live-kill ${PAY}`, `live-kill ${PAY}`],
    ],
    [
      'a live kill once, also over a commit with an invalid file',
      [KILLED, aRun(aReport({}, { held: ['flag/pay'] })), KILLED],
      [`live-kill ${PAY}`, `unknown ${PAY} flag/pay`, 'live-again flag/pay'],
    ],
    ['a held ramp', [RAMPING, RAMPING, aRun(null), RAMPING], [`held-ramp ${RAMP.id}`]],
    ['drift, the protected first', [bothPlaces('drift-reported')], [`drift ${IN_ORDER}`]],
    ['held, the protected first', [bothPlaces('conflict-held')], [`held ${IN_ORDER}`]],
    [
      'drift that begins again, and what is new beside it alone',
      [
        ...[drifted(HELD), drifted(HELD, NEXT)],
        ...[aRun(aReport({ observed: 'touched', withheld: [NEXT] })), drifted(HELD, NEXT)],
      ],
      [`drift ${HELD.id}`, `drift ${NEXT.id}`, `drift ${HELD.id}`],
    ],
    ['drift that was put back', [aRun(appliedReport(aReport({ changes: [FIXED] })))], ['changed']],
    [
      'what a person has to look at, until it is live again',
      [held(CONFLICT), held(CONFLICT), held(), held()],
      [`held ${PAY}`, `live-again ${PAY}`],
    ],
    [
      'a refusal that a suspension leaves as it is, until it ends',
      [aRun(null, { result: 'refused' }), SUSPENDED, aRun(null, { result: 'refused' }), CALM()],
      ['failed', 'recovered'],
    ],
    [
      'reminders, once a day',
      [
        ...[remindedAt('2026-10-03T09:00:00.000Z'), remindedAt('2026-10-03T23:00:00.000Z')],
        aRun(null, { startedAt: '2026-10-04T00:00:00.000Z', result: 'interrupted' }),
        ...[remindedAt('2026-10-04T01:00:00.000Z'), remindedAt('2026-10-05T01:00:00.000Z', false)],
      ],
      [`reminder ${PAY}`, `reminder ${PAY}`],
    ],
  ])('%s', async (_, runs, expected) => {
    const told = (await messagesAfter(...runs)).map(({ event, objects }) =>
      [event, ...objects.map(({ id }) => id)].join(' '),
    );

    // Rows that name no objects are about the runs.
    const isBrief = expected.every((each) => !each.includes(' '));
    expect(isBrief ? told.map((each) => each.split(' ')[0]) : told).toEqual(expected);
  });

  it.each([
    ['in sync', aReport({ unchanged: [PAY] })],
    ['not in git any more', aReport()],
  ])('an object that a person had to look at, and that is %s now', async (says, report) => {
    const told = await messagesAfter(held(CONFLICT), aRun(report));

    expect(told.at(-1)).toMatchObject({ event: 'live-again', objects: [{ id: PAY, says }] });
  });

  it('the run with its report, and objects with what became of them and the command that ends it', async () => {
    const run = aRun(appliedReport(aStory()));
    const says = async (each: RunRecord): Promise<unknown> =>
      (await messagesAfter(each))[0]?.objects[0]?.says;

    expect((await messagesAfter(run))[0]).toMatchObject({
      ...{ formatVersion: 1, event: 'changed', source: 'shop-flags', run: run.id, text: run.text },
    });
    expect(await says(drifted(HELD))).toContain('`flagkeel drift --adopt --only flag/legacy`');
    expect(await says(KILLED)).toContain('`flagkeel restore pay --environment production`');
    expect(await says(held(CONFLICT))).toContain('→ run `flagkeel drift --adopt --only flag/pay`');
    expect(await says(remindedAt('2026-10-03T09:00:00.000Z'))).toContain(
      'was to be reviewed by 2026-10-01',
    );
  });

  it('nothing about the failures of another source', async () => {
    const bodies = await bodiesAfter((daemon) => {
      daemon.show(aSource({ name: 'bank-flags' }));
      daemon.end(DOWN(), 'shop-flags');
      daemon.end(DOWN(), 'bank-flags');
      daemon.end(CALM(), 'bank-flags');
    });

    const told = bodies.map((body) => JSON.parse(body) as Told);
    expect(told.map(({ event, source }) => `${String(event)} ${String(source)}`)).toEqual([
      ...['failed shop-flags', 'failed bank-flags', 'recovered bank-flags'],
    ]);
  });

  it('no more objects than a receiver takes, and how many are left out', async () => {
    const many = Array.from({ length: 700 }, (_, index) =>
      aWithheld(`flag/f${String(index)}@production`, 'update', 'conflict-held', {
        reason: 'conflict',
      }),
    );
    const [told] = await messagesAfter(held(...many));

    expect(told).toMatchObject({ event: 'held', moreObjects: 200 });
    expect(told?.objects).toHaveLength(500);
  });

  it('without a run: a source that nobody can confirm, once, and each newest commit without a signature', async () => {
    const since = '2026-10-03T14:00:00.000Z';
    const eve = { committer: 'Eve', why: 'it has no signature' };
    const [first, second] = ['a', 'b'].map((sign) => ({ ...eve, commit: sign.repeat(40) }));
    const bodies = await bodiesAfter((daemon) => {
      const source = daemon.end(aRun(aReport({ unchanged: [A] })));
      if (source.standings === null) throw new Error('no standings');
      const standings = standingsUnder(source.standings, { why: 'service-away', since });
      const away = { ...source, standings };
      for (const each of [away, away, source, source]) daemon.show(each);
      for (const unsigned of [first, first, second, null, second])
        daemon.show({ ...source, unsigned: unsigned ?? null });
    });

    const told = bodies.map((body) => JSON.parse(body) as Told);
    expect(told.map(({ event, summary }) => [event, String(summary).slice(0, 8)])).toEqual([
      ['unknown', 'unknown '],
      ['live-again', 'In sync:'],
      ['unsigned', 'aaaaaaa '],
      ['unsigned', 'bbbbbbb '],
      ['unsigned', 'bbbbbbb '],
    ]);
    expect(JSON.stringify(told[0]?.objects)).toContain('the service does not answer');
  });
});

describe('a message about what was not known', () => {
  it('does not call live what an older commit had, while the newest run has no plan', async () => {
    const since = '2026-10-03T14:00:00.000Z';
    const bodies = await bodiesAfter((daemon) => {
      daemon.end(aRun(aReport({ unchanged: [A] })));
      const source = daemon.end(DOWN());
      if (source.standings === null) throw new Error('no standings');
      const standings = standingsUnder(source.standings, { why: 'service-away', since });
      daemon.show({ ...source, standings });
      daemon.show(source);
      daemon.end(held(CONFLICT));
    });

    const told = bodies.map((body) => JSON.parse(body) as Told);
    expect(told.map(({ event }) => event)).toEqual([
      ...['failed', 'unknown', 'held', 'live-again', 'recovered'],
    ]);
  });
});

describe('messages of a replica that takes a source over', () => {
  const told = async (play: (daemon: DaemonInMemory, other: (run: RunRecord) => void) => void) => {
    const bodies = await bodiesAfter((daemon) => {
      play(daemon, (run) => {
        const [source = aSource()] = daemon.sources();
        const standings = standingsAfter([run]);
        daemon.show({ ...source, leader: false, runs: [run], standings });
      });
    });
    return bodies.map((body) => {
      const { event, objects } = JSON.parse(body) as Told;
      return [event, ...objects.map(({ id }) => id)].join(' ');
    });
  };
  const lead = (daemon: DaemonInMemory, run: RunRecord): void => {
    const [source = aSource()] = daemon.sources();
    daemon.show({ ...source, leader: true });
    daemon.end(run);
  };

  it('say the end of what the one before has reported', async () => {
    const messages = await told((daemon, other) => {
      other(DOWN());
      other(held(CONFLICT));
      other(aRun(null, { result: 'partial' }));
      // It did not try again what failed.
      other(aRun(null, { result: 'suspended' }));
      lead(daemon, held());
    });

    expect(messages).toEqual([`live-again ${PAY}`, 'recovered']);
  });

  it('say again what lasts, and say nothing again that has ended under the one before', async () => {
    const messages = await told((daemon, other) => {
      daemon.end(held(CONFLICT));
      const source = daemon.end(DOWN());
      const known = standingsAfter([CALM()]);
      daemon.show({ ...source, standings: known && standingsUnder(known, AWAY) });
      other(held());
      lead(daemon, held());
      other(KILLED);
      lead(daemon, KILLED);
      other(held(CONFLICT));
      lead(daemon, held(CONFLICT));
    });

    const before = [`held ${PAY}`, 'failed', 'unknown'];
    expect(messages).toEqual([...before, `live-kill ${PAY}`, `held ${PAY}`]);
  });
});

describe('a message in another format', () => {
  it.each(['plain', 'slack', 'teams'] as const)(
    'says by the first line of its report what changed: %s',
    async (format) => {
      const fields = [aField('/trafficAllocation', 50, 100)];
      const report = aReport({ changes: [aChange(A, 'update', { fields })] });
      const run = aRun(appliedReport(report));

      const [body] = await bodiesAfter((daemon) => daemon.end(run), format);

      const [headline = ''] = run.text.split('\n');
      expect(headline).toContain('a in production updated');
      expect(body).toContain(`shop-flags changed: ${headline} at 3f9c2ab Ramp checkout to 25 %`);
    },
  );

  it('has of a report of thousands of changes as much as receivers take, as JSON', async () => {
    const text = `${'a line of the report 😀'.padEnd(80, '.')}\n`.repeat(50_000);

    const [body = ''] = await bodiesAfter((daemon) => daemon.end({ ...APPLIED(), text }), 'json');

    const { text: sent } = JSON.parse(body) as { text: string };
    expect(Buffer.byteLength(body)).toBeLessThan(250_000);
    expect(sent.slice(0, -1)).toBe(text.slice(0, sent.length - 1));
    expect(sent).toMatch(/…$/);
  });

  it('says what happened in a few lines, or in those of a template', async () => {
    const run = aRun(aReport({ withheld: [HELD] }), { subject: 'Ramp {text} \u001b[2J' });
    const play = (daemon: DaemonInMemory): unknown => daemon.end(run);

    const [ours] = await bodiesAfter(play, 'plain');
    const [theirs] = await bodiesAfter(play, 'plain', '{event} in {source}: {subject} {commit}');

    expect(ours).toMatch(/^shop-flags has 1 object changed outside git at 3f9c2ab/);
    expect(ours).toContain('\nflag/legacy@production: changed outside git');
    expect(theirs).toMatch(/^drift in shop-flags: Ramp \{text\} .*\[2J 3f9c2ab[0-9a-f]+$/);
    expect(theirs).not.toContain('\u001b');
  });

  it('is a card of less than 28 KB in which nothing of a commit is markup, for Teams', async () => {
    const subject = '[link](https://evil.example) <at>all</at> **bold**';
    const text = `${'"\u202E line'.repeat(3)}\n`.repeat(2_000);

    const [card = ''] = await bodiesAfter(
      (daemon) => daemon.end({ ...APPLIED(), subject, text }),
      'teams',
    );

    const { attachments } = JSON.parse(card) as {
      attachments: { contentType: string; content: { body: { type: string }[] } }[];
    };
    const body = attachments[0]?.content.body ?? [];
    expect(attachments[0]?.contentType).toBe('application/vnd.microsoft.card.adaptive');
    // Text runs are never read as Markdown; text blocks would be.
    expect(new Set(body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']));
    expect(card).toContain('[link](https://evil.example)');
    expect(Buffer.byteLength(card)).toBeLessThan(28 * 1024);
  });

  it('calls nobody whatever a commit says, for Slack', async () => {
    const subject = '<!channel> *bold* ```` <https://evil.example|x> & \u202Egnp';

    const [text = ''] = await bodiesAfter(
      (daemon) => daemon.end({ ...APPLIED(), subject, text: `${subject}\n` }),
      'slack',
    );

    expect(text).not.toMatch(/<!|<http|\u202E/);
    expect(text).toContain('at 3f9c2ab &lt;!channel&gt; ∗bold∗');
    expect(text.match(/```/g)).toHaveLength(2);
  });

  it('is within what Slack takes, and cut between lines', async () => {
    const text = `${'& a line of the report'.padEnd(60, '.')}\n`.repeat(500);

    const [body = ''] = await bodiesAfter(
      (daemon) => daemon.end({ ...APPLIED(), text, subject: '&'.repeat(5_000) }),
      'slack',
    );

    const { blocks } = JSON.parse(body) as {
      blocks: { text: { text: string; verbatim: boolean } }[];
    };
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
    await expect.poll(() => server.seen.length, { timeout: 10_000 }).toBe(5);
    daemon.end(APPLIED());
    await expect.poll(() => server.seen.length, { timeout: 10_000 }).toBe(10);

    expect((await results()).join()).toContain('result="failed"');
  });

  it('comes through in the end, in the order of the runs', async () => {
    const { daemon, server, results } = await fixture((_, nth) => ({
      status: nth === 0 ? 429 : 200,
      headers: { 'retry-after': '2' },
    }));
    const [first, second] = [APPLIED(), APPLIED()];

    daemon.end(first);
    daemon.end(second);
    await expect.poll(() => server.seen.length, { timeout: 10_000 }).toBe(3);

    const ids = server.seen.map(({ body }) => (JSON.parse(body) as { run: string }).run);
    expect(ids).toEqual([first.id, first.id, second.id]);
    expect((await results()).join()).toContain('result="sent"');
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
