import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

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

function world(files: Readonly<Record<string, string>> = {}): ConfigRepository {
  const repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml': CONFIG,
    'flags/pay.yaml': PAY,
    'segments/staff.yaml': SEGMENT,
    ...files,
  });
  return repository;
}

async function promote(repository: ConfigRepository, ...options: readonly string[]) {
  const args = ['promote', 'flag/pay', '--from', 'staging', '--to', 'production'];
  return cliRun([...args, repository.directory, ...options]);
}

const read = (repository: ConfigRepository, path = 'flags/pay.yaml'): string =>
  readFileSync(join(repository.directory, path), 'utf8');

const production = (repository: ConfigRepository): string => {
  const text = read(repository);
  return text.slice(text.indexOf('  production:'));
};

describe('promote', () => {
  it('shows the difference, writes nothing unasked, and keeps sizes, targets, kills and comments', async () => {
    using repository = world();

    const run = await promote(repository);
    const unasked = read(repository);
    await promote(repository, '--write');
    const again = await promote(repository, '--write');

    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain('nothing is written (add --write)');
    expect(unasked).toBe(PAY);
    expect(again.stdout).toBe('no difference\n');
    expect(run.stdout).toBe(`flags/pay.yaml:18
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
    expect(production(repository)).toBe(`  production:
    targets:
      "on":
        - qa-1 # the robot
    rules:
      - name: new colleagues
        if: { segment: staff }
        serve: "on"
      # Agreed with sales.
      - if: { attribute: country, in: [ES] }
        serve: { "on": 5, "off": rest } # carefully
    # Next step 25.
    defaultRule: { "on": 10, "off": rest }
`);
  });

  it('takes the names of conditions along, and not what they stand for', async () => {
    using repository = world({
      'flagkeel.yaml': `${CONFIG}conditions: { colleagues: [{ segment: staff }, { attribute: beta, is: true }] }\n`,
      'flags/pay.yaml': PAY.replace('if: { segment: staff }', 'if: { use: colleagues }'),
    });

    await promote(repository, '--write');

    expect(production(repository)).toContain('        if: { use: colleagues }\n');
    expect(await cliRun(['validate', repository.directory])).toMatchObject({ exitCode: 0 });
  });

  it('takes the rest along where it is asked to', async () => {
    using repository = world();

    await promote(repository, '--percentages', '--targets', '--kills', '--write');

    expect(production(repository)).toBe(`  production:
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
    const text = PAY.slice(0, PAY.indexOf('  production:'));
    using fresh = world({ 'flags/pay.yaml': text });
    using repository = world({
      'flags/pay.yaml': text,
      'flags/pay@production.yaml':
        '# Owned by operations.\nflag: pay\nenvironment: production\ndefaultRule: "off"\n',
    });

    await promote(fresh, '--write');
    await promote(repository, '--percentages', '--write');

    expect(production(fresh)).toBe(`  production:
    rules:
      - name: new colleagues
        if: { segment: staff }
        serve: "on"
      - if: { attribute: country, in: [ES] }
        serve: { "on": 50, "off": rest }
    defaultRule: "off"
`);
    expect(read(repository)).toBe(text);
    expect(read(repository, 'flags/pay@production.yaml')).toBe(`# Owned by operations.
flag: pay
environment: production
trafficAllocation: 50
rules:
  - name: new colleagues
    if: { segment: staff }
    serve: "on"
  - if: { attribute: country, in: [ES] }
    serve: { "on": 50, "off": rest }
defaultRule: { "on": 80, "off": rest }
`);
  });

  it('writes nothing where flags would depend on each other', async () => {
    const pay = PAY.replace('{ segment: staff }', '{ flag: base, treatments: ["on"] }');
    using repository = world({
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

    const run = await promote(repository, '--write');

    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('dependency-cycle');
    expect(read(repository)).toBe(pay);
  });

  it.each([
    ['flag/payy --from staging --to production', 'did you mean "pay"?'],
    ['flag/pay --from stagin --to production', 'did you mean "staging"?'],
    ['flag/pay --from staging --to staging', 'are the same'],
    ['flag/pay --from staging', '--to'],
  ])('is a wrong command line: %s', async (words, expected) => {
    using repository = world();

    const run = await cliRun(['promote', ...words.split(' '), repository.directory]);

    expect(run.exitCode).toBe(64);
    expect(run.stderr).toContain(expected);
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
    'flags/other.yaml': flag('other', '').replace('tags: [checkout]\n', ''),
    'segments/beta.yaml':
      '# Customers who asked.\nsegment: beta\nenvironments:\n  staging: { keys: [qa-1] } # robots\n',
  };

  async function promoteSome(repository: ConfigRepository, ...words: readonly string[]) {
    const way = ['--from', 'staging', '--to', 'production'];
    return cliRun(['promote', ...words, ...way, repository.directory]);
  }

  it('takes along what they need, in one difference, and keeps comments', async () => {
    using repository = world(files);
    const run = await promoteSome(repository, '--tag', 'checkout', '--write');
    const validated = await cliRun(['validate', repository.directory]);

    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toContain(
      'taken along, because production lacks them: flag/base, segment/beta',
    );
    expect(validated.exitCode).toBe(0);
    for (const name of ['pay', 'cart', 'base']) {
      expect(read(repository, `flags/${name}.yaml`)).toContain('  production:\n');
    }
    expect(read(repository, 'flags/pay.yaml')).toContain('# as agreed');
    expect(read(repository, 'segments/beta.yaml')).toBe(
      '# Customers who asked.\nsegment: beta\nenvironments:\n  staging: { keys: [qa-1] } # robots\n  production: {}\n',
    );
    expect(read(repository, 'flags/other.yaml')).not.toContain('production');
    expect(await promoteSome(repository, '--tag', 'checkout')).toMatchObject({
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
      using repository = world(files);
      const { stdout } = await promoteSome(repository, ...words);

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
    using repository = world(files);
    const run = await promoteSome(repository, ...words, '--write');

    expect(run.exitCode).toBe(64);
    expect(run.stderr).toContain(refused);
    expect(run.stderr).toContain(why);
    expect(read(repository, 'flags/cart.yaml')).toBe(files['flags/cart.yaml']);
  });
});
