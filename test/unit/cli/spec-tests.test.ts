import { describe, expect, it } from 'vitest';
import { cliRun, useCommands, type CliRun } from '../../support/terminal.js';

const PAY = `flag: pay
description: Pay with one click.
owner: team-pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    targets: { "on": [qa-bot] }
    rules:
      - name: people who work here
        if: { segment: staff }
        serve: "on"
      - if: { attribute: country, in: [ES, FR] }
        serve: { "on": 50, "off": rest }
    defaultRule: { "on": 10, "off": rest }
`;

const world = useCommands({
  'flagkeel.yaml':
    'workspace: Default\nenvironments: { staging: {}, production: {} }\ndefaults: { trafficType: user }\n',
  'flags/pay.yaml': PAY,
  'segments/staff.yaml': 'segment: staff\nenvironments: { production: { keys: [ana] } }\n',
});

/** Runs the spec test that has these cases. */
async function testOf(cases: readonly string[], ...options: readonly string[]): Promise<CliRun> {
  const lines = cases.map((each) => `  - { ${each} }\n`).join('');
  world.write({ 'tests/pay.test.yaml': `tests: pay\ncases:\n${lines}` });
  return world.run('test', ...options);
}

const EVERYBODY_ELSE = 'segments: [], attributes: {}';

describe('test', () => {
  it('passes where the specs serve what is expected, and on the example', async () => {
    const run = await testOf(
      [
        'name: a target, environment: production, key: qa-bot, expect: "on"',
        'name: staff, environment: production, segments: [staff], expect: "on"',
        `name: everybody else, environment: production, ${EVERYBODY_ELSE}, expect: { "on": 10, "off": 90 }`,
        `name: the tenth, environment: production, at: 10, ${EVERYBODY_ELSE}, expect: "on"`,
        'name: whoever, environment: production, expect: ["on", "off"]',
        'name: killed, environment: production, key: qa-bot, killed: true, expect: "off"',
      ],
      '--quiet',
    );

    expect(run).toEqual({ exitCode: 0, stdout: '6 passed, 0 failed\n', stderr: '' });
    const example = await cliRun(['test', '--quiet', 'specs-example']);
    expect(example).toEqual({ exitCode: 0, stdout: '3 passed, 0 failed\n', stderr: '' });
  });

  it('shows each case that fails, what is served, and what the case does not tell', async () => {
    const run = await testOf(
      [
        'name: staff, environment: production, segments: [staff], expect: "off"',
        'name: strangers, environment: production, segments: [], expect: { "on": 10, "off": 90 }',
        'name: in staging, environment: staging, expect: "off"',
        'name: misspelt, environment: production, segments: [stuff], expect: "on"',
      ],
      '--quiet',
    );

    expect(run.exitCode).toBe(1);
    const error = (place: string, says: string): string =>
      `tests/pay.test.yaml:${place}: error[spec-test-failed] ${says}`;
    expect(run.stdout.split('\n').filter((line) => line.startsWith('tests/'))).toEqual([
      error('3:72', 'staff: expected "off", got "on" 100 %'),
      error(
        '4:71',
        'strangers: expected "on" 10 %, "off" 90 %, got "off" 50 to 90 %, "on" 10 to 50 %; the case does not tell attribute "country"',
      ),
      error('5:38', 'in staging: flag "pay" is not declared for environment "staging"'),
      error('6:58', 'misspelt: no segment "stuff" is declared here or in references'),
    ]);
    expect(run.stdout).toMatch(/\n0 passed, 4 failed\n$/);
  });

  it('prints every case as JUnit and as JSON', async () => {
    const cases = [
      'name: staff, environment: production, segments: [staff], expect: "on"',
      'name: others, environment: production, segments: [staff], expect: "off"',
    ];

    const junit = await testOf(cases, '--format', 'junit');
    const json = await testOf(cases, '--format', 'json');

    const place = { file: 'tests/pay.test.yaml', flag: 'pay', environment: 'production' };
    expect(junit.stdout).toContain('<testsuites tests="2" failures="1">');
    expect(junit.stdout).toContain('name="pay in production: staff"');
    expect(JSON.parse(json.stdout)).toEqual({
      formatVersion: 1,
      cases: [
        { ...place, name: 'staff', passed: true },
        {
          ...{ ...place, name: 'others', passed: false, line: 4 },
          message: 'others: expected "off", got "on" 100 %',
        },
      ],
    });
  });

  it('runs nothing where the specs are invalid', async () => {
    world.write({ 'flags/pay.yaml': PAY.replace('{ segment: staff }', '{ segment: stuff }') });

    const run = await testOf(['name: a, environment: production, expect: "on"']);

    expect(run).toMatchObject({ exitCode: 3, stdout: '' });
    expect(run.stderr).toContain('unknown-segment');
  });
});

