import { expect, it } from 'vitest';
import { PIPELINE_CONFIG, pipelineWorld } from '../../support/pipeline-world.js';

/** By each of these names every object of the language inherits something. */
const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];
/** The service takes these for flags, segments and treatments, whose names begin with a letter. */
const OBJECT_NAMES = NAMES.filter((name) => !name.startsWith('_'));

function each(names: readonly string[], text: (name: string) => string, end = ', '): string {
  return names.map((name) => text(name) + end).join('');
}

/** A flag whose treatments and attributes have these names; it targets none of the treatments but one. */
function flagFile(flag: string, { on, settings }: { on: number; settings: string }): string {
  return `flag: ${flag}
treatments: { "on": { configuration: ${settings} }, ${each(OBJECT_NAMES, (name) => `${name}: ""`)} }
defaultTreatment: constructor
environments:
  staging:
    targets: { valueOf: [somebody] }
    rules:
${each(NAMES, (name) => `      - { if: [{ attribute: ${name}, in: [x] }, { segment: toString }], serve: valueOf }`, '\n')}    defaultRule: { "on": ${String(on)}, toString: rest }
`;
}

function filesOf(flags: { on: number; settings: string }, plan: string): Record<string, string> {
  const segment = (name: string): [string, string] => [
    `segments/${name}.yaml`,
    `segment: ${name}\nenvironments: { staging: { keys: [${NAMES.join(', ')}] } }\n`,
  ];
  return {
    'flagkeel.yaml': PIPELINE_CONFIG,
    ...Object.fromEntries(OBJECT_NAMES.map(segment)),
    ...Object.fromEntries(
      OBJECT_NAMES.map((name) => [`flags/${name}.yaml`, flagFile(name, flags)] as const),
    ),
    'identities/user.yaml': `identities:
  environment: staging
  keys: { ${each(NAMES, (name) => `${name}: { plan: ${plan}, toString: a }`)} }
`,
  };
}

it('plans and applies names by which every object inherits something', async () => {
  const world = await pipelineWorld();
  world.repository.commit('Add them', filesOf({ on: 10, settings: '{ plan: 2 }' }, 'pro'));
  const first = await world.applied();
  expect([...first.outcomes.values()].filter(({ status }) => status !== 'applied')).toEqual([]);
  expect(first.converged).toBe(true);
  expect((await world.planned()).plan.changes).toEqual([]);

  const later = filesOf({ on: 20, settings: '{ toString: 1 }' }, 'team');
  world.repository.commit('Change them', later);
  const second = await world.applied();
  expect([...second.outcomes.values()].filter(({ status }) => status !== 'applied')).toEqual([]);
  expect(second.converged).toBe(true);
  const next = await world.planned();
  expect(next.plan.changes).toEqual([]);
  expect(next.plan.withheld).toEqual([]);
});
