import { expect, it } from 'vitest';
import { useCommands } from '../../support/terminal.js';

const { run, write } = useCommands();
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
const HEAD = `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
`;

/** A ramp from Monday, the 23rd of November on, below the default rule or a rule of staff. */
const SHOP = `${HEAD}  production:
    defaultRule: { "on": 5, "off": rest }
    ramp: { start: 2026-11-23T09:00+01:00, steps: "10, 1d, 25, 1d, 50" }
    rules:
      - if: { segment: staff }
        serve: "off"
        ramp: { treatment: "on", start: 2026-11-23T14:00+01:00, steps: "50", within: mornings }
`;
const STARTLESS = SHOP.replace('start: 2026-11-23T09:00+01:00, ', '');
const SEEDED = `${HEAD}  production: { trafficAllocation: 70, defaultRule: { "on": 40, "off": rest } }\n`;
/** By seed 7 the buckets of ana, dan and cleo are 32, 3 and 53; by seed 8 they draw 82, 69 and 40. */
const SEEDS = 'seed: 7, trafficAllocationSeed: 8';
const NOBODY = 'segments: []';
const STAFF = 'segments: [staff]';
const STARTED = `started: "2026-11-26T09:00+01:00", ${NOBODY}`;

/** A case at a moment, or without one, that expects this share of "on". */
function at(when: string | null, on: number, members = NOBODY): string {
  const moment = when === null ? '' : `when: "${when}", `;
  return `${moment}${members}, expect: { "on": ${String(on)}, "off": ${String(100 - on)} }`;
}

it.each<[string, string, string[], string, string?]>([
  [
    'at a moment is answered as of the step that is due then, past windows and freezes',
    SHOP,
    [
      at(null, 5),
      at('2026-11-23', 5),
      at('2026-11-23T08:59:59+01:00', 5),
      at('2026-11-23T09:00:00+01:00', 10),
      at('2026-11-24T08:00:00Z', 25),
      // Wednesday is frozen.
      at('2026-11-25T12:00:00+01:00', 25),
      at('2026-11-26T08:59:59+01:00', 25),
      at('2026-11-26T09:00:00+01:00', 50),
      at('2027-11-26', 50),
    ],
    '9 passed, 0 failed',
  ],
  [
    'of a rule that grows waits for a window of its own',
    SHOP,
    [
      at(null, 0, STAFF),
      at('2026-11-23T16:00+01:00', 0, STAFF),
      at('2026-11-24T09:00+01:00', 50, STAFF),
    ],
    '3 passed, 0 failed',
  ],
  [
    'of a ramp that is held stays at what is written',
    SHOP.replace('ramp: { start', 'ramp: { hold: true, start'),
    [at('2026-11-26T12:00+01:00', 5)],
    '1 passed, 0 failed',
  ],
  [
    'at a moment fails where it depends on a ramp that begins with a run, and no other does',
    STARTLESS,
    [at(null, 5), at('2026-11-26T12:00+01:00', 50), at('2026-11-26T12:00+01:00', 50, STAFF)],
    '2 passed, 1 failed',
    'a ramp that it depends on begins with the run that first sees it',
  ],
  [
    'of a ramp that begins with a run is answered by the moment at which it started',
    STARTLESS,
    [
      at('2026-11-26T08:00+01:00', 5, STARTED),
      at('2026-11-26T09:00+01:00', 10, STARTED),
      at('2026-11-27T12:00+01:00', 25, STARTED),
    ],
    '3 passed, 0 failed',
  ],
  [
    'with a start and no moment fails',
    STARTLESS,
    [at(null, 5, STARTED)],
    '0 passed, 1 failed',
    'says nothing without `when`',
  ],
  [
    'that expects something wrong of a moment says what is served then',
    SHOP,
    [at('2026-11-24T12:00+01:00', 50)],
    '0 passed, 1 failed',
    'got "off" 75 %, "on" 25 %',
  ],
  [
    'with a key and the seeds of the definition expects one treatment',
    SEEDED,
    [
      `key: dan, ${SEEDS}, expect: "on"`,
      `key: ana, ${SEEDS}, expect: "off"`,
      `key: cleo, ${SEEDS}, expect: "off"`,
      `key: dan, ${SEEDS}, expect: "off"`,
    ],
    '3 passed, 1 failed',
    'expected "off", got "on" 100 %',
  ],
  ...[
    ['key', SEEDS],
    ['trafficAllocationSeed', 'key: dan, seed: 7'],
    ['seed', 'key: dan, trafficAllocationSeed: 8'],
  ].map(([missing = '', part = '']): [string, string, string[], string, string] => [
    `with a part of key and seeds says that ${missing} is missing`,
    SEEDED,
    [`${part}, expect: "on"`],
    '0 passed, 1 failed',
    `a seed gives a key its bucket, so that the case needs \`${missing}\` too`,
  ]),
])('a spec test %s', async (_, spec, cases, counts, why = '') => {
  const lines = cases.map((each) => `  - { name: it, environment: production, ${each} }\n`);
  write({
    'flagkeel.yaml': CONFIG,
    'flags/shop.yaml': spec,
    'tests/shop.test.yaml': `tests: shop\ncases:\n${lines.join('')}`,
  });

  const { exitCode, stdout } = await run('test', '--quiet');

  expect([exitCode, stdout.trimEnd().split('\n').at(-1)]).toEqual([
    counts.endsWith(' 0 failed') ? 0 : 1,
    counts,
  ]);
  expect(stdout).toContain(why);
});
