import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-table.js';
import { SCHEMA_NAMES } from '../../../src/specs/parse/schemas.js';
import { projectText } from '../docs/page.js';
import { cliRun } from '../../support/terminal.js';

const NAMES = Object.keys(COMMANDS);

describe('schema', () => {
  it.each(SCHEMA_NAMES)(
    'prints that of a %s, where a text may look like a number',
    async (name) => {
      const run = await cliRun(['schema', name]);

      const lists = /\[\s*"string",\s*"number",\s*"boolean"(?:,\s*"null")?\s*\]/g;
      const asTexts = (text: string) => JSON.parse(text.replaceAll(lists, '"string"')) as unknown;
      const shipped = projectText(`schemas/${name}.schema.json`)
        .replace(/\n {2}"\$id": .*/, '')
        .replaceAll(/urn:flagkeel:schema:([a-z-]+):1/g, '$1.schema.json');
      expect(asTexts(run.stdout)).toEqual(asTexts(shipped));
      expect(run.stdout).toMatch(lists);
    },
  );

  it('lists the names, and refuses one that is none', async () => {
    const list = await cliRun(['schema']);
    const wrong = await cliRun(['schema', 'flags']);

    expect(list.stdout.trim().split('\n')).toEqual([...SCHEMA_NAMES]);
    expect(wrong.exitCode).toBe(64);
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('offers every command in %s', async (shell) => {
    const { stdout } = await cliRun(['completion', shell]);

    const missing = NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(stdout));
    expect(missing).toEqual([]);
  });

  it('completes commands, and the options that the command itself tells, in a real bash', async () => {
    const { stdout: script } = await cliRun(['completion', 'bash']);
    const complete = (...words: readonly string[]): string =>
      execFileSync(
        'bash',
        [
          '-c',
          `flagkeel() { echo "usage of $1: --from <name> --to <name>"; }
${script}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _flagkeel; echo "\${COMPREPLY[*]}"`,
          'bash',
          ...words,
        ],
        { encoding: 'utf8' },
      ).trim();

    expect(complete('flagkeel', 'prom')).toBe('promote');
    expect(complete('flagkeel', 're')).toBe('report reconcile review restore');
    expect(complete('flagkeel', 'promote', '--')).toBe('--from --to');
  });

  it('quotes what it says of a command for PowerShell', async () => {
    const { stdout } = await cliRun(['completion', 'powershell']);
    const entries = stdout.split('\n').filter((line) => /^ {4}'/.test(line));

    expect(entries.map((line) => /^ {4}'([a-z-]+)' = /.exec(line)?.[1])).toEqual(NAMES);
    // Within quotes each quote stands twice, typographic ones as well.
    expect(
      entries.filter((line) => !/^ {4}'[a-z-]+' = '(?:[^'‘’‚‛]|(['‘’‚‛])\1)*'$/.test(line)),
    ).toEqual([]);
  });

  it('refuses a shell that it does not know', async () => {
    expect((await cliRun(['completion', 'cmd'])).exitCode).toBe(64);
  });
});

it.each([
  ['apply', 'reconcile'],
  ['diff', 'plan'],
  ['lint', 'validate'],
  ['serve', 'service'],
])('the verb %s of neighbours points to %s', async (verb, ours) => {
  const run = await cliRun([verb, 'specs']);

  expect(run).toEqual({
    exitCode: 64,
    stdout: '',
    stderr: `error: there is no command '${verb}'; here it is flagkeel ${ours}\n`,
  });
  expect(NAMES).toContain(ours);
});
