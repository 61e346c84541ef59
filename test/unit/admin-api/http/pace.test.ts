import { describe, expect, it } from 'vitest';
import { errorReply, type Reply } from '../../../support/http.js';
import { closeAfterEach, httpFixture } from '../../../support/http-fixture.js';
import { SimulatedTime } from '../../../support/simulated-time.js';

const ADMITTED = 20;
const WINDOW_MS = 10_000;
closeAfterEach();

/** How a service may tell of its window; what it admits is the same each time. */
type Telling = (window: {
  readonly left: number;
  readonly waitMs: number;
  readonly now: number;
}) => Readonly<Record<string, string>>;

const seconds = (ms: number): string => String(Math.ceil(ms / 1_000));

const TELLINGS: readonly (readonly [string, Telling])[] = [
  ['says nothing', () => ({})],
  ['says so in seconds', ({ waitMs }) => ({ 'retry-after': seconds(waitMs) })],
  [
    'says so as a date',
    ({ waitMs, now }) => ({
      date: new Date(now).toUTCString(),
      'retry-after': new Date(Math.ceil((now + waitMs) / 1_000) * 1_000).toUTCString(),
    }),
  ],
  [
    'says with each answer how many are left',
    ({ left, waitMs }) => ({
      'x-ratelimit-remaining-org': String(left),
      'x-ratelimit-reset-seconds-org': seconds(waitMs),
    }),
  ],
];

/** A service that admits 20 requests in any 10 s. @returns how long a client with so many reads took, in milliseconds. */
async function timeOf(requests: number, telling: Telling): Promise<number> {
  const time = new SimulatedTime();
  const admitted: number[] = [];
  const answer = (): Reply => {
    const now = time.now();
    const recent = admitted.filter((at) => at > now - WINDOW_MS);
    const isAdmitted = recent.length < ADMITTED;
    if (isAdmitted) admitted.push(now);
    const left = Math.max(0, ADMITTED - recent.length - 1);
    const headers = telling({ left, waitMs: (recent[0] ?? now) + WINDOW_MS - now, now });
    return isAdmitted ? { status: 200, body: {}, headers } : errorReply(429, 'later', headers);
  };
  const { server, client } = await httpFixture(answer, { time });
  const startedAt = time.now();
  const reads = Array.from({ length: requests }, async (_, i) =>
    client.get({ route: 'workspaces', what: `read ${String(i)}` }),
  );
  const activity = (): number => client.counts().GET + server.seen.length;
  await time.runUntil(Promise.all(reads), activity);
  return time.now() - startedAt;
}

/** The rate that the service admits, evenly: requests at the start of each window would leave no room for a kill. */
function floorMs(requests: number): number {
  return (requests / ADMITTED) * WINDOW_MS;
}

describe('a service that admits 20 requests in 10 s', { timeout: 60_000 }, () => {
  it.each(TELLINGS)(
    'answers 300 without an error at the rate that it admits, when it %s',
    async (_, telling) => {
      expect(await timeOf(300, telling)).toBeLessThanOrEqual(floorMs(300) * 1.06);
    },
  );

  it('answers also those that were turned away early in a run that lasts longer than one is tried for', async () => {
    expect(await timeOf(1_000, () => ({}))).toBeLessThanOrEqual(floorMs(1_000) * 1.06);
  });
});
