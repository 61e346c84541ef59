import { Argument } from 'commander';
import { FlagkeelError, messageOf } from '../../errors.js';
import { SPEC_KINDS } from '../../model/ref.js';
import { editorSchemaOf, SCHEMA_NAMES, type SchemaName } from '../../specs/parse/schemas.js';
import type { DeclareCommand } from '../command.js';
import { ending, prettyJson, type Screen } from '../terminal.js';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { quoted } from '../../report/sanitize.js';

export const declareSchema: DeclareCommand = (command, invocation) => {
  command
    .addArgument(new Argument('[name]', 'which kind of file').choices(SCHEMA_NAMES))
    .option('--output <file>', 'write the schema to a file')
    .addHelpText(
      'after',
      `
An editor completes and explains flags that begin with this line:
  # yaml-language-server: $schema=../schemas/flag.schema.json
`,
    )
    .action(ending(printSchema, invocation));
};

async function printSchema(name: SchemaName | undefined, _: object, screen: Screen): Promise<void> {
  const names = SCHEMA_NAMES.map((each) => `${each}\n`).join('');
  await screen.result(name === undefined ? names : prettyJson(editorSchemaOf(name)));
}

export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map(
    SPEC_KINDS.map((name) => [`schemas/${name}.schema.json`, prettyJson(editorSchemaOf(name))]),
  );
}

/** @returns false: there is a file already. @throws FlagkeelError `OUTPUT`: it cannot be written. */
export async function writeNew(path: string, text: string): Promise<boolean> {
  const refused = (error: unknown): FlagkeelError => {
    const message = `cannot write ${quoted(path)}: ${messageOf(error)}`;
    return new FlagkeelError('OUTPUT', message, { cause: error });
  };
  await makeFolder(dirname(path)).catch((error: unknown) => {
    // A file that stands where a folder has to be is in the way, and is not the one that was asked for.
    throw refused(error);
  });
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A full disk leaves a part of it, which the next try would take for a file of the user.
    await rm(path, { force: true }).catch(() => undefined);
    throw refused(error);
  }
}

/** With those above it. Node's own way never ends where the system refuses a folder as missing, as it does in /proc. */
async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isDirectory() === true) return;
  await makeFolder(dirname(path));
  await mkdir(path);
}

export async function writeSchemas(directory: string): Promise<void> {
  for (const [path, text] of schemaFiles()) await writeNew(join(directory, path), text);
}
