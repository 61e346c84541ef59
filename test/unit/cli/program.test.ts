import { Command, Help } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-table.js';
import { runCli } from '../../../src/cli/program.js';
import type { Terminal } from '../../../src/cli/terminal.js';
import { capturedTerminal } from '../../support/captured-terminal.js';
import { projectText } from '../docs/page.js';

describe('the table of commands', () => {
  it.each(Object.entries(COMMANDS))('lists %s as its file declares it', async (name, row) => {
    const command = new Command(name);
    const { usage, load } = row;
    const declare = await load();

    declare(command, { terminal: {} as Terminal, done: () => undefined });

    expect(new Help().subcommandTerm(command)).toBe(`${name} ${usage}`.trim());
  });

  it('imports no file of a command before the command is called', () => {
    const starts = [
      'src/main.ts',
      'src/cli/program.ts',
      'src/cli/command.ts',
      'src/cli/command-table.ts',
      'src/cli/terminal.ts',
    ];
    const before = starts
      .map(projectText)
      .flatMap((text) => [...text.matchAll(/^import (?!type).*'(.+)';$/gm)])
      .map(([, path = '']) => path);

    expect(before).toContain('./command-table.js');
    const light = /^(?:node:|commander$|\.\.\/(?:platform\/|compose\/settings\.js$))/;
    const printing = /^\.\.\/report\/(?:output|progress|sanitize|text\/error)\.js$/;
    const own = /^\.\.?\/(?:errors|command|command-table|terminal)\.js$/;
    const isHeavy = (path: string) => ![light, printing, own].some((each) => each.test(path));
    expect(before.filter(isHeavy)).toEqual([]);
  });
});

describe('the first word', () => {
  /** What stands on standard error before anything was waited for. */
  function saidAtOnce(args: readonly string[], startedAt: number): string {
    const { terminal, texts } = capturedTerminal({});
    terminal.stderr.write = (text) => (texts.stderr += String(text)) !== '';
    const { stderr } = terminal;
    void runCli(args, { ...terminal, stderr, startedAt }).catch(() => undefined);
    return texts.stderr;
  }

  const LONG_AGO = 0;
  const NOWHERE = '/nonexistent';
  const FIRST = 'reading the specs and the state\n';

  it.each([
    [`plan ${NOWHERE}`, FIRST],
    [`state list ${NOWHERE}`, FIRST],
    [`validate --online ${NOWHERE}`, FIRST],
    [`import ${NOWHERE}`, FIRST],
    [`validate ${NOWHERE}`, ''],
    [`import --from=split-yaml ${NOWHERE}`, ''],
    [`plan --quiet ${NOWHERE}`, ''],
    [`plan --log-format json --quiet ${NOWHERE}`, ''],
    ['plan --help', ''],
    ['schema', ''],
  ])('of %s comes before it is loaded if it asks somebody: %j', (line, said) => {
    expect(saidAtOnce(line.split(' '), LONG_AGO)).toBe(said);
    expect(saidAtOnce(line.split(' '), Date.now())).toBe('');
  });

  it('is gone from a terminal before a command line is refused', async () => {
    const { terminal, texts } = capturedTerminal({});
    Object.assign(terminal.stderr, { isTTY: true, columns: 100 });

    await runCli(['plan', '--nonsense'], terminal);

    expect(texts.stderr).toMatch(/^\r\u001b\[Kreading the specs and the state\r\u001b\[Kerror: /);
  });
});
