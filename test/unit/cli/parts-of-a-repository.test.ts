import { describe, expect, it } from 'vitest';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun, useCommands } from '../../support/terminal.js';

const flag = (name: string): string => flagText(name, 10, { staging: '' });
const broken = (name: string): string => flag(name).replace('"on": 10', '"onn": 10');
const loose = (name: string): string => flag(name).replace('"on": ""', 'on: ""');
const testText = (name: string, treatment: string): string =>
  `tests: ${name}\ncases: [{ name: all, environment: staging, at: 1, expect: "${treatment}" }]\n`;

const world = useCommands({
  'flagkeel.yaml': STAGING_CONFIG,
  'flags/pay/pay.yaml': flag('pay'),
  'flags/ship.yaml': flag('ship'),
});
const { write, at, text } = world;

describe('a part of a config repository', () => {
  it.each([
    ['flags/pay/pay.yaml', 'a wrong file', broken('pay'), ['flags/pay/pay.yaml']],
    ['flags/pay', 'a folder', broken('pay'), ['flags/pay/pay.yaml']],
    ['flags/pay/pay.yaml', 'a right file', flag('pay'), []],
  ])(
    'that is wrong: validate %s, %s, shows its problems and calls all of it invalid',
    async (path, _, pay, files) => {
      write({ 'flags/pay/pay.yaml': pay, 'flags/ship.yaml': broken('ship') });

      const { exitCode, stdout, stderr } = await cliRun(['validate', at(path)]);

      const named = [...stdout.matchAll(/^(\S+\.yaml):\d+:\d+: error/gm)].map(([, file]) => file);
      expect({ exitCode, named }).toEqual({ exitCode: 3, named: files });
      expect(stderr).toContain('1 error in other files, which keep all of it from being valid\n');
    },
  );

  it('is formatted alone, and its tests run alone, where it has some', async () => {
    const files = { 'flags/ship.yaml': loose('ship'), 'kills/staging.yaml': 'kills: {  }\n' };
    write({
      'flags/pay/pay.yaml': loose('pay'),
      ...files,
      'tests/pay.test.yaml': testText('pay', 'on'),
      'tests/ship.test.yaml': testText('ship', 'off'),
    });
    const run = async (command: string, path: string) => cliRun([command, at(path), '--quiet']);

    expect(await run('test', 'tests/pay.test.yaml')).toEqual({
      ...{ exitCode: 0, stderr: '', stdout: '1 passed, 0 failed\n' },
    });
    expect((await run('test', 'flags/ship.yaml')).stdout).toContain('1 passed, 1 failed\n');
    expect((await run('fmt', 'flags/pay/pay.yaml')).stdout).toBe('flags/pay/pay.yaml\n');
    expect(Object.keys(files).map(text)).toEqual(Object.values(files));
  });

  it('is not applied if it is a file, and stands for all of the repository if it is a folder', async () => {
    const file = await cliRun(['reconcile', '--embedded', at('flags/ship.yaml')]);
    write({ 'flags/ship.yaml': broken('ship') });
    const folder = await cliRun(['plan', '--embedded', '--allow-dirty', at('flags/pay')]);

    expect([file.exitCode, folder.exitCode]).toEqual([64, 3]);
    expect(file.stderr).toContain('cannot apply flags/ship.yaml by itself');
    expect(folder.stderr).toMatch(
      /warning: flags\/pay is a part of \S+, which is planned as a whole/,
    );
  });

  it.each([
    ['a git repository of its own', 'flags/pay', 'git init --quiet flags/pay'],
    ['no git repository', 'flags', 'rm -r .git'],
  ])('is none in %s', async (_, path, script) => {
    world.repository.shell(script);

    const { exitCode, stdout } = await cliRun(['validate', at(path)]);

    expect(exitCode).toBe(3);
    expect(stdout).toContain('flagkeel.yaml');
  });
});
