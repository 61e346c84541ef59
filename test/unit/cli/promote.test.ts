import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../support/config-repository.js';
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
  it('shows the difference, and writes nothing unasked', async () => {
    using repository = world();

    const run = await promote(repository);

    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain('nothing is written (add --write)');
    expect(read(repository)).toBe(PAY);
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

  it('takes rules along, and keeps sizes, targets, kills and comments', async () => {
    using repository = world();

    await promote(repository, '--write');
    const again = await promote(repository, '--write');

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
    expect(again.stdout).toBe('no difference\n');
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

  it('starts a flag that is new there with the default treatment for everybody', async () => {
    const text = PAY.slice(0, PAY.indexOf('  production:'));
    using repository = world({ 'flags/pay.yaml': text });

    await promote(repository, '--write');

    expect(production(repository)).toBe(`  production:
    rules:
      - name: new colleagues
        if: { segment: staff }
        serve: "on"
      - if: { attribute: country, in: [ES] }
        serve: { "on": 50, "off": rest }
    defaultRule: "off"
`);
  });

  it('writes into the file that the environment has by itself', async () => {
    const text = PAY.slice(0, PAY.indexOf('  production:'));
    using repository = world({
      'flags/pay.yaml': text,
      'flags/pay@production.yaml':
        '# Owned by operations.\nflag: pay\nenvironment: production\ndefaultRule: "off"\n',
    });

    await promote(repository, '--percentages', '--write');

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

  it('writes nothing where a rule names what the environment has not', async () => {
    using repository = world({
      'segments/staff.yaml': 'segment: staff\nenvironments: { staging: { keys: [ana] } }\n',
    });

    const run = await promote(repository, '--write');

    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('segment-not-in-environment');
    expect(read(repository)).toBe(PAY);
  });

  it.each([
    [['promote', 'flag/payy', '--from', 'staging', '--to', 'production'], 'did you mean "pay"?'],
    [['promote', 'flag/pay', '--from', 'stagin', '--to', 'production'], 'did you mean "staging"?'],
    [['promote', 'flag/pay', '--from', 'staging', '--to', 'staging'], 'are the same'],
    [['promote', 'flag/pay', '--from', 'staging'], '--to'],
  ])('is a wrong command line: %j', async (args, expected) => {
    using repository = world();

    const run = await cliRun([...args, repository.directory]);

    expect(run.exitCode).toBe(64);
    expect(run.stderr).toContain(expected);
  });
});
