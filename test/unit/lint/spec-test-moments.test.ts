import { expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

const CONFIG = `workspace: Default
environments: { production: { windows: [office] } }
windows:
  office: { days: [mon, tue, wed, thu, fri], from: 09:00, to: 17:00, zone: Europe/Madrid }
  mornings: { from: 09:00, to: 12:00, zone: Europe/Madrid }
freezes:
  sale: { from: 2026-11-25, to: 2026-11-25, zone: Europe/Madrid }
defaults: { trafficType: user }
references: { segments: [staff] }
`;

/** A ramp from Monday, the 23rd of November on, below the default rule or a rule of staff. */
const SHOP = `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    defaultRule: { "on": 5, "off": rest }
    ramp: { start: 2026-11-23T09:00+01:00, steps: "10, 1d, 25, 1d, 50" }
    rules:
      - if: { segment: staff }
        serve: "off"
        ramp: { treatment: "on", start: 2026-11-23T14:00+01:00, steps: "50", within: mornings }
`;

/** The commands's exit code and what it says of cases that expect these shares of "on". */
async function tested(
  cases: Readonly<Record<string, number>>,
  spec = SHOP,
  more = '',
  started = '',
) {
  using repository = new ConfigRepository();
  const lines = Object.entries(cases).map(([when, on]) => {
    const expected = `expect: { "on": ${String(on)}, "off": ${String(100 - on)} }`;
    const moment = when === 'never' ? '' : `when: "${when}", `;
    return `  - { name: "${when}", environment: production, ${moment}${started}segments: [${more}], ${expected} }\n`;
  });
  repository.write({
    'flagkeel.yaml': CONFIG,
    'flags/shop.yaml': spec,
    'tests/shop.test.yaml': `tests: shop\ncases:\n${lines.join('')}`,
  });
  repository.commit('Ramp the shop');
  const { exitCode, stdout } = await cliRun(['test', '--quiet', repository.directory]);
  return { exitCode, stdout };
}

it('a case with a moment is answered as of the step that is due then, past windows and freezes', async () => {
  const { stdout } = await tested({
    never: 5,
    '2026-11-23': 5,
    '2026-11-23T08:59:59+01:00': 5,
    '2026-11-23T09:00:00+01:00': 10,
    '2026-11-24T08:00:00Z': 25,
    // Wednesday is frozen.
    '2026-11-25T12:00:00+01:00': 25,
    '2026-11-26T08:59:59+01:00': 25,
    '2026-11-26T09:00:00+01:00': 50,
    '2027-11-26': 50,
  });

  expect(stdout).toBe('9 passed, 0 failed\n');
});

it('a rule that grows waits for a window of its own', async () => {
  const { stdout } = await tested(
    { never: 0, '2026-11-23T16:00+01:00': 0, '2026-11-24T09:00+01:00': 50 },
    SHOP,
    'staff',
  );

  expect(stdout).toBe('3 passed, 0 failed\n');
});

it('a ramp that is held stays at what is written', async () => {
  const held = SHOP.replace('ramp: { start', 'ramp: { hold: true, start');

  expect((await tested({ '2026-11-26T12:00+01:00': 5 }, held)).stdout).toBe('1 passed, 0 failed\n');
});

it('a case with a moment fails where it depends on a ramp that begins with a run, and no other does', async () => {
  const startless = SHOP.replace('ramp: { start: 2026-11-23T09:00+01:00, steps', 'ramp: { steps');

  const { exitCode, stdout } = await tested({ never: 5, '2026-11-26T12:00+01:00': 50 }, startless);

  const ofStaff = await tested({ '2026-11-26T12:00+01:00': 50 }, startless, 'staff');

  expect(ofStaff.stdout).toBe('1 passed, 0 failed\n');
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('1 passed, 1 failed')]);
  expect(stdout).toContain('a ramp that it depends on begins with the run that first sees it');
});

it('a ramp that begins with a run is where it is by the moment at which it started', async () => {
  const startless = SHOP.replace('start: 2026-11-23T09:00+01:00, ', '');
  const started = 'started: "2026-11-26T09:00+01:00", ';

  const { stdout } = await tested(
    { '2026-11-26T08:00+01:00': 5, '2026-11-26T09:00+01:00': 10, '2026-11-27T12:00+01:00': 25 },
    startless,
    '',
    started,
  );

  expect(stdout).toBe('3 passed, 0 failed\n');
  const untold = await tested({ '2026-11-26T12:00+01:00': 50 }, startless);
  expect(untold.stdout).toContain('begins with the run that first sees it');
  const momentless = await tested({ never: 5 }, startless, '', started);
  expect(momentless.stdout).toContain('says nothing without `when`');
});

it('a wrong expectation of a moment fails, with what is served then', async () => {
  const { exitCode, stdout } = await tested({ '2026-11-24T12:00+01:00': 50 });

  expect(exitCode).toBe(1);
  expect(stdout).toContain('got "off" 75 %, "on" 25 %');
});
