import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { STAGING_CONFIG, flagText } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';

/** A repository whose specs lie in a folder; one file lies beside them, and one rule is broken. */
function world(level = 'warning'): ConfigRepository {
  const repository = new ConfigRepository();
  repository.write({
    'specs/flagkeel.yaml': `${STAGING_CONFIG}lint: { levels: { unused-segment: ${level} } }\n`,
    'specs/flags/pay.yaml': flagText('pay', 10, { staging: '' }),
    'specs/segments/staff.yaml':
      'segment: staff\ntrafficType: user\nenvironments: { staging: { keys: [u1] } }\n',
    'specs/flag/cart.yaml': flagText('cart', 10, { staging: '' }),
  });
  return repository;
}

describe('validate', () => {
  it('prints what lint finds, and is content with warnings', async () => {
    using repository = world();

    const run = await cliRun(['validate', '--quiet', join(repository.directory, 'specs')]);

    expect(run).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: `flag/cart.yaml:1:1: warning[stray-file] the file looks like a spec and is not read: flags lie in flags/

segments/staff.yaml:1:10: warning[unused-segment] no rule of this repository names segment "staff"
  1 | segment: staff
    |          ^^^^^

2 warnings in 2 files; more by \`flagkeel explain stray-file\`
valid: 1 flag, 1 segment, 1 environment
`,
    });
  });

  it('annotates lines as GitHub sees them, from the top of the repository', async () => {
    using repository = world();
    const specs = join(repository.directory, 'specs');

    const run = await cliRun(['validate', '--format', 'github', specs]);

    expect(run.stdout).toBe(
      `::warning file=specs/flag/cart.yaml,line=1,col=1,title=stray-file::the file looks like a spec and is not read: flags lie in flags/
::warning file=specs/segments/staff.yaml,line=1,col=10,title=unused-segment::no rule of this repository names segment "staff"
`,
    );
  });

  it('ends with 3 where a rule of level error found something, and prints it as SARIF and as JUnit', async () => {
    using repository = world('error');
    const specs = join(repository.directory, 'specs');

    const text = await cliRun(['validate', specs]);
    const sarif = await cliRun(['validate', '--format', 'sarif', specs]);
    const junit = await cliRun(['validate', '--format', 'junit', specs]);

    expect(text.stdout).not.toContain('valid:');
    expect([text, sarif, junit].map(({ exitCode }) => exitCode)).toEqual([3, 3, 3]);
    const results = [
      { ruleId: 'unused-segment', level: 'error' },
      { ruleId: 'stray-file', level: 'warning' },
    ];
    expect(JSON.parse(sarif.stdout)).toMatchObject({ runs: [{ results }] });
    expect(junit.stdout).toContain('<testsuites tests="2" failures="1">');
    expect(junit.stdout).toContain('<failure type="unused-segment"');
  });

  it('says in every format that a directory cannot be read', async () => {
    using repository = world();
    const nowhere = join(repository.directory, 'nowhere');

    const run = await cliRun(['validate', '--format', 'github', nowhere]);

    expect(run.exitCode).not.toBe(0);
    expect(run.stdout).toMatch(/^::error title=unreadable::/);
  });
});