describe('explain', () => {
  it('says in words who gets what, by which rule, and where that stands', async () => {
    const head = world.repository.commit('Add one-click payment').slice(0, 8);

    const run = await world.run('explain', 'flag/pay');

    expect(run.stdout).toBe(`flag/pay [flags/pay.yaml:1]
  Pay with one click.
  owner: team-pay

production [flags/pay.yaml:7]
  targets: 1 key → on
  rule 1 (people who work here): in segment staff → on 100 % [line 10]
  rule 2: country in [ES, FR] → on 50 %, off 50 % [line 13]
  everybody else → on 10 %, off 90 %

last commits
  ${head} Add one-click payment
`);
  });

  it.each<[string[], string]>([
    [['--key', 'qa-bot'], '⇒ on 100 % (by target)'],
    [['--segment', 'staff'], '⇒ on 100 % (by rule 1)'],
    [['--attribute', 'country=ES', '--at', '50'], '⇒ on 100 % (by rule 2)'],
    [
      ['--key', 'kim'],
      '⇒ off 50 to 90 %, on 10 to 50 % (by rule 2 or default rule; not told: attribute "country")',
    ],
  ])('answers for %j', async (asked, expected) => {
    const run = await world.run('explain', 'flag/pay', ...asked);

    expect(run.stdout.replaceAll(/\n\s+/g, ' ')).toContain(expected);
  });

  it('shows protected environments first, what a named condition stands for, and the break-glass list', async () => {
    world.write({
      'flagkeel.yaml': `workspace: Default
environments: { production: { protected: true }, staging: {} }
defaults: { trafficType: user }
conditions: { here: [{ attribute: country, in: [ES] }, { segment: staff }] }
`,
      'flags/pay.yaml': PAY.replace(/if: .*ES.*/, 'if: [{ use: here }]').replace(
        ...['environments:\n', 'environments:\n  staging: { defaultRule: "on" }\n'],
      ),
      'kills/production.yaml': 'kills: { pay: { reason: INC-1 } }\n',
    });

    const { stdout } = await world.run('explain', 'flag/pay', '--key', 'qa-bot');

    expect(stdout.match(/^(production|staging)/gm)).toEqual(['production', 'staging']);
    expect(stdout).toContain(
      '  rule 2: country in [ES] and in segment staff → on 50 %, off 50 % [line 14, uses here]\n',
    );
    expect(stdout).toContain('killed: everybody gets off');
    expect(stdout).toContain('⇒ off 100 % (by killed)');
  });

  it.each([
    [['flag/payy'], 'did you mean "pay"?'],
    [['flag/pay', '--environment', 'prod'], 'did you mean "production"?'],
    [['segment/staff'], 'only flags are explained'],
  ])('refuses %j, and names what was meant', async (words, why) => {
    const { exitCode, stderr } = await world.run('explain', ...words, '--');

    expect(exitCode).toBe(64);
    expect(stderr).toContain(why);
  });
});
