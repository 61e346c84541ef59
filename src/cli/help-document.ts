import type { HelpDocument as WrittenHelp } from '../generated/help.schema.d.js';
import { ownMember } from '../model/collections.js';
import type { Frozen } from '../model/json.js';
import { VARIABLES } from '../compose/settings.js';
import type { Argument, Command, Option } from 'commander';
import { entriesOnPage } from './code-entries.js';
import { createProgram, examplesOf, type CommandTable } from './command.js';
import { isCollected, valueTypeOf } from './options.js';
import type { Terminal } from './terminal.js';

export type HelpDocument = Frozen<WrittenHelp>;
export type OptionDocument = HelpDocument['options'][number];

/** Of the program, or of the command whose name the words begin with; undefined if there is no such command. */
export async function helpDocument(
  commands: CommandTable,
  words: readonly string[],
): Promise<HelpDocument | undefined> {
  const terminal = { stdout: process.stdout, stderr: process.stderr } as unknown as Terminal;
  const invocation = { terminal, done: () => undefined };
  const program = createProgram(commands, invocation);
  const [first] = words.filter((word) => !word.startsWith('-'));
  if (first === undefined || words[0] !== first) return documentOf(program, ['README.md']);
  const command = subcommandOf(program, first);
  const row = commands[first];
  if (!command || !row) return undefined;
  (await row.load())(command, invocation);
  return documentOf(deepest(command, words.slice(1)), [`docs/${row.page}.md`]);
}

function subcommandOf(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

function deepest(command: Command, [word, ...rest]: readonly string[]): Command {
  const below = subcommandOf(command, word);
  return below ? deepest(below, rest) : command;
}

async function documentOf(command: Command, links: readonly string[]): Promise<HelpDocument> {
  const lineage = lineageOf(command);
  const named = lineage[1];
  const { options } = command;
  const names = named ? new Set(options.flatMap(({ long }) => long ?? [])) : null;
  return {
    formatVersion: 1,
    name: lineage.map((each) => each.name()).join(' '),
    summary: command.description(),
    usage: command.usage(),
    arguments: command.registeredArguments.map(argumentDocument),
    options: options.map(optionDocument),
    commands: command.commands.map((each) => ({ name: each.name(), summary: each.description() })),
    examples: examplesOf(command),
    ...(await operationsOf(command, named?.name(), names)),
    links: [...links, OPERATIONS],
  };
}

function lineageOf(command: Command): readonly Command[] {
  return command.parent ? [...lineageOf(command.parent), command] : [command];
}

function argumentDocument(argument: Argument): HelpDocument['arguments'][number] {
  const { description, required, variadic, parseArg, argChoices } = argument;
  return {
    name: argument.name(),
    description,
    required,
    repeatable: variadic,
    type: valueTypeOf(parseArg),
    choices: argChoices ?? null,
    default: (argument.defaultValue as unknown) ?? null,
  };
}

function optionDocument(option: Option): OptionDocument {
  const { long, short, description, parseArg, argChoices, variadic } = option;
  const value = / [<[](\S+)[>\]]$/.exec(option.flags)?.[1];
  return {
    name: long ?? option.flags,
    short: short ?? null,
    description,
    value: value === undefined ? null : { name: value, type: valueTypeOf(parseArg) },
    choices: argChoices ?? null,
    required: option.mandatory,
    repeatable: variadic || isCollected(parseArg),
    default: option.defaultValueDescription ?? (option.defaultValue as unknown) ?? null,
    conflicts: conflictsOf(option),
  };
}

/** Commander keeps them, and has no way to ask for them. */
function conflictsOf(option: Option): string[] {
  const { conflictsWith } = option as unknown as { conflictsWith: readonly string[] };
  return conflictsWith.map(
    (name) => `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`,
  );
}

const OPERATIONS = 'docs/operations.md';

const CODES_OF_ALL = [0, 1, 64];
const CODES_OF_ONLINE = [6, 7, 130, 143];
const CODES_BESIDES: Readonly<Record<string, readonly number[]>> = {
  fmt: [2],
  stale: [2],
  drift: [2],
  plan: [2, 4],
  reconcile: [2, 4, 5, 8],
  review: [4],
  service: [7],
};

/** Exit codes and variables. @param name of the command; undefined: the program, which has all of them. */
async function operationsOf(
  { registeredArguments }: Command,
  name: string | undefined,
  names: ReadonlySet<string> | null,
): Promise<Pick<HelpDocument, 'exitCodes' | 'environment'>> {
  const takesSpecs = registeredArguments.some((each) => each.name().includes('directory'));
  const readsSpecs = (takesSpecs && name !== 'init') || names?.has('--specs') === true;
  const codes = new Set([
    ...CODES_OF_ALL,
    ...(readsSpecs && name !== 'mcp' ? [3] : []),
    ...(names?.has('--url') === true && name !== 'mcp' ? CODES_OF_ONLINE : []),
    ...(CODES_BESIDES[name ?? ''] ?? []),
  ]);
  const options: Readonly<Record<string, string | null>> = VARIABLES;
  const isRead = (variable: string): boolean => {
    const option = ownMember(options, variable) ?? null;
    return option !== null && names?.has(option) !== false;
  };
  const rows = (await entriesOnPage('operations')).map(({ code, said }) => {
    return { code, meaning: said['meaning'] ?? '' };
  });
  return {
    exitCodes: rows
      .map(({ code, meaning }) => ({ code: Number(code), meaning }))
      .filter(({ code }) => Number.isInteger(code) && (name === undefined || codes.has(code))),
    environment: rows
      .filter(({ code }) => isRead(code))
      .map(({ code, meaning }) => ({ name: code, meaning })),
  };
}
