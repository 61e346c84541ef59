import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliRun } from '../../support/terminal.js';

const CONFIG = 'workspace: Default\nenvironments: { production: {} }\n';
const flagText = (name: string, treatment = 'on'): string => `flag: ${name}
description: Holds one thing.
owner: team
trafficType: user
treatments: { "on": Shown, "off": Hidden }
defaultTreatment: "off"
environments:
  production:
    defaultRule: "${treatment}"
`;
const testText = (flag: string, treatment: string): string => `tests: ${flag}
cases:
  - name: somebody of ${flag}
    environment: production
    expect: { "${treatment}": 100 }
`;

let top: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'flagkeel-parts-')));
  execFileSync('git', ['init', '--quiet', top]);
});
afterEach(() => {
  rmSync(top, { recursive: true, force: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }
}

describe('validate of a part of a config repository', () => {
  beforeEach(() => {
    write({
      'flagkeel.yaml': CONFIG,
      'flags/pay/pay.yaml': flagText('pay', 'onn'),
      'flags/ship.yaml': flagText('ship', 'offf'),
    });
  });

  it('shows the problems of a file, and says that there are others', async () => {
    const run = await cliRun(['validate', join(top, 'flags/pay/pay.yaml')]);

    expect(run.exitCode).toBe(3);
    expect(run.stdout).toContain('flags/pay/pay.yaml:9:');
    expect(run.stdout).not.toContain('ship.yaml');
    expect(run.stderr).toContain('1 error in other files, which keep all of it from being valid\n');
  });

  it('shows the problems of a folder', async () => {
    const run = await cliRun(['validate', join(top, 'flags/pay'), '--quiet']);

    expect(run.stdout).toContain('flags/pay/pay.yaml:9:');
    expect(run.stdout).not.toContain('ship.yaml');
  });

  it('does not call a right file valid while its repository is not', async () => {
    write({ 'flags/pay/pay.yaml': flagText('pay') });

    const run = await cliRun(['validate', join(top, 'flags/pay/pay.yaml')]);

    expect({ exitCode: run.exitCode, stdout: run.stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(run.stderr).toContain('1 error in other files');
  });
});

describe('other commands on a part of a config repository', () => {
  it('formats the file that is named and no other', async () => {
    const text = 'kills:\n  b: { reason: no }\n';
    write({
      'flagkeel.yaml': CONFIG,
      'flags/pay.yaml': flagText('pay').replace('"on": Shown', 'on: Shown'),
      'flags/ship.yaml': flagText('ship').replace('"on": Shown', 'on: Shown'),
      'kills/production.yaml': text,
    });

    const run = await cliRun(['fmt', join(top, 'flags/pay.yaml')]);

    expect(run.stdout).toBe('flags/pay.yaml\n');
    expect(readFileSync(join(top, 'flags/ship.yaml'), 'utf8')).toContain('{ on: Shown');
    expect(readFileSync(join(top, 'kills/production.yaml'), 'utf8')).toBe(text);
  });

  it('runs the tests of the file that is named, and all of them where a spec is', async () => {
    write({
      'flagkeel.yaml': CONFIG,
      'flags/pay.yaml': flagText('pay'),
      'flags/ship.yaml': flagText('ship'),
      'tests/pay.test.yaml': testText('pay', 'on'),
      'tests/ship.test.yaml': testText('ship', 'off'),
    });

    const one = await cliRun(['test', join(top, 'tests/pay.test.yaml')]);
    const all = await cliRun(['test', join(top, 'flags/pay.yaml')]);

    expect({ exitCode: one.exitCode, stdout: one.stdout }).toEqual({
      exitCode: 0,
      stdout: '1 passed, 0 failed\n',
    });
    expect(all.stdout).toContain('1 passed, 1 failed\n');
  });

  it('applies nothing where a file is named, since it would be more than that', async () => {
    write({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': flagText('pay') });

    const run = await cliRun(['reconcile', '--embedded', join(top, 'flags/pay.yaml')]);

    expect(run.exitCode).toBe(64);
    expect(run.stderr).toContain('cannot apply flags/pay.yaml by itself');
  });

  it('plans all of the repository where a folder is named, and says so', async () => {
    write({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': flagText('pay', 'onn') });

    const run = await cliRun(['plan', '--embedded', '--allow-dirty', join(top, 'flags')]);

    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain(`warning: flags is a part of ${top}, which is planned as a whole`);
  });
});

describe('a folder that belongs to no config repository', () => {
  it('is not taken for a part of one above its git repository', async () => {
    write({ 'flagkeel.yaml': CONFIG, 'inner/flags/pay.yaml': flagText('pay') });
    execFileSync('git', ['init', '--quiet', join(top, 'inner')]);

    const run = await cliRun(['validate', join(top, 'inner/flags')]);

    expect(run.exitCode).toBe(3);
    expect(run.stdout).toContain('flagkeel.yaml');
  });

  it('is not taken for a part of one where there is no git', async () => {
    write({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': flagText('pay') });
    rmSync(join(top, '.git'), { recursive: true });

    const run = await cliRun(['validate', join(top, 'flags')]);

    expect(run.exitCode).toBe(3);
  });
});
