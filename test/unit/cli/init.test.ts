import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliRun } from '../../support/terminal.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'flagkeel-init-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** The commands that a run printed, as they stand there. */
function printedCommands(stdout: string): string[][] {
  const lines = [...stdout.matchAll(/^ {2}flagkeel (.+)$/gm)];
  return lines.map(([, words = '']) => words.split(' '));
}

describe('init', () => {
  it('writes a repository of which nothing is wrong, and every command that it prints works', async () => {
    const run = await cliRun(['init', directory]);
    const commands = printedCommands(run.stdout);
    const results = [];
    for (const words of commands) results.push(await cliRun([...words, '--quiet']));

    expect(commands.map(([name]) => name)).toEqual(['validate', 'test', 'plan']);
    expect(results.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      commands.map(() => ({ exitCode: 0, stderr: '' })),
    );
    expect(results[0]?.stdout).toBe('valid: 1 flag, 0 segments, 2 environments\n');
    expect(results[1]?.stdout).toBe('1 passed, 0 failed\n');
    expect(results[2]?.stdout).toMatch(/^Plan: 3 to create.*\n$/);
    expect((await cliRun(['fmt', '--check', directory])).stdout).toBe('');
  });

  it('writes the flags of a shop to try everything on, where the package alone is at hand', async () => {
    const run = await cliRun(['init', '--example', directory]);
    const commands = printedCommands(run.stdout);
    const results = [];
    for (const words of commands) results.push(await cliRun([...words, '--quiet']));

    expect(commands.map(([name]) => name)).toEqual(['validate', 'test', 'plan', 'reconcile']);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(results[3]?.stdout).toContain('In sync: 42 objects equal.');
    expect(existsSync(join(directory, '.flagkeel', 'service'))).toBe(true);
    const kills = readFileSync(join(directory, 'kills/production.yaml'), 'utf8');
    expect(kills).toContain('$schema=../schemas/kills.schema.json');
    expect(existsSync(join(directory, 'schemas/kills.schema.json'))).toBe(true);
    expect((await cliRun(['init', '--example', '--workspace', 'x', directory])).exitCode).toBe(64);
  });

  it('names schemas that are there from where each file stands', async () => {
    await cliRun(['init', directory]);

    const headed = [
      'flagkeel.yaml',
      'flags/example-banner.yaml',
      'tests/example-banner.test.yaml',
      'kills/production.yaml',
    ];
    const missing = headed.filter((path) => {
      const text = readFileSync(join(directory, path), 'utf8');
      const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1];
      return schema === undefined || !existsSync(join(directory, dirname(path), schema));
    });
    expect(missing).toEqual([]);
  });

  it('takes names of the workspace, of environments and of the traffic type', async () => {
    const args = ['--workspace', 'Shop: main', '--traffic-type', 'account'];
    await cliRun(['init', directory, ...args, '--environment', 'test', '--environment', 'on']);

    expect(readFileSync(join(directory, 'flagkeel.yaml'), 'utf8'))
      .toContain(`workspace: "Shop: main"
environments:
  test: {}
  "on":
    protected: true
defaults:
  trafficType: account
`);
    expect((await cliRun(['validate', directory])).exitCode).toBe(0);
    expect((await cliRun(['test', directory])).exitCode).toBe(0);
  });

  it('keeps what is there, and says so', async () => {
    writeFileSync(join(directory, 'flagkeel.yaml'), 'workspace: Mine\n');

    const first = await cliRun(['init', directory]);
    const second = await cliRun(['init', directory]);

    expect(first.stdout).toContain('kept  flagkeel.yaml\nwrote flags/example-banner.yaml\n');
    expect(second.stdout).not.toContain('wrote');
    expect(readFileSync(join(directory, 'flagkeel.yaml'), 'utf8')).toBe('workspace: Mine\n');
  });

  it('writes the workflows that the documents show, and says what they need', async () => {
    const run = await cliRun(['init', directory]);

    const shown = join(import.meta.dirname, '../../../workflows');
    const written = join(directory, '.github/workflows');
    expect(readdirSync(written)).toEqual([
      'flagkeel-apply.yml',
      'flagkeel-approve.yml',
      'flagkeel-drift.yml',
      'flagkeel-kill.yml',
      'flagkeel-review.yml',
    ]);
    for (const name of readdirSync(written)) {
      expect(readFileSync(join(written, name), 'utf8')).toBe(
        readFileSync(join(shown, name), 'utf8'),
      );
    }
    expect(run.stdout).toContain(
      'set the variable `FLAGKEEL_URL` of the repository, and a secret `FLAGKEEL_API_KEY`',
    );
  });

  it('writes no workflows where nobody wants them', async () => {
    const run = await cliRun(['init', directory, '--no-workflows']);

    expect(existsSync(join(directory, '.github'))).toBe(false);
    expect(run.stdout).not.toContain('workflows');
  });

  it('writes no workflows below the top of a repository, where GitHub would not read them', async () => {
    mkdirSync(join(directory, '.git'));

    const run = await cliRun(['init', join(directory, 'flags-of-shop')]);

    expect(existsSync(join(directory, 'flags-of-shop/flagkeel.yaml'))).toBe(true);
    expect(existsSync(join(directory, 'flags-of-shop/.github'))).toBe(false);
    expect(run.stderr).toContain('no workflows are written: a forge reads them at the top');
  });

  it('refuses an environment that would lead its files elsewhere', async () => {
    const run = await cliRun(['init', directory, '--environment', '../../live']);

    expect(run.exitCode).toBe(64);
    expect(existsSync(join(directory, 'flagkeel.yaml'))).toBe(false);
  });

  it('says where it cannot write', async () => {
    writeFileSync(join(directory, 'flags'), '');

    const run = await cliRun(['init', directory]);

    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(/^cannot write .*example-banner\.yaml: /);
  });
});
