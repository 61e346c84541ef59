import { describe, expect, it } from 'vitest';
import { cliRun, useCommands, type CliRun } from '../../support/terminal.js';

const CONFIG = 'workspace: Default\nenvironments: { production: {} }\n';
const STAFF = '{ if: { segment: staff }, serve: "on" }';

function flagText(name: string, ...rules: readonly string[]): string {
  const lines = rules.map((rule) => `        - ${rule}\n`).join('');
  return `flag: ${name}
trafficType: user
treatments: { "on": Shown, "off": Hidden }
defaultTreatment: "off"
environments:
  production:
    rules:
${lines}    defaultRule: "off"
`;
}

const segmentText = (name: string): string =>
  `segment: ${name}\ntrafficType: user\nenvironments: { production: { keys: [ana] } }\n`;

const world = useCommands({
  'specs/flagkeel.yaml': CONFIG,
  'specs/flags/pay.yaml': flagText('pay', STAFF),
  'specs/flags/ship.yaml': flagText(
    ...['ship', STAFF, '{ if: [{ flag: pay, treatments: ["on"] }], serve: "on" }'],
  ),
  'specs/segments/staff.yaml': segmentText('staff'),
  'specs/segments/idle.yaml': segmentText('idle'),
  'specs/kills/production.yaml':
    'kills:\n  pay: { reason: broken }\n  elsewhere: { reason: broken }\n  staff: { reason: broken }\n',
  'specs/tests/ship.test.yaml':
    'tests: ship\ncases:\n  - { name: staff, environment: production, segments: [staff], expect: "on" }\n',
});
const { write, at } = world;

const find = async (...args: readonly string[]): Promise<CliRun> =>
  cliRun(['find-usage', ...args, at('specs'), '--quiet']);

async function expectPlaces(object: string, ...places: readonly string[]): Promise<void> {
  const count = places.length === 1 ? '1 place' : `${places.length} places`;
  const stdout = [...places, `${count} in the specs`, ''].join('\n');
  expect(await find(object)).toEqual({ exitCode: 0, stderr: '', stdout });
}

describe('find-usage in specs', () => {
  it('tells the rules, spec tests and kills that name an object', async () => {
    await expectPlaces(
      'segment/staff',
      'flags/pay.yaml:8  rule 1 of flag/pay in production',
      'flags/ship.yaml:8  rule 1 of flag/ship in production',
      'tests/ship.test.yaml:3  case of the spec test of flag/ship',
    );
    await expectPlaces(
      'flag/pay',
      'flags/ship.yaml:9  rule 2 of flag/ship in production',
      'kills/production.yaml:2  kill in production',
    );
    await expectPlaces('flag/elsewhere', 'kills/production.yaml:3  kill in production');
  });

  it('tells who uses a named condition, through another one too, and what it names itself', async () => {
    write({
      'specs/flagkeel.yaml': `${CONFIG}conditions:
  insiders: [{ segment: staff }, { segment: idle }]
  testers: { use: insiders }
`,
      'specs/flags/pay.yaml': flagText('pay', '{ if: [{ use: insiders }], serve: "on" }'),
      'specs/flags/ship.yaml': flagText('ship', '{ if: [{ use: testers }], serve: "on" }'),
    });
    const pay = 'flags/pay.yaml:8  rule 1 of flag/pay in production';
    const ship = 'flags/ship.yaml:8  rule 1 of flag/ship in production';
    const through = `${ship}, through condition testers`;

    await expectPlaces('condition/insiders', 'flagkeel.yaml:5  condition testers', pay, through);
    await expectPlaces('segment/idle', 'flagkeel.yaml:4  condition insiders', pay, ship);
    const none = await find('condition/insider');
    expect(none.exitCode).toBe(64);
    expect(none.stderr).toContain('did you mean "insiders"?');
    const explained = await cliRun(['explain', 'flag/ship', at('specs'), '--format', 'json']);
    expect(explained.stdout.replaceAll(/\s/g, '')).toContain('"uses":["testers","insiders"]');
  });

  it.each(['flag/payy', 'segment/pay', 'identities/user'])(
    'is a wrong command line where nothing is declared as %s',
    async (object) => {
      expect((await find(object)).exitCode).toBe(64);
    },
  );
});

it('find-usage in code tells the lines that hold the name by itself, in files that git does not ignore', async () => {
  write({
    'shop/.gitignore': 'built/\n',
    'shop/built/cart.js': 'isOn("pay");\n',
    'shop/src/cart.js': `const a = isOn('pay');
const b = isOn('pay-now') || isOn('prepay') || isOn('pay.now') || isOn('pay_now');
// Goes by pay.
`,
  });
  world.repository.shell('git init --quiet shop');
  const shop = at('shop');
  const { stdout } = await find('flag/pay', '--code', shop, '--format', 'json');

  const { usages } = JSON.parse(stdout) as { usages: { code?: string }[] };
  expect(usages.filter((each) => each.code !== undefined)).toEqual([
    { code: shop, file: 'src/cart.js', line: 1, text: "const a = isOn('pay');" },
    { code: shop, file: 'src/cart.js', line: 3, text: '// Goes by pay.' },
  ]);
  expect((await find('segment/idle', '--code', shop)).stdout).toBe(
    `nothing names segment/idle in the specs, ${shop}\n`,
  );
  const nowhere = await find('flag/pay', '--code', at('shop/nowhere'));
  expect(nowhere.exitCode).not.toBe(0);
  expect(nowhere.stderr).toContain('shop/nowhere": there is no such directory');
});
