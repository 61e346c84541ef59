import { expect, it } from 'vitest';
import { aRun, aSource, DaemonInMemory, minutesAgo } from '../../../support/daemon-view.js';
import { startTestOperations, type TestOperations } from '../../../support/operations.js';
import { aReport } from '../../../support/plan-builder.js';

const TOKEN = 'a-token-of-the-pipeline';
const SHOP = 'shop@Production EU';

/** A source whose newest plan has ramps that start with a signal. */
function waiting(name: string, at: string | null = null, ramp = SHOP) {
  const signal = { ramp, steps: '1a2b3c4d', at };
  const standing = { id: `flag/${ramp}` as const, rule: null, treatment: 'on', step: -1 };
  const steps = [{ percent: 10, due: null, dueText: null }];
  const ramps = [{ ...standing, steps, held: 'its signal has not come', signal }];
  return aSource({ name, runs: [aRun(aReport({}, { ramps }))] });
}

async function start({ url }: TestOperations, ramp: string, body?: unknown) {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const request =
    body === undefined
      ? { method: 'POST', headers }
      : {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        };
  const response = await fetch(`${url}/ramps/${encodeURIComponent(ramp)}/start`, request);
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

it('a signal is passed on for the steps that the newest plan has, and may be repeated', async () => {
  const daemon = new DaemonInMemory(waiting('shop-flags'), waiting('bank', null, 'pay@Production'));
  await using operations = await startTestOperations(daemon, { tokens: [`${TOKEN} ci start`] });

  const answers = [await start(operations, SHOP), await start(operations, SHOP, {})];

  const answer = { source: 'shop-flags', ramp: SHOP, startedAt: minutesAgo(0), kept: false };
  expect(answers).toEqual([
    { status: 202, answer },
    { status: 202, answer },
  ]);
  const asked = `start ramp ${SHOP}#1a2b3c4d of shop-flags at ${minutesAgo(0)}`;
  expect(daemon.asked).toEqual([asked, asked]);
  expect(operations.logged()).toContain('"by":"ci"');
  expect(operations.logged()).not.toContain(TOKEN);
});

it('a signal that is in the state is answered with when it came, and asks for nothing', async () => {
  const daemon = new DaemonInMemory(waiting('shop-flags', minutesAgo(90)));
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

  const { status, answer } = await start(operations, SHOP);

  expect([status, answer]).toEqual([
    200,
    { source: 'shop-flags', ramp: SHOP, startedAt: minutesAgo(90), kept: true },
  ]);
  expect(daemon.asked).toEqual([]);
});

it.each([
  ['shop@staging', undefined, 404, `known: ${SHOP}`],
  [SHOP, undefined, 400, 'which source is meant'],
  [SHOP, { source: 'shop-flags' }, 202, ''],
  [SHOP, { source: 'other' }, 404, 'that source'],
  [SHOP, { percent: 50 }, 400, 'no field'],
])('%s with %j is answered by %i', async (ramp, body, wanted, words) => {
  const daemon = new DaemonInMemory(waiting('shop-flags'), waiting('bank-flags'));
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

  const { status, answer } = await start(operations, ramp, body);

  expect(status).toBe(wanted);
  expect(JSON.stringify(answer)).toContain(words);
  expect(daemon.asked).toHaveLength(wanted === 202 ? 1 : 0);
});

it('before a run has seen any ramp nothing is known, and says so', async () => {
  const daemon = new DaemonInMemory(aSource());
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

  const { status, answer } = await start(operations, SHOP);

  expect([status, answer['error']]).toEqual([404, expect.stringContaining('none is known yet')]);
});
