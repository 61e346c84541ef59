import { expect, it } from 'vitest';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../support/pipeline-world.js';

const START = Date.parse('2026-01-05T09:00:00Z');
const HOUR_MS = 3_600_000;
const ON = /"on","size":(\d+)/;

/** Runs at these hours after the start, by a clock that may be set between them; what each wrote. */
async function sharesWritten(hours: readonly number[]): Promise<string[]> {
  const world = await pipelineWorld();
  const ramp = 'ramp: { start: 2026-01-05T09:00:00Z, steps: "10, 1d, 25, 1d, 50, 1d, 100" }';
  world.repository.commit('Ramp the shop', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': flagSpec('shop', { on: 0, production: ramp }),
  });
  const written: string[] = [];
  for (const hour of hours) {
    const now = START + hour * HOUR_MS;
    const { plan } = await world.applied({ at: now }, { now: () => now });
    const fields = plan.changes
      .filter(({ id }) => id === 'flag/shop@production')
      .flatMap(({ fields: each }) => each);
    const after = fields.find(({ path }) => path === '/defaultRule')?.after;
    written.push(`${String(hour)} h: ${ON.exec(JSON.stringify(after ?? null))?.[1] ?? '-'}`);
  }
  return written;
}

it.each([
  // The step of 24 h was taken; the clock is set back to where it was not due, and goes on.
  ['back by an hour', [0, 24, 23, 23.5, 24, 24.5, 48], [10, 25, null, null, null, null, 50]],
  // Two steps are due at once, and the later is taken; the clock is set right, and lowers nothing.
  ['forth by a day and back', [0, 25, 49, 25, 26, 48, 72], [10, 25, 50, null, null, null, 100]],
  ['forth by a day over two steps', [1, 49, 50, 72], [10, 50, null, 100]],
])('a clock that is set %s writes each step once and lowers nothing', async (_, hours, shares) => {
  const expected = hours.map((hour, at) => `${String(hour)} h: ${String(shares[at] ?? '-')}`);
  expect(await sharesWritten(hours)).toEqual(expected);
});
