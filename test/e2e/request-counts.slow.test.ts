import { expect, it } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

const ENVIRONMENTS = 2;
/** As large as the service lets a page be. */
const FLAGS_PER_PAGE = 50;

const scenario = useScenario();

/** How many requests a run makes is what a service that limits them makes slow. */
async function requestsInSync(flags: number): Promise<number> {
  const names = Array.from({ length: flags }, (_, index) => `flag-${String(index)}`);
  const files = names.map((name) => [`flags/${name}.yaml`, flagText(name, 0)]);
  scenario.commit(Object.fromEntries(files) as Record<string, string>, 'Have flags');
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  scenario.service.requests.length = 0;
  expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  return scenario.service.requests.length;
}

it('the requests of a run that finds all in sync are one for each page, and four for the place', async () => {
  scenario.repository.write({ 'flagkeel.yaml': UNPROTECTED_CONFIG });
  // A list of segments that is empty has a page too.
  const expected = (flags: number): number =>
    4 + 1 + Math.ceil(flags / FLAGS_PER_PAGE) * (1 + ENVIRONMENTS);

  const found = [await requestsInSync(10), await requestsInSync(60)];

  expect(found).toEqual([expected(10), expected(60)]);
});
