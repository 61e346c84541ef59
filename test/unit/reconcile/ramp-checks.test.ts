import { describe, expect, it, onTestFinished } from 'vitest';
import { operatorSettings } from '../../../src/compose/settings.js';
import type { RampCheck } from '../../../src/model/desired.js';
import { askCheck, checkFault } from '../../../src/reconcile/checks.js';
import { standingsOf } from '../../../src/timing/standings.js';
import { offlinePlan } from '../../../src/review/plan.js';
import { planDocument } from '../../../src/report/json/plan.js';
import { inOrder, startScripted, type Reply, type Script } from '../../support/http.js';
import { flagSpec } from '../../support/pipeline-world.js';
import { checkedStory, laddersIn } from '../../support/ramp-story.js';

const allowing = (...allowedOrigins: string[]) => ({
  allowedOrigins,
  signal: new AbortController().signal,
});
const GUARDED = 'ramp: { steps: "10, 6h, 25, 12h, 50", check: slo }';

async function answering(script: Script) {
  const server = await startScripted(script);
  onTestFinished(server.close);
  return server;
}

/** A ramp whose check is answered so, one request after the other. */
const guardedStory = async (...replies: Reply[]) => checkedStory(GUARDED, inOrder(...replies));

const left = (value: unknown): Reply => ({ status: 200, body: { left: value } });

describe('a ramp with a check', () => {
  it('takes each step once its check passes, and asks no more often than that', async () => {
    const { world, after, server } = await guardedStory(left(0.5), left(0.1), left(0.1), left(0.2));
    const shares = [];
    const asked = [];
    for (const hours of [0, 1, 6, 7, 8, 9]) {
      await world.applied({}, after(hours));
      shares.push(await world.live.share('shop'));
      asked.push(server.seen.length);
    }

    expect(shares).toEqual([10, 10, 10, 10, 25, 25]);
    expect(asked).toEqual([1, 1, 2, 3, 4, 4]);
  });

  it('that fails is told everywhere, and asked again soon', async () => {
    const { world, after } = await guardedStory(left(0.1));

    const done = await world.applied({}, after(7));

    const [standing] = standingsOf(done.input.moment, done.plan);
    expect(laddersIn(world.reportOf(done))).toMatch(
      / It waits: check "slo" failed: 0\.1 is less than 0\.2\.$/,
    );
    expect(standing?.checks).toEqual([
      { name: 'slo', result: 'failed', why: '0.1 is less than 0.2', isMeasured: true },
    ]);
    expect(done.input.moment.nextDueMs).toBe(after(7).now() + 300_000);
  });

  it('reaches no network that the operator did not allow, this machine included, and holds its step', async () => {
    const origins = 'https://slo.example.com';
    const { server, world, after } = await checkedStory(GUARDED, inOrder(left(0.5)), { origins });
    world.repository.commit('Another flag', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });

    const done = await world.applied({}, after(7));

    expect(server.seen).toEqual([]);
    expect(await world.live.share('shop')).toBe(0);
    expect(standingsOf(done.input.moment, done.plan)[0]?.held).toBe(
      `check "slo" failed: it was not asked: the operator did not allow it (set FLAGKEEL_ORIGINS=https://slo.example.com,${server.url})`,
    );
    expect(done.plan.changes.map(({ id }) => id)).toContain('flag/pay@production');
    expect(done.converged).toBe(true);
  });

  it('is not asked by a run that writes nothing, which says so and shows the step', async () => {
    const { world, after, server } = await guardedStory(left(0.1));

    const report = await world.reported({ at: after(7).now() });

    expect(server.seen).toEqual([]);
    expect(planDocument(report).ramps?.[0]).toMatchObject({
      held: null,
      checks: [{ name: 'slo', result: 'not-asked', why: null }],
    });
    expect(laddersIn(report)).toMatch(
      / Not asked here, and asked before it is written: check "slo"\.$/,
    );
    expect(report.plan.changes.map(({ reason }) => reason)).toEqual(['ramp']);
  });

  it('is not asked by a review that is made offline, also where the operator allowed it', async () => {
    const { world, server } = await guardedStory(left(0.1));
    world.repository.commit('Another flag', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });

    const report = await offlinePlan(world.repository.directory, {
      flags: { environment: [], only: [] },
      since: 'HEAD^',
      settings: operatorSettings({ FLAGKEEL_ORIGINS: server.url }),
      signal: new AbortController().signal,
      note: () => undefined,
    });

    expect(server.seen).toEqual([]);
    expect(report.plan.changes.map(({ id }) => id)).toEqual([
      'flag/pay',
      'flag/pay@staging',
      'flag/pay@production',
    ]);
  });

  it('goes on from its step where only the check is changed, and asks the new one', async () => {
    const { world, after, server } = await guardedStory(left(0.5), left(0.5), left(0));
    await world.applied({}, after(0));
    await world.applied({}, after(7));
    expect(await world.live.share('shop')).toBe(25);
    world.repository.commit('Ask no more', {
      'flags/shop.yaml': flagSpec('shop', {
        on: 0,
        production: GUARDED.replace(', check: slo', ''),
      }),
    });

    await world.applied({}, after(18));

    expect(await world.live.share('shop')).toBe(50);
    expect(server.seen).toHaveLength(2);
  });
});

