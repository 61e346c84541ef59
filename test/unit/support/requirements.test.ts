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

function install(name: string, { mode = 0o755, folder = directory } = {}): void {
  writeFileSync(join(folder, name), '#!/bin/sh\n', { mode });
}

describe('a program that tests need', () => {
  it('is found under any of its names, where the distribution puts it before PATH, if it can be run', () => {
    install('google-chrome');
    install('sshd');
    install('initdb', { mode: 0o644 });
    const elsewhere = makeDirectory();
    install('sshd', { folder: elsewhere });

    expect(findProgram('chromium', surroundings())).toBe(join(directory, 'google-chrome'));
    const sshd = findProgram('sshd', { ...surroundings(), places: [elsewhere] });
    expect(sshd).toBe(join(elsewhere, 'sshd'));
    expect(findProgram('postgresql', surroundings())).toBeNull();
  });

  it('skips the tests with one line that names it and its package, or fails them where none may be skipped', () => {
    const missing = 'sshd is not installed (apt-get install openssh-server)';
    const all = surroundings({ FLAGKEEL_TEST_ALL: '1' });

    expect(lacks('sshd', surroundings())).toBe(true);
    expect(lines).toEqual([`tests are skipped: ${missing}\n`]);
    expect(() => lacks('sshd', all)).toThrow(`${missing}, and FLAGKEEL_TEST_ALL=1`);
    install('sshd');
    expect([lacks('sshd', surroundings()), lacks('sshd', all)]).toEqual([false, false]);
    expect(lines).toHaveLength(1);
  });
});
