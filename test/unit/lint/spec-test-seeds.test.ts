import { expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

const CONFIG = `workspace: Default
environments: { production: {} }
defaults: { trafficType: user }
`;
const SHOP = `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production: { trafficAllocation: 70, defaultRule: { "on": 40, "off": rest } }
`;

/** By seed 7 the buckets of ana, dan and cleo are 32, 3 and 53; by seed 8 they draw 82, 69 and 40. */
async function tested(...cases: readonly string[]) {
  using repository = new ConfigRepository();
  const lines = cases.map((each) => `  - { name: it, environment: production, ${each} }\n`);
  repository.write({
    'flagkeel.yaml': CONFIG,
    'flags/shop.yaml': SHOP,
    'tests/shop.test.yaml': `tests: shop\ncases:\n${lines.join('')}`,
  });
  repository.commit('Sell');
  const { exitCode, stdout } = await cliRun(['test', '--quiet', repository.directory]);
  return { exitCode, stdout };
}

const SEEDS = 'seed: 7, trafficAllocationSeed: 8';

it('a case with a key and the seeds of the definition expects one treatment', async () => {
  const right = await tested(
    `key: dan, ${SEEDS}, expect: "on"`,
    `key: ana, ${SEEDS}, expect: "off"`,
    `key: cleo, ${SEEDS}, expect: "off"`,
  );
  expect(right).toMatchObject({ exitCode: 0 });

  const wrong = await tested(`key: dan, ${SEEDS}, expect: "off"`);
  expect(wrong.stdout).toContain('expected "off", got "on" 100 %');
  expect(wrong.exitCode).toBe(1);
});

it.each([
  ['key', SEEDS],
  ['trafficAllocationSeed', 'key: dan, seed: 7'],
  ['seed', 'key: dan, trafficAllocationSeed: 8'],
])('a case with a part of that says that %s is missing', async (missing, part) => {
  const { exitCode, stdout } = await tested(`${part}, expect: "on"`);

  expect(stdout).toContain(
    `a seed gives a key its bucket, so that the case needs \`${missing}\` too`,
  );
  expect(exitCode).toBe(1);
});