const SLO: RampCheck = { name: 'slo', url: '', timeoutMs: 1_000 };

describe('a check', () => {
  it.each<[string, Reply, string | null]>([
    ['any answer of 2xx', { status: 204 }, null],
    ['a fault of the server', { status: 503 }, 'it answered 503'],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 'it answered 302'],
    ['nothing', 'reset', 'no answer: the connection broke (UND_ERR_SOCKET)'],
    ['silence', 'hang', 'no answer within 1 s'],
    ['a byte now and then', 'drip', 'no answer within 1 s'],
    [
      'far too much',
      { status: 200, body: 'x'.repeat(70_000) },
      'no answer: the answer is too large (more than 64 KiB)',
    ],
  ])('that is answered by %s', async (_, answer, why) => {
    const server = await answering(() => answer);

    const check = { ...SLO, url: `${server.url}/health?deep=1` };
    expect((await askCheck(check, allowing(server.url)))?.why ?? null).toBe(why);
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /health?deep=1',
    ]);
  });

  it('of which nobody listens fails', async () => {
    const server = await startScripted(() => 'hang');
    await server.close();

    expect(await askCheck({ ...SLO, url: server.url }, allowing(server.url))).toEqual({
      why: 'no answer: no connection (ECONNREFUSED)',
    });
  });

  const vector = (...values: string[]) => ({
    data: { resultType: 'vector', result: values.map((value) => ({ value: [1, value] })) },
  });
  const atMost = { value: 'prometheus', atMost: 0.01 } as const;
  const pointed = { value: { pointer: '/a~1b/0' } } as const;

  it.each<[Partial<RampCheck>, unknown, string | null]>([
    [atMost, vector('0.01'), null],
    [atMost, vector('0.031'), '0.031 is more than 0.01'],
    [atMost, vector('NaN'), 'its value is no number'],
    [atMost, vector(), 'the query has 0 results, and one is expected'],
    [atMost, vector('0', '0'), 'the query has 2 results, and one is expected'],
    [atMost, { data: { resultType: 'scalar', result: [1, '0'] } }, null],
    [atMost, { status: 'error' }, 'its answer is not that of a Prometheus'],
    [{ ...pointed, equals: 'ok' }, { 'a/b': ['ok'] }, null],
    [{ ...pointed, equals: 'ok' }, { 'a/b': ['no'] }, 'its value is not "ok"'],
    [{ ...pointed, equals: true }, { 'a/b': ['true'] }, 'its value is not true'],
    [{ ...pointed, equals: 3 }, { 'a/b': [4] }, '4 is not 3'],
    [{ ...pointed, atLeast: 1 }, { 'a/b': ['2'] }, 'its value is no number'],
    [{ ...pointed, atLeast: 1 }, { 'a/b': [] }, 'its answer has no /a~1b/0'],
    [{ value: { pointer: '/constructor' }, equals: 1 }, {}, 'its answer has no /constructor'],
  ])('%j of %j', (check, answer, why) => {
    const text = JSON.stringify(answer);

    const fault = checkFault({ ...SLO, ...check }, { status: 200, headers: {}, text });
    expect(fault?.why ?? null).toBe(why);
    // No value at all is no wrong value.
    const isMeasured = /is (more|less) than|is not (?!that)/.test(why ?? '');
    expect(fault?.isMeasured ?? false).toBe(isMeasured);
  });

  it('shows no text of an answer, because it may be a secret', () => {
    const secret = 'aws_secret_access_key=wJalrXUtnFEMI';
    const texts = [
      ...[secret, [secret], { [secret]: secret }, true].map((value) => ({ 'a/b': [value] })),
      vector(secret),
      { data: { resultType: secret, result: secret } },
    ].map((answer) => JSON.stringify(answer));
    const whys = [...texts, secret, `{ "${secret}"`].flatMap((text) =>
      [{ ...pointed, equals: 'ok' }, { ...pointed, atLeast: 1 }, atMost].map(
        (check) => checkFault({ ...SLO, ...check }, { status: 200, headers: {}, text })?.why,
      ),
    );

    expect(new Set(whys)).toEqual(
      new Set([
        'its value is not "ok"',
        'its value is no number',
        'its answer has no /a~1b/0',
        'its answer is not that of a Prometheus',
        'its answer is no JSON',
      ]),
    );
  });
});
