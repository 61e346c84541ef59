import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.js';

const CAN_KEEP = 'enableCompileCache' in module;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flagkeel-home-'));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

/** Folders that the program made below `home`, with its temporary ones. */
async function keptBy(environment: Readonly<Record<string, string>>): Promise<string[]> {
  const TMPDIR = join(home, 'tmp');
  mkdirSync(TMPDIR, { recursive: true });
  const env = { PATH: process.env['PATH'], TMPDIR, ...environment };
  const said = await promisify(execFile)(process.execPath, [MAIN, '--version'], { env });
  expect(said.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(said.stderr).toBe('');
  const candidates = ['.cache/flagkeel', 'elsewhere/flagkeel', 'tmp/node-compile-cache'];
  return candidates.filter((each) => existsSync(join(home, each)));
}

describe(`compiled code, which this Node ${CAN_KEEP ? 'can' : 'cannot'} keep`, () => {
  it("is kept in the user's own folder for such things, and taken from there", async () => {
    const HOME = home;

    expect(await keptBy({ HOME })).toEqual(CAN_KEEP ? ['.cache/flagkeel'] : []);
    expect(await keptBy({ HOME })).toEqual(CAN_KEEP ? ['.cache/flagkeel'] : []);
  });

  it('is kept where the user says that such things go', async () => {
    const there = { HOME: home, XDG_CACHE_HOME: join(home, 'elsewhere') };

    expect(await keptBy(there)).toEqual(CAN_KEEP ? ['elsewhere/flagkeel'] : []);
  });

  it('is kept in no folder that the working directory decides', async () => {
    const there = { HOME: home, XDG_CACHE_HOME: 'elsewhere' };

    expect(await keptBy(there)).toEqual(CAN_KEEP ? ['.cache/flagkeel'] : []);
  });

  it('is kept nowhere without a folder of the user, and not where others can write', async () => {
    expect(await keptBy({})).toEqual([]);
    expect(readdirSync(home)).toEqual(['tmp']);
  });

  it('is not kept, and nothing is said, where the folder cannot be made', async () => {
    writeFileSync(join(home, '.cache'), '');

    expect(await keptBy({ HOME: home })).toEqual([]);
  });
});
