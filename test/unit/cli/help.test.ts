import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { commandsPage, COMMANDS_FILE } from '../../../scripts/commands-page.js';
import { helpDocument, type HelpDocument } from '../../../src/cli/help-document.js';
import { SELDOM } from '../../../src/cli/command.js';
import { COMMANDS } from '../../../src/cli/command-table.js';
import { EXIT } from '../../../src/errors.js';
import { cliRun } from '../../support/terminal.js';
import { PROJECT, projectText } from '../docs/page.js';
import { commandNames, optionsOf } from '../packaging/help.js';

const validate = new Ajv2020({ allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(join(PROJECT, 'schemas/help.schema.json'), 'utf8')) as object,
);

async function documentsOf(path: readonly string[]): Promise<HelpDocument[]> {
  const document = await helpDocument(COMMANDS, path);
  if (!document) throw new Error(`no document of ${path.join(' ')}`);
  const below = document.commands.map(async ({ name }) => documentsOf([...path, name]));
  return [document, ...(await Promise.all(below)).flat()];
}

const NAMES = Object.keys(COMMANDS);

describe.each(NAMES)('the help of %s for programs', (name) => {
  it('is as its schema says, of each of its commands, and names pages that are there', async () => {
    for (const document of await documentsOf([name])) {
      expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
      const { environment, links } = document;
      expect(new Set(environment.map((each) => each.name)).size).toBe(environment.length);
      expect(links.length).toBeGreaterThan(1);
      expect(links.filter((link) => !existsSync(join(PROJECT, link)))).toEqual([]);
    }
  });

  it('has the options that the help for people lists, and says of each whether it may be repeated', async () => {
    const [document] = await documentsOf([name]);
    const options = document?.options ?? [];

    expect(new Set([...options.map((each) => each.name), '--help'])).toEqual(
      new Set(await optionsOf(name)),
    );
    for (const { description, repeatable } of options) {
      expect(description.includes('(repeatable')).toBe(repeatable);
    }
  });
});

describe('exit codes and variables in the help for programs', () => {
  const fileOf: Readonly<Record<string, string>> = {
    plan: 'commands/reconcile',
    restore: 'commands/kill',
    service: 'commands/service/service',
    mcp: 'mcp',
  };

  it.each(NAMES)('of %s are all that its file names, each with its meaning', async (name) => {
    const file = fileOf[name] ?? `commands/${name}`;
    const text = projectText(`src/cli/${file}.ts`);
    const named = [...text.matchAll(/EXIT\.(\w+)/g)].map(([, word = '']) => EXIT[word as 'ok']);
    const told = (await documentsOf([name])).flatMap(({ exitCodes }) => exitCodes);

    expect(new Set(told.map(({ code }) => code))).toEqual(
      new Set([...named, ...told.map(({ code }) => code)]),
    );
    expect(told.find(({ code }) => code === 64)?.meaning).toBe('The command line is wrong');
  });

  it('are all there are, of the program', async () => {
    const program = await helpDocument(COMMANDS, []);
    const rows = projectText('docs/operations.md').matchAll(/^\| `([A-Z_]+)` +\| [A-Z]/gm);
    const variables = [...rows]
      .map(([, name]) => name ?? '')
      .filter((name) => /_|COLOR/.test(name));

    expect(program?.exitCodes.map(({ code }) => code)).toEqual(
      Object.values(EXIT).toSorted((a, b) => a - b),
    );
    const told = (program?.environment ?? []).map(({ name }) => name);
    expect(told.length).toBeGreaterThan(15);
    expect(
      variables.filter((name) => name.startsWith('FLAGKEEL_') && !told.includes(name)),
    ).toEqual([]);
  });

  it('stand at the commands that read them, and at no other', async () => {
    const readBy = async (variable: string): Promise<string[]> => {
      const all = await Promise.all(NAMES.map(async (name) => helpDocument(COMMANDS, [name])));
      const reads = (each?: HelpDocument): boolean =>
        each?.environment.some(({ name }) => name === variable) === true;
      return all.filter(reads).flatMap((each) => each?.name ?? []);
    };

    expect(await readBy('FLAGKEEL_DATABASE')).toEqual(['flagkeel watch']);
    expect(await readBy('FLAGKEEL_API_KEY')).not.toContain('flagkeel fmt');
    expect(await readBy('FLAGKEEL_API_KEY')).toContain('flagkeel plan');
  });
});

describe('--help --format json', () => {
  const printed = async (...words: string[]): Promise<HelpDocument> => {
    const { stdout, exitCode } = await cliRun(words);
    expect(exitCode).toBe(0);
    return JSON.parse(stdout) as HelpDocument;
  };

  it('tells the program and its commands', async () => {
    const document = await printed('--help', '--format', 'json');

    expect(document.commands.map(({ name }) => name)).toEqual(await commandNames());
    expect(validate(document)).toBe(true);
  });

  it('tells a command, and one below it, wherever the words stand', async () => {
    const [first, second] = [
      await printed('plan', 'specs', '--format=json', '--help'),
      await printed('plan', '-h', '--format', 'json'),
    ];

    expect(first).toEqual(second);
    expect(first.options.find(({ name }) => name === '--timeout')?.value).toEqual({
      name: 'duration',
      type: 'duration',
    });
    expect(first.options.find(({ name }) => name === '--plan')?.conflicts).toEqual(['--plan-hash']);
    const log = await printed('service', 'log', '--help', '--format', 'json');
    expect(log.options.map(({ name }) => name)).toEqual(
      ['directory', 'database', 'object', 'environment', 'format'].map((name) => `--${name}`),
    );
    const below = await printed('state', 'show', '--help', '--format', 'json');
    expect(below.arguments[0]).toMatchObject({ name: 'object', required: true });
  });

  it('says of an unknown command that it is none, and is text in another format', async () => {
    const { stdout } = await cliRun(['plan', '--help', '--format', 'text']);

    expect(stdout).toMatch(/^Usage: flagkeel plan/);
    const kill = await cliRun(['kill', '--help']);
    expect(kill.stdout).toMatch(/--environment <name> .*\(required\)/);
    expect(await cliRun(['polish', '--help', '--format', 'json'])).toMatchObject({
      exitCode: 64,
      stdout: '',
      stderr: "error: unknown command 'polish'\n",
    });
  });
});

it('the page of commands is what the declarations say', async () => {
  expect(projectText(COMMANDS_FILE)).toBe(await commandsPage());
});

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
