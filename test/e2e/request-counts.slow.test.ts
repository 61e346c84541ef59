import { beforeEach, describe, expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';

const ENVIRONMENTS = ['staging', 'production'];
/** As large as the service lets a page be. */
const [FLAGS_PER_PAGE, KEYS_PER_PAGE] = [50, 100];

const CONFIG = `workspace: Default
environments: { staging: {}, production: { protected: false } }
defaults: { trafficType: user }
guards: { maxKeyRemovals: 10000, maxKeyRemovalPercent: 100 }
`;

function flag(index: number): string {
  return `flag: flag-${index}
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { staging: { defaultRule: { off: 100 } }, production: { defaultRule: { off: 100 } } }
`;
}

/** How many requests a run makes is what a service that limits them makes slow: each is counted. */
describe('the requests of a run', () => {
  const scenario = useScenario();

  beforeEach(() => {
    scenario.repository.write({ 'flagkeel.yaml': CONFIG });
  });

  /** Applies what is written, and says what it asked for: `GET /path`, without the query. */
  async function requestsOf(): Promise<string[]> {
    scenario.service.requests.length = 0;
    expect(await scenario.reconcile('--quiet')).toMatchObject({ code: 0, stderr: '' });
    return scenario.service.requests.map(
      ({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`,
    );
  }

  /** Requests of a run that finds so many flags in sync. */
  async function inSync(flags: number): Promise<number> {
    const indices = Array.from({ length: flags }, (_, index) => index);
    const files = indices.map((index) => [`flags/flag-${index}.yaml`, flag(index)]);
    scenario.commit(Object.fromEntries(files) as Record<string, string>, `Have ${flags} flags`);
    await requestsOf();
    return (await requestsOf()).length;
  }

  it('that finds all in sync are one for each page, and four for the place', async () => {
    // A list that is empty has a page too.
    const segments = 1;
    const pagesOf = (flags: number): number => Math.ceil(flags / FLAGS_PER_PAGE);
    const expected = (flags: number): number =>
      4 + segments + pagesOf(flags) * (1 + ENVIRONMENTS.length);

    expect([await inSync(10), await inSync(60)]).toEqual([expected(10), expected(60)]);
  });

  it('of a service without bulk lists are one for each flag and environment, and a constant', async () => {
    await scenario.restart({ strict: true });

    const [few, more] = [await inSync(10), await inSync(25)];

    expect(more - few).toBe(15 * ENVIRONMENTS.length);
    expect(few - 10 * ENVIRONMENTS.length).toBeLessThanOrEqual(10);
  });

  it('that change many keys of a segment are two listings, and one for each ten thousand', async () => {
    scenario.repository.write({
      'segments/bulk.yaml': 'segment: bulk\nenvironments: { staging: { keysFile: bulk.keys } }\n',
    });
    const keys = (from: number, to: number): void => {
      const lines = Array.from({ length: to - from }, (_, index) => `user-${from + index}\n`);
      scenario.commit(
        { 'segments/bulk.keys': lines.join('') },
        `Have the keys from ${from} to ${to}`,
      );
    };
    const about = (requests: readonly string[], pattern: RegExp): number =>
      requests.filter((request) => pattern.test(request)).length;
    keys(0, 15_000);
    await requestsOf();
    keys(2_345, 27_345);
    const changing = await requestsOf();
    const unchanged = await requestsOf();

    expect(about(changing, /uploadKeys$/)).toBe(2);
    expect(about(changing, /removeKeys$/)).toBe(1);
    expect(about(changing, /^GET .*\/keys$/)).toBeLessThanOrEqual(
      2 * Math.ceil(25_000 / KEYS_PER_PAGE) + 4,
    );
    expect(about(unchanged, /\/keys$/)).toBe(1);
  });
});
