import { Argument } from 'commander';
import { EXIT, type ExitCode } from '../../errors.js';
import { SCHEMA_NAMES, editorSchemaOf, type SchemaName } from '../../specs/parse/schemas.js';
import type { DeclareCommand } from '../command.js';
import { ending, prettyJson, type Screen } from '../terminal.js';

interface SchemaOptions {
  readonly output?: string;
}

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

/**
 * Prints the schema by which an editor takes what `validate` takes, or the names of all.
 */
async function printSchema(
  name: SchemaName | undefined,
  _: SchemaOptions,
  screen: Screen,
): Promise<ExitCode> {
  const names = SCHEMA_NAMES.map((each) => `${each}\n`).join('');
  await screen.result(name === undefined ? names : prettyJson(editorSchemaOf(name)));
  return EXIT.ok;
}
