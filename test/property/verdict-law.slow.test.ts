import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { LocalUpstream } from '../../src/daemon/upstream/local.js';
import { SERVICE_KINDS, startStoryService } from '../support/stories/service.js';
import { BEGIN_MS, MovedTime } from '../support/verdict-law/clock.js';
import { historyOf, type History } from '../support/verdict-law/events.js';
import { play, textOf, type Told, type World } from '../support/verdict-law/play.js';
import { lawSettings } from './law-settings.js';

/** Histories over each service, with seeds of their own. */
const { numRuns, seed } = lawSettings('the verdict', 102);
vi.setConfig({ testTimeout: 120_000 + numRuns * 10_000 });

/** A history is shrunk step by step, and has no more than these. */
const MOST_STEPS = 3;
const ENVIRONMENTS = [
  { name: 'staging' },
  { name: 'production', production: true },
  { name: 'eu', approvalsRequired: true },
];

// The time of day alone: what waits for a socket or for git waits for it.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  // The daemon looks when the test or its clock tells it to.
  vi.spyOn(LocalUpstream.prototype, 'follow').mockReturnValue(async () => {
    await Promise.resolve();
  });
});
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each(SERVICE_KINDS)('every surface says of everything what is so: %s', async (kind) => {
  vi.setSystemTime(BEGIN_MS);
  const most = numRuns + MOST_STEPS;
  const service = await startStoryService(kind, most, ENVIRONMENTS);
  // A single history is one that a longer run has printed, over whichever service.
  const from = numRuns === 1 ? seed : seed + SERVICE_KINDS.indexOf(kind) * numRuns;
  let broken: Told | undefined;
  const startedAt = performance.now();
  let [histories, looks] = [0, 0];
  for (; histories < numRuns && !broken; histories += 1) {
    const world = { service, time: new MovedTime() };
    vi.setSystemTime(BEGIN_MS);
    const told = await play(historyOf(from + histories), world);
    looks += told.looks;
    if (told.breaches.length > 0) broken = await shortest(told, world);
  }
  await service.stop();

  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`${kind}: ${histories} histories, ${looks} looks, ${seconds} s\n`);
  expect(broken ? textOf(broken) : '').toBe('');
});

/** The history without the steps that it can do without. */
async function shortest(told: Told, world: World): Promise<Told> {
  let best: { history: History; told: Told } = { history: told.history, told };
  for (let at = told.history.steps.length - 1; at >= 0; at -= 1) {
    const steps = best.history.steps.filter((_, index) => index !== at);
    const history = { ...best.history, steps };
    vi.setSystemTime(BEGIN_MS);
    const retold = await play(history, { ...world, time: new MovedTime() });
    if (retold.breaches.length > 0) best = { history, told: retold };
  }
  return best.told;
}
