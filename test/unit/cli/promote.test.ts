import { describe, expect, it } from 'vitest';
import { useCommands, type CliRun } from '../../support/terminal.js';

const CONFIG = `workspace: Default
environments: { staging: {}, production: { protected: true } }
defaults: { trafficType: user }
`;
const PAY = `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
    killed: false
    targets: { "on": [qa-1, qa-2] }
    rules:
      - name: new colleagues
        if: { segment: staff }
        serve: "on"
      - { if: { attribute: country, in: [ES] }, serve: { "on": 50, "off": rest } }
    trafficAllocation: 50
    defaultRule: { "on": 80, "off": rest }
  production:
    targets:
      "on":
        - qa-1 # the robot
    rules:
      # Agreed with sales.
      - if: { attribute: country, in: [ES] }
        serve: { "on": 5, "off": rest } # carefully
      - { if: { attribute: beta, is: true }, serve: "on" }
    # Next step 25.
    defaultRule: { "on": 10, "off": rest }
`;
const SEGMENT = `segment: staff
environments: { staging: { keys: [ana] }, production: { keys: [ana] } }
`;

const { run, write, text } = useCommands({
  'flagkeel.yaml': CONFIG,
  'flags/pay.yaml': PAY,
  'segments/staff.yaml': SEGMENT,
});
const WAY = ['--from', 'staging', '--to', 'production'];

const promote = async (...options: readonly string[]): Promise<CliRun> =>
  run('promote', 'flag/pay', ...WAY, ...options);

const production = (): string => {
  const all = text('flags/pay.yaml');
  return all.slice(all.indexOf('  production:'));
};

