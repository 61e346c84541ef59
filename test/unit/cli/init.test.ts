import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

let directory: string;
beforeEach(() => {
  directory = makeDirectory();
});

const isThere = (path: string): boolean => existsSync(join(directory, path));
const read = (path: string): string => readFileSync(join(directory, path), 'utf8');

describe('init', () => {
  it.each([
    [
      [],
      {
        validate: /^valid: 1 flag, 0 segments, 2 environments\n$/,
        test: /^1 passed, 0 failed\n$/,
        plan: /^Plan: 3 to create.*\n$/,
      },
      'flags/example-banner.yaml',
    ],
    [
      ['--example'],
      { validate: /^valid: /, test: / 0 failed\n$/, plan: /^Plan: /, reconcile: /In sync: 42 obj/ },
      'flags/checkout/new-checkout.yaml',
    ],
  ])(
    '%j: every command that it prints works, and editors find the schemas',
    async (options, said, flag) => {
      const { stdout } = await cliRun(['init', ...options, directory]);
      const commands = [...stdout.matchAll(/^ {2}flagkeel (.+)$/gm)].map(([, line = '']) => line);

      expect(commands.map((line) => line.split(' ')[0])).toEqual(Object.keys(said));
      for (const [at, text] of Object.values(said).entries()) {
        const run = await cliRun([...(commands[at]?.split(' ') ?? []), '--quiet']);
        expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(text) as string });
        expect(run.stderr).toBe('');
      }
      expect((await cliRun(['fmt', '--check', directory])).stdout).toBe('');
      for (const path of ['flagkeel.yaml', flag, 'kills/production.yaml']) {
        const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(read(path))?.[1] ?? '-';
        expect(isThere(join(dirname(path), schema)), path).toBe(true);
      }
    },
  );

  it('writes nothing where the name of the directory is empty, or no folder can be made', async () => {
    const unnamed = await cliRun(['init', '']);
    expect(unnamed).toMatchObject({ exitCode: 64, stdout: '' });
    writeFileSync(join(directory, 'file'), '');
    const places = [join(directory, 'file', 'a', 'b')];
    if (process.platform === 'linux') places.push('/proc/x/y');
    for (const place of places) {
      const { exitCode, stderr } = await cliRun(['init', place]);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`cannot write ${place}/`)]);
    }
  });

  it('takes names of the workspace, of environments and of the traffic type', async () => {
    const args = ['--workspace', 'Shop: main', '--traffic-type', 'account'];
    await cliRun(['init', directory, ...args, '--environment', 'test', '--environment', 'on']);

    expect(read('flagkeel.yaml')).toContain(`workspace: "Shop: main"
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
    expect(read('flagkeel.yaml')).toBe('workspace: Mine\n');
  });

  it('writes no workflows unasked, nor below the top of a repository, where no forge reads them', async () => {
    const unasked = await cliRun(['init', directory, '--no-workflows']);
    mkdirSync(join(directory, '.git'));
    const below = await cliRun(['init', join(directory, 'shop')]);

    expect(unasked.stdout).not.toContain('workflows');
    expect(isThere('shop/flagkeel.yaml')).toBe(true);
    expect(['.github', 'shop/.github'].filter(isThere)).toEqual([]);
    expect(below.stderr).toContain('no workflows are written: a forge reads them at the top');
  });

  it.each([
    [['--environment', '../../live'], 64, /a file is named like it/],
    [['--example', '--workspace', 'x'], 64, /cannot be used with/],
    [[], 1, /^cannot write .*example-banner\.yaml: /],
  ])('refuses what cannot be written: %j', async (options, exitCode, why) => {
    writeFileSync(join(directory, 'flags'), '');

    const run = await cliRun(['init', directory, ...options]);

    expect(run).toMatchObject({ exitCode, stderr: expect.stringMatching(why) as string });
    expect(isThere('flagkeel.yaml')).toBe(exitCode === 1);
  });
});
