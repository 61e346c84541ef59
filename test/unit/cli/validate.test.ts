import { describe, expect, it } from 'vitest';
import { STAGING_CONFIG, flagText } from '../../support/spec-texts.js';
import { cliRun, useCommands, type CliRun } from '../../support/terminal.js';

describe('validate', () => {
  /** Specs in a folder, of which one file lies beside them and one rule is broken. */
  const world = useCommands({
    'specs/flags/pay.yaml': flagText('pay', 10, { staging: '' }),
    'specs/segments/staff.yaml':
      'segment: staff\ntrafficType: user\nenvironments: { staging: { keys: [u1] } }\n',
    'specs/flag/cart.yaml': flagText('cart', 10, { staging: '' }),
  });
  const { write, at } = world;
  const validate = async (level: string, ...options: readonly string[]): Promise<CliRun> => {
    const lint = `lint: { levels: { unused-segment: ${level} } }\n`;
    write({ 'specs/flagkeel.yaml': STAGING_CONFIG + lint });
    return cliRun(['validate', ...options, at('specs')]);
  };

  it('prints what lint finds and is content with warnings, or annotates lines as seen from the top of the repository', async () => {
    expect(await validate('warning', '--quiet')).toEqual({
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
    expect((await validate('warning', '--format', 'github')).stdout).toBe(
      `::warning file=specs/flag/cart.yaml,line=1,col=1,title=stray-file::the file looks like a spec and is not read: flags lie in flags/
::warning file=specs/segments/staff.yaml,line=1,col=10,title=unused-segment::no rule of this repository names segment "staff"
`,
    );
  });

  it('says that it reads the files on disk before the first commit, and later in which files they differ', async () => {
    const onDisk = 'warning: nothing is committed yet: reading the files as they are on disk\n';
    expect((await validate('off')).stderr).toBe(onDisk);
    world.repository.commit('one', {});
    expect((await validate('warning')).stderr).toMatch(
      /differs from commit [0-9a-f]{8} in flagkeel\.yaml\n/,
    );
  });

  it('shows the characters of a file name that a terminal or a runner would obey, also where it warns of local changes', async () => {
    world.repository.commit('one', {});
    write({ 'specs/flags/a\u001B[31m\u202E\n::stop-commands::x.yaml': 'flag: a\n' });
    const { stderr } = await validate('off');
    expect(stderr).toContain('flags/a<U+001B>[31m<U+202E> ::stop-commands::x.yaml');
    expect(stderr).not.toMatch(/[\u001B\u202E]|^::/m);
  });

  it('ends with 3 where a rule of level error found something, and prints it as SARIF and as JUnit', async () => {
    const text = await validate('error');
    const sarif = await validate('error', '--format', 'sarif');
    const junit = await validate('error', '--format', 'junit');

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

  it('says that a directory cannot be read', async () => {
    const run = await cliRun(['validate', '--format', 'github', at('nowhere')]);

    expect(run.exitCode).not.toBe(0);
    expect(run.stdout).toMatch(/^::error title=unreadable::/);
  });
});

describe('what validate asks of commits', () => {
  const world = useCommands();
  const { write, at } = world;
  const flag = (name: string, on: number, more = ''): string =>
    flagText(name, on, { production: '' }) + more;

  function configure(lint: string): void {
    const config = `workspace: Shop\nenvironments: { production: {} }\nlint: ${lint}\n`;
    write({ 'flagkeel.yaml': config });
  }

  async function found(): Promise<string[]> {
    const { stdout } = await world.run('validate');
    return stdout.split('\n').filter((line) => /\[[a-z-]+\] /.test(line));
  }

  it('are the names of flags that were removed, which no other may bear unless it says why', async () => {
    const { repository } = world;
    configure('{ reserveNames: true }');
    const names = ['reused', 'reverted', 'moved', 'unborn'];
    write(Object.fromEntries(names.map((name) => [`flags/${name}.yaml`, flag(name, 10)])));
    repository.commit('Add four flags');
    for (const name of ['reused', 'reverted', 'unborn']) repository.remove(`flags/${name}.yaml`);
    repository.move('flags/moved.yaml', 'flags/shop/moved.yaml');
    const date = 'GIT_COMMITTER_DATE=2026-03-01T12:00:00Z';
    repository.shell(`git add --all && ${date} git commit -qm "Remove three"`);
    write({
      'flags/shop/reused.yaml': flag('reused', 20),
      'flags/reverted.yaml': flag('reverted', 10),
    });
    repository.commit('Add two');
    write({ 'flags/unborn.yaml': flag('unborn', 30) });

    const error = (name: string): string =>
      `error[name-reused] another flag "${name}" was removed on 2026-03-01`;
    expect(await found()).toEqual([
      `flags/shop/reused.yaml:1:7: ${error('reused')}`,
      `flags/unborn.yaml:1:7: ${error('unborn')}`,
    ]);
    const why = 'allow: name-reused # the checkout of 2026 again\n';
    write({
      'flags/shop/reused.yaml': flag('reused', 20, why),
      'flags/unborn.yaml': flag('unborn', 30, why),
    });
    expect(await world.run('validate')).toMatchObject({ exitCode: 0 });
  });

  it('is the order of treatments in HEAD where files differ from it, and otherwise in the commit before', async () => {
    const { repository } = world;
    configure('{ levels: { treatments-reordered: error } }');
    const pay = (order: string) => ({
      'flags/pay.yaml': flag('pay', 10).replace('{ "on": 10, "off": rest }', `[${order}]`),
    });
    write(pay('{ "on": 10 }, { "off": 90 }'));
    repository.commit('Add pay');
    expect(await found()).toEqual([]);

    const error = [
      'flags/pay.yaml:6:30: error[treatments-reordered] keys change their treatment: the last commit has the order "on", "off", and this is "off", "on"',
    ];
    write(pay('{ "off": 90 }, { "on": 10 }'));
    expect(await found()).toEqual(error);
    repository.commit('Turn pay round');
    expect(await found()).toEqual(error);

    repository.shell('git clone -q --depth 1 "file://$PWD" shallow');
    expect(await cliRun(['validate', at('shallow')])).toMatchObject({ exitCode: 0 });
    repository.remove('shallow');
    write({ 'README.md': 'Flags of the shop.\n' });
    repository.commit('Add a page');
    expect(await found()).toEqual([]);
  });
});
