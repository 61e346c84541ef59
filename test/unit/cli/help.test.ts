import { describe, expect, it } from 'vitest';
import { SELDOM } from '../../../src/cli/command.js';
import { COMMANDS } from '../../../src/cli/command-table.js';
import { cliRun } from '../../support/terminal.js';
import { commandNames, optionsOf } from '../packaging/help.js';

const NAMES = Object.keys(COMMANDS);

async function helpRows(...words: readonly string[]): Promise<string[]> {
  const { stdout } = await cliRun([...words, '--help']);
  return stdout.trimEnd().split('\n');
}

describe.each([[], ...NAMES.map((name) => [name])])('the help of flagkeel %s', (...words) => {
  it('fits on a screen of 40 rows, shows examples first, and says how to get the rest', async () => {
    const rows = await helpRows(...words);
    const whole = await helpRows(...words, '--all');

    expect(rows.length).toBeLessThanOrEqual(40);
    const command = ['flagkeel', ...words, '--help', '--all'].join(' ');
    if (rows.length < whole.length - 3)
      expect(rows.at(-1)).toMatch(new RegExp(`^\\d+ more with: ${command}$`));
    expect(whole.join('\n')).not.toContain('more with:');
    const example = rows.findIndex((row) => /^Examples?:$/.test(row));
    // `state` alone is nothing that could be run.
    expect(example > 0).toBe(words[0] !== 'state');
    expect(example).toBeLessThan(rows.findIndex((row) => /^ {2}-/.test(row)));
  });
});

it('lists every option and command of the program with --all, and leaves out only what exists', async () => {
  const options = await Promise.all(NAMES.map(optionsOf));

  expect(new Set(await commandNames())).toEqual(new Set(NAMES));
  const known = new Set([...options.flat(), ...NAMES]);
  expect([...SELDOM].filter((name) => !known.has(name))).toEqual([]);
});
