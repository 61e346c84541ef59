import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';

const flag = (name: string): string => flagText(name, 10, { staging: '' });
const broken = (name: string): string => flag(name).replace('"on": 10', '"onn": 10');
const loose = (name: string): string => flag(name).replace('"on": ""', 'on: ""');
const testText = (name: string, treatment: string): string =>
  `tests: ${name}\ncases: [{ name: all, environment: staging, at: 1, expect: "${treatment}" }]\n`;

let repository: ConfigRepository;
beforeEach(() => {
  repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml': STAGING_CONFIG,
    'flags/pay/pay.yaml': flag('pay'),
    'flags/ship.yaml': flag('ship'),
  });
});
afterEach(() => {
  repository[Symbol.dispose]();
});

const at = (path: string): string => join(repository.directory, path);

describe('validate of a part of a config repository', () => {
  it.each([
    ['flags/pay/pay.yaml', 'a wrong file', broken('pay'), ['flags/pay/pay.yaml']],
    ['flags/pay', 'a folder', broken('pay'), ['flags/pay/pay.yaml']],
    ['flags/pay/pay.yaml', 'a right file', flag('pay'), []],
  ])('shows the problems of %s, %s, and calls all of it invalid', async (path, _, pay, files) => {
    repository.write({ 'flags/pay/pay.yaml': pay, 'flags/ship.yaml': broken('ship') });

    const { exitCode, stdout, stderr } = await cliRun(['validate', at(path)]);

    const named = [...stdout.matchAll(/^(\S+\.yaml):\d+:\d+: error/gm)].map(([, file]) => file);
    expect({ exitCode, named }).toEqual({ exitCode: 3, named: files });
    expect(stderr).toContain('1 error in other files, which keep all of it from being valid\n');
  });
});

describe('other commands on a part of a config repository', () => {
  it('formats the file that is named and no other', async () => {
    const files = { 'flags/ship.yaml': loose('ship'), 'kills/staging.yaml': 'kills: {  }\n' };
    repository.write({ 'flags/pay/pay.yaml': loose('pay'), ...files });

    const { stdout } = await cliRun(['fmt', at('flags/pay/pay.yaml')]);

    expect(stdout).toBe('flags/pay/pay.yaml\n');
    for (const [path, text] of Object.entries(files)) {
      expect(readFileSync(at(path), 'utf8')).toBe(text);
    }
  });

  it('runs the tests of the file that is named, and all of them where a spec is', async () => {
    repository.write({
      'tests/pay.test.yaml': testText('pay', 'on'),
      'tests/ship.test.yaml': testText('ship', 'off'),
    });

    expect(await cliRun(['test', at('tests/pay.test.yaml'), '--quiet'])).toEqual({
      ...{ exitCode: 0, stderr: '', stdout: '1 passed, 0 failed\n' },
    });
    const all = await cliRun(['test', at('flags/ship.yaml')]);
    expect(all.stdout).toContain('1 passed, 1 failed\n');
  });

  it('applies no file by itself, and plans all of a repository of which a folder is named', async () => {
    const file = await cliRun(['reconcile', '--embedded', at('flags/ship.yaml')]);
    repository.write({ 'flags/ship.yaml': broken('ship') });
    const folder = await cliRun(['plan', '--embedded', '--allow-dirty', at('flags/pay')]);

    expect(file.exitCode).toBe(64);
    expect(file.stderr).toContain('cannot apply flags/ship.yaml by itself');
    expect(folder.exitCode).toBe(3);
    expect(folder.stderr).toMatch(
      /warning: flags\/pay is a part of \S+, which is planned as a whole/,
    );
  });
});

describe('a folder that belongs to no config repository', () => {
  it.each([
    [
      'a git repository of its own',
      'flags/pay',
      () => repository.shell('git init --quiet flags/pay'),
    ],
    [
      'none',
      'flags',
      () => {
        rmSync(at('.git'), { recursive: true });
      },
    ],
  ])('is no part of one above it: it lies in %s', async (_, path, prepare) => {
    prepare();

    const { exitCode, stdout } = await cliRun(['validate', at(path)]);

    expect(exitCode).toBe(3);
    expect(stdout).toContain('flagkeel.yaml');
  });
});
