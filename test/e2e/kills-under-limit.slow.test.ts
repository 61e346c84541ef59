import { beforeEach, describe, expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const FLAGS = 60;
const KILLS = 3;
const ADMITTED = 20;
const WINDOW_MS = 10_000;
/** What a machine under load needs more than the second that `npm run bench -- kill` measures. */
const BOUND_MS = 3_000;

const name = (index: number): string => `flag-${String(index)}`;

describe('a service that admits 20 requests in any 10 s', () => {
  const scenario = useScenario({ strict: true });

  beforeEach(async () => {
    const flags = Array.from({ length: FLAGS }, (_, index): [string, string] => [
      `flags/${name(index)}.yaml`,
      flagText(name(index), 10),
    ]);
    const others = { 'flagkeel.yaml': PROTECTED_CONFIG, 'kills/production.yaml': 'kills: {}\n' };
    scenario.commit({ ...Object.fromEntries(flags), ...others }, 'Add flags');
    expect(await scenario.reconcile('--adopt')).toMatchObject({ code: 0 });
  });

  /** From now on. */
  function limit(): void {
    let admitted: number[] = [];
    scenario.service.failAtRandom(() => {
      const now = performance.now();
      admitted = admitted.filter((at) => at > now - WINDOW_MS);
      if (admitted.length >= ADMITTED) return 429;
      admitted.push(now);
      return undefined;
    });
  }

  function isPatched(flag: string): boolean {
    return scenario.service.requests.some(
      ({ method, path, status }) =>
        method === 'PATCH' && path.includes(`/${flag}/`) && status === 200,
    );
  }

  it(
    'a kill goes out while a full look uses up the pace of the service',
    { timeout: 120_000 },
    async () => {
      limit();
      scenario.service.requests.length = 0;
      const daemon = scenario.watch(['--interval', '200ms']);
      const asked = (): number =>
        scenario.service.requests.filter(({ status }) => status === 200).length;
      // The look is in its second window by then, and far from its end.
      await daemon.until(() => asked() > 1.5 * ADMITTED, 'the look');

      const tookMs: number[] = [];
      let entries = '';
      for (let index = 0; index < KILLS; index += 1) {
        entries += `  ${name(index)}: { reason: INC-1 }\n`;
        scenario.commit({ 'kills/production.yaml': `kills:\n${entries}` }, `Kill ${name(index)}`);
        const startedAt = performance.now();
        await daemon.until(() => isPatched(name(index)), 'the kill');
        tookMs.push(performance.now() - startedAt);
      }

      expect(Math.max(...tookMs)).toBeLessThanOrEqual(BOUND_MS);
      expect(daemon.runs.every(({ result }) => result === 'interrupted')).toBe(true);
    },
  );
});