describe('promote', () => {
  it('shows the difference, writes nothing unasked, and keeps sizes, targets, kills and comments', async () => {
    const shown = await promote();
    const unasked = text('flags/pay.yaml');
    await promote('--write');
    const again = await promote('--write');

    expect(shown.exitCode).toBe(0);
    expect(shown.stderr).toContain('nothing is written (add --write)');
    expect(unasked).toBe(PAY);
    expect(again.stdout).toBe('no difference\n');
    expect(shown.stdout).toBe(`flags/pay.yaml:18
          - qa-1 # the robot
      rules:
+       - name: new colleagues
+         if: { segment: staff }
+         serve: "on"
        # Agreed with sales.
        - if: { attribute: country, in: [ES] }
          serve: { "on": 5, "off": rest } # carefully
-       - { if: { attribute: beta, is: true }, serve: "on" }
      # Next step 25.
      defaultRule: { "on": 10, "off": rest }
`);
    const colleagues =
      '      - name: new colleagues\n        if: { segment: staff }\n        serve: "on"\n';
    expect(text('flags/pay.yaml')).toBe(
      PAY.replace('      # Agreed', `${colleagues}      # Agreed`).replace(
        /.*attribute: beta.*\n/,
        '',
      ),
    );
  });

  it('takes the names of conditions along, and not what they stand for', async () => {
    write({
      'flagkeel.yaml': `${CONFIG}conditions: { colleagues: [{ segment: staff }, { attribute: beta, is: true }] }\n`,
      'flags/pay.yaml': PAY.replace('if: { segment: staff }', 'if: { use: colleagues }'),
    });

    await promote('--write');

    expect(production()).toContain('        if: { use: colleagues }\n');
    expect(await run('validate')).toMatchObject({ exitCode: 0 });
  });

  it('takes the rest along where it is asked to', async () => {
    await promote('--percentages', '--targets', '--kills', '--write');

    expect(production()).toBe(`  production:
    killed: false
    trafficAllocation: 50
    targets:
      "on":
        - qa-1 # the robot
        - qa-2
    rules:
      - name: new colleagues
        if: { segment: staff }
        serve: "on"
      # Agreed with sales.
      - if: { attribute: country, in: [ES] }
        serve: { "on": 50, "off": rest } # carefully
    # Next step 25.
    defaultRule: { "on": 80, "off": rest }
`);
  });

  it('starts a new flag with the default treatment, or in the file that the environment has by itself', async () => {
    const before = PAY.slice(0, PAY.indexOf('  production:'));
    write({ 'flags/pay.yaml': before });
    await promote('--write');
    expect(production()).toBe(`  production:
    rules:
      - name: new colleagues
        if: { segment: staff }
        serve: "on"
      - if: { attribute: country, in: [ES] }
        serve: { "on": 50, "off": rest }
    defaultRule: "off"
`);

    const overlay = '# Owned by operations.\nflag: pay\nenvironment: production\n';
    write({
      'flags/pay.yaml': before,
      'flags/pay@production.yaml': `${overlay}defaultRule: "off"\n`,
    });
    await promote('--percentages', '--write');
    expect(text('flags/pay.yaml')).toBe(before);
    expect(text('flags/pay@production.yaml')).toBe(`${overlay}trafficAllocation: 50
rules:
  - name: new colleagues
    if: { segment: staff }
    serve: "on"
  - if: { attribute: country, in: [ES] }
    serve: { "on": 50, "off": rest }
defaultRule: { "on": 80, "off": rest }
`);
  });

  const HEAD = PAY.slice(0, PAY.indexOf('  staging:'));
  const STAFF = 'rules: [{ if: { segment: staff }, serve: "on" }]';
  const SHARED = `  "*":
    rules:
      - if: [{ segment: staff }, { attribute: country, in: [ES] }]
        serve: "on"
    defaultRule: { "on": 30, "off": rest }
`;
  it.each<
    [
      situation: string,
      options: string[],
      shared: string,
      staging: string,
      production: string,
      written: string,
    ]
  >([
    [
      'treatments of its own, in the order of the file',
      [],
      '',
      'treatments: { "on": first, "2": two, "1": one, "off": "" }',
      '',
      'treatments:\n      "on": first\n      "2": two\n      "1": one\n      "off": ""',
    ],
    [
      'the end of treatments of its own',
      [],
      '',
      '',
      'treatments: { "on": first, "2": two, "off": "" }',
      '',
    ],
    [
      'the end of a target, and of a treatment with targets',
      ['--targets'],
      '',
      'targets: { "on": [qa-2] }',
      'targets: { "off": [x], "on": [qa-1, qa-2] }',
      'targets: { "on": [ qa-2 ] }',
    ],
    ['the end of its rules', [], '', '', STAFF, ''],
    ['no rules, where it would get those of all', [], SHARED, 'rules: []', '', 'rules: []'],
    [
      'rules of all, with several conditions, in place of its own',
      [],
      SHARED,
      '',
      STAFF,
      'rules: [ { if: [{ segment: staff }, { attribute: country, in: [ES] }], serve: "on" } ]',
    ],
  ])('takes %s', async (_, options, shared, staging, target, written) => {
    const block = (name: string, said: string): string =>
      `  ${name}:\n${said === '' ? '' : `    ${said}\n`}    defaultRule: "off"\n`;
    write({
      'flags/pay.yaml': HEAD + shared + block('staging', staging) + block('production', target),
    });

    await promote('--write', ...options);

    expect(production()).toBe(block('production', written));
  });

  it('takes the sizes that the environment shares with all others', async () => {
    write({
      'flags/pay.yaml': `${HEAD}${SHARED}  staging: {}\n  production:\n    trafficAllocation: 50\n    defaultRule: "off"\n`,
    });

    await promote('--write', '--percentages');

    expect(production()).toBe(`  production:
    trafficAllocation: 100
    defaultRule: { "on": 30, "off": rest }
`);
  });

  it('writes nothing where flags would depend on each other', async () => {
    const pay = PAY.replace('{ segment: staff }', '{ flag: base, treatments: ["on"] }');
    write({
      'flags/pay.yaml': pay,
      'flags/base.yaml': `flag: base
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production:
    rules: [{ if: { flag: pay, treatments: ["on"] }, serve: "on" }]
    defaultRule: "off"
`,
    });

    const done = await promote('--write');

    expect(done.exitCode).toBe(3);
    expect(done.stderr).toContain('dependency-cycle');
    expect(text('flags/pay.yaml')).toBe(pay);
  });

  it.each([
    ['flag/payy --from staging --to production', 'did you mean "pay"?'],
    ['flag/pay --from stagin --to production', 'did you mean "staging"?'],
    ['flag/pay --from staging --to staging', 'are the same'],
    ['flag/pay --from staging', '--to'],
    ['pay config --from staging --to production', 'only one of pay, config'],
  ])('is a wrong command line: %s', async (words, expected) => {
    const refused = await run('promote', ...words.split(' '));

    expect(refused.exitCode).toBe(64);
    expect(refused.stderr).toContain(expected);
  });
});

