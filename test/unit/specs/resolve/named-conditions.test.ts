import { describe, expect, it } from 'vitest';
import type { Desired } from '../../../../src/model/desired.js';
import { readSpecs } from '../../../../src/specs/read-specs.js';
import { treeOf } from '../../../support/spec-tree.js';

function config(conditions = ''): string {
  return `workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
references: { segments: [staff] }
${conditions}`;
}

/** A flag whose rules have these conditions, in two environments by different ways. */
function files(conditions: string, ...rules: readonly string[]): Record<string, string> {
  const list = rules.map((rule) => `{ if: ${rule}, serve: "on" }`).join(', ');
  return {
    'flagkeel.yaml': config(conditions),
    'flags/pay.yaml': `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  "*": { rules: [${list}], defaultRule: "off" }
  staging: {}
`,
    'flags/pay@production.yaml': `flag: pay
environment: production
rules: [${list}]
defaultRule: "off"
`,
  };
}

async function flagsIn(given: Readonly<Record<string, string>>) {
  const result = await readSpecs(treeOf(given));
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics.map(({ message }) => message)));
  const { flags }: Desired = result.desired;
  return [...flags.values()].flatMap(({ environments }) => {
    return [...environments.values()].map(({ fields, creation }) => ({ fields, creation }));
  });
}

const NAMES = `conditions:
  adults-here: [{ use: adults }, { attribute: country, in: [ES, FR] }]
  adults: { attribute: age, atLeast: 18 }
  not-staff: { segment: staff, not: true }
`;
const ADULTS = '{ attribute: age, atLeast: 18 }';
const HERE = '{ attribute: country, in: [FR, ES] }';

describe('a named condition', () => {
  it.each([
    ['by itself', '{ use: adults }', ADULTS],
    ['of several, that uses another', '{ use: adults-here }', `[${ADULTS}, ${HERE}]`],
    ['among others', `[${HERE}, { use: adults }]`, `[${HERE}, ${ADULTS}]`],
    ['turned round', '{ use: adults, not: true }', '{ attribute: age, atLeast: 18, not: true }'],
    ['turned round twice', '[{ use: not-staff, not: true }]', '{ segment: staff }'],
  ])('means what it stands for: %s', async (_situation, used, written) => {
    const named = await flagsIn(files(NAMES, used, '{ segment: staff }'));

    expect(named).toHaveLength(2);
    expect(named).toEqual(await flagsIn(files('', written, '{ segment: staff }')));
  });

  it('cannot become thousands of matchers by a few lines', async () => {
    const doubled = Array.from(
      { length: 9 },
      (_, at) => `  c${at + 1}: [{ use: c${at} }, { use: c${at} }, { use: c${at} }]\n`,
    );
    const conditions = `conditions:\n  c0: ${ADULTS}\n${doubled.join('')}`;

    const result = await readSpecs(treeOf(files(conditions, '{ use: c9 }')));

    expect(result.ok ? [] : result.diagnostics.map(({ code, message }) => [code, message])).toEqual(
      [['condition-shape', '"c5" stands for more than 100 conditions']],
    );
  });

  it('is not followed without end where thousands stand one in another', async () => {
    const chain = Array.from({ length: 3_000 }, (_, at) => `  c${at}: { use: c${at + 1} }\n`);
    const conditions = `conditions:\n${chain.join('')}  c3000: ${ADULTS}\n`;

    const result = await readSpecs(treeOf(files(conditions, '{ use: c0 }')));

    const codes = new Set(result.ok ? [] : result.diagnostics.map(({ code }) => code));
    expect([...codes]).toEqual(['condition-cycle']);
  });

  it('of a config that is wrong is no second mistake in each flag that uses it', async () => {
    const broken = files(`${NAMES}prune: perhaps\n`, '{ use: adults }');

    const result = await readSpecs(treeOf(broken));

    expect(
      result.ok ? [] : result.diagnostics.map(({ location, code }) => [location.file, code]),
    ).toEqual([['flagkeel.yaml', 'wrong-type']]);
  });

  it.each(['__proto__', 'constructor', '12'])('may be called %s', async (name) => {
    const named = files(`conditions: { "${name}": ${ADULTS} }\n`, `{ use: "${name}" }`);

    expect(await flagsIn(named)).toEqual(await flagsIn(files('', ADULTS)));
  });
});
