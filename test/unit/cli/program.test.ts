import { Command, Help } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/program.js';
import type { Terminal } from '../../../src/cli/terminal.js';
import { projectText } from '../docs/page.js';

describe('the table of commands', () => {
  it.each(COMMANDS)('lists "$synopsis" as its file declares it', async ({ synopsis, load }) => {
    const command = new Command(synopsis.split(' ', 1)[0]);
    const declare = await load();

    declare(command, { terminal: {} as Terminal, done: () => undefined });

    expect(new Help().subcommandTerm(command)).toBe(synopsis);
  });

  it('imports no file of a command before the command is called', () => {
    const starts = ['src/main.ts', 'src/cli/program.ts', 'src/cli/command.ts'].map(projectText);
    const before = starts.flatMap((text) => [...text.matchAll(/^import (?!type).*'(.+)';$/gm)]);

    expect(before.map(([, path]) => path).toSorted()).toEqual([
      '../errors.js',
      '../platform/version.js',
      './command.js',
      './errors.js',
      './help.js',
      'commander',
      'commander',
    ]);
  });
});