describe('promoting several flags', () => {
  const flag = (name: string, more: string): string =>
    `flag: ${name}\nowner: team-pay\ntags: [checkout]\ntreatments: { "on": "", "off": "" }\n` +
    `defaultTreatment: "off"\nenvironments:\n  staging:\n${more}    defaultRule: "on"\n`;
  const rule = (condition: string): string =>
    `    rules:\n      - { if: ${condition}, serve: "on" } # as agreed\n`;

  const files = {
    'flags/pay.yaml': flag('pay', rule('{ segment: beta }')),
    'flags/cart.yaml': flag('cart', rule('{ flag: base, treatments: ["on"] }')),
    'flags/base.yaml': flag('base', '').replace('tags: [checkout]\n', ''),
    'flags/live.yaml': flag('live', '').replace('staging:', 'production:'),
    'flags/other.yaml': flag('other', '').replace('tags: [checkout]\n', ''),
    'segments/beta.yaml':
      '# Customers who asked.\nsegment: beta\nenvironments:\n  staging: { keys: [qa-1] } # robots\n',
  };

  const promoteSome = async (...words: readonly string[]): Promise<CliRun> => {
    write(files);
    return run('promote', ...words, ...WAY);
  };

  it('takes along what they need, in one difference, and keeps comments', async () => {
    const done = await promoteSome('--tag', 'checkout', '--write');
    const validated = await run('validate');

    expect(done).toMatchObject({ exitCode: 0 });
    expect(done.stderr).toContain(
      'taken along, because production lacks them: flag/base, segment/beta',
    );
    expect(validated.exitCode).toBe(0);
    for (const name of ['pay', 'cart', 'base']) {
      expect(text(`flags/${name}.yaml`)).toContain('  production:\n');
    }
    expect(text('flags/pay.yaml')).toContain('# as agreed');
    expect(text('segments/beta.yaml')).toBe(
      '# Customers who asked.\nsegment: beta\nenvironments:\n  staging: { keys: [qa-1] } # robots\n  production: {}\n',
    );
    expect(text('flags/other.yaml')).not.toContain('production');
    expect(await run('promote', '--tag', 'checkout', ...WAY)).toMatchObject({
      exitCode: 0,
      stdout: 'no difference\n',
    });
  });

  it.each([
    [
      ['flag/pay', 'flag/other'],
      ['other', 'pay'],
    ],
    [
      ['--owner', 'team-pay', '--exclude', 'flag/cart', '--exclude', 'flag/pay'],
      ['base', 'other'],
    ],
  ])(
    'takes flags by name, by owner, and without those that are excluded: %j',
    async (words, names) => {
      const { stdout } = await promoteSome(...words);

      const found = [...stdout.matchAll(/^flags\/(\w+)\.yaml:/gm)].map(([, name]) => name);
      expect(found.toSorted()).toEqual(names);
    },
  );

  it.each([
    [[], 'cannot promote flags', 'none is named'],
    [['--tag', 'checkuot'], 'cannot use --tag "checkuot"', 'did you mean "checkout"?'],
    [['--owner', 'team-pya'], 'cannot use --owner "team-pya"', 'did you mean "team-pay"?'],
    [['--tag', 'checkout', '--exclude', 'flag/crat'], '"flag/crat"', 'did you mean "flag/cart"?'],
    [['flag/pay', '--exclude', 'flag/pay'], 'cannot promote flag/pay', 'is selected'],
    [['flag/cart', '--exclude', 'flag/base'], 'cannot promote without flag/base', 'needs it'],
  ])('refuses a selection that cannot be meant: %j', async (words, refused, why) => {
    const { exitCode, stderr } = await promoteSome(...words, '--write');

    expect(exitCode).toBe(64);
    expect(stderr).toContain(refused);
    expect(stderr).toContain(why);
    expect(text('flags/cart.yaml')).toBe(files['flags/cart.yaml']);
  });
});
