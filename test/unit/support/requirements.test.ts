import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from '../../support/git.js';
import { findProgram, lacks, type Surroundings } from '../../support/requirements.js';

let directory: string;
let lines: string[];

beforeEach(() => {
  directory = makeDirectory();
  lines = [];
});

function surroundings(extra: Record<string, string> = {}): Surroundings {
  return {
    environment: { PATH: directory, ...extra },
    places: [],
    write: (line) => lines.push(line),
  };
}

function install(name: string, mode = 0o755): void {
  writeFileSync(join(directory, name), '#!/bin/sh\n', { mode });
}

describe('a program that tests need', () => {
  it('is found in PATH, and nothing is said', () => {
    install('initdb');
    expect(lacks('postgresql', surroundings())).toBe(false);
    expect(lines).toEqual([]);
  });

  it('is found where the distribution puts it, before PATH', () => {
    install('sshd');
    const elsewhere = makeDirectory();
    writeFileSync(join(elsewhere, 'sshd'), '#!/bin/sh\n', { mode: 0o755 });
    expect(findProgram('sshd', { ...surroundings(), places: [elsewhere] })).toBe(
      join(elsewhere, 'sshd'),
    );
  });

  it('is found under any of its names', () => {
    install('google-chrome');
    expect(findProgram('chromium', surroundings())).toBe(join(directory, 'google-chrome'));
  });

  it('is not there when a file of its name cannot be run', () => {
    install('initdb', 0o644);
    expect(findProgram('postgresql', surroundings())).toBeNull();
  });

  it('skips the tests with one line that names it and its package', () => {
    expect(lacks('sshd', surroundings())).toBe(true);
    expect(lines).toEqual([
      'tests are skipped: sshd is not installed (apt-get install openssh-server)\n',
    ]);
  });

  it('fails the tests where none may be skipped', () => {
    expect(() => lacks('sshd', surroundings({ FLAGKEEL_TEST_ALL: '1' }))).toThrow(
      'sshd is not installed (apt-get install openssh-server), and FLAGKEEL_TEST_ALL=1',
    );
    install('sshd');
    expect(lacks('sshd', surroundings({ FLAGKEEL_TEST_ALL: '1' }))).toBe(false);
  });
});
