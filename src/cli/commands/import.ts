import { Option } from 'commander';
import { openReading } from '../../compose/run.js';
import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { grouped } from '../../model/collections.js';
import { lint } from '../../lint/lint.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { NAMED, NAMED_KINDS } from '../../model/ref.js';
import { fileKindOf } from '../../model/spec-tree.js';
import { clean } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { plural } from '../../report/values.js';
import { importWorkspace, type Imported, checkTarget, writeTarget } from '../../import/import.js';
import { importFile, SOURCE_NAMES, type SourceName } from '../../import/from-file.js';
import { shellWord } from '../../platform/shell.js';
import type { Departure } from '../../import/sources/source.js';
import { writeSchemas } from './schema.js';
import { tracedCommand } from '../traced-command.js';
import type { DeclareCommand } from '../command.js';
import {
  collectField,
  commonOptions,
  excludeOption,
  namedDirectory,
  serviceOptions,
  type CommonOptions,
  type ServiceOptions,
} from '../options.js';
import { ending, type Screen } from '../terminal.js';

interface ImportOptions extends CommonOptions, ServiceOptions {
  readonly from?: SourceName;
  /** Id or name of the workspace. Default: the only one that the key can see, or the one that the file names. */
  readonly workspace?: string;
  readonly trafficType: string;
  readonly exclude: readonly string[];
  readonly unmanaged?: readonly string[];
  readonly overwrite?: boolean;
}

export const declareImport: DeclareCommand = (command, invocation) => {
  const where = 'where the config repository is to be (default: .)';
  const from =
    'read a file that another tool wrote, and ask no service: import --from <tool> <file> [directory]';
  const workspace = 'which workspace (default: the only one; with --from that of the file)';
  const trafficType = 'with --from, of flags of which the file does not say it';
  const unmanaged = 'a field that people own on the service, like defaultRule (repeatable)';
  command
    .argument('[directory]', `${where}; with --from the file`, namedDirectory)
    .argument('[target]', `with --from, ${where}`, namedDirectory)
    .addOption(new Option('--from <tool>', from).choices(SOURCE_NAMES))
    .option('--workspace <name>', workspace)
    .option('--traffic-type <name>', trafficType, 'user')
    .option('--unmanaged <field>', unmanaged, collectField)
    .option('--overwrite', 'replace existing flagkeel.yaml, flags/ and segments/');
  commonOptions(serviceOptions(excludeOption(command))).action(ending(importAny, invocation));
};

async function importAny(
  first: string | undefined,
  second: string | undefined,
  options: ImportOptions,
  screen: Screen,
): Promise<ExitCode> {
  const { from, url, embedded } = options;
  if (from !== undefined) {
    if (first === undefined) throw usage('--from needs the file: import --from <tool> <file>');
    if (url !== undefined || embedded === true) {
      throw usage('--from reads a file and asks no service');
    }
    return importFromFile({ from, file: first, directory: second ?? '.' }, options, screen);
  }
  if (second !== undefined) throw usage('only --from takes a file and a directory');
  const directory = first ?? '.';
  return tracedCommand({ name: 'import', directory }, screen.terminal, async () =>
    importInto(directory, options, screen),
  );
}

function usage(why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot import: ${why}`);
}

async function importFromFile(
  { from, file, directory }: { from: SourceName; file: string; directory: string },
  options: ImportOptions,
  screen: Screen,
): Promise<ExitCode> {
  await checkTarget(directory, options.overwrite === true);
  const { signal } = screen.terminal;
  const wanted = { ...options, environments: options.environment, signal };
  const imported = await importFile(from, file, wanted);
  return finish(directory, imported, screen, [
    `${clean(file)} for ${whatText(imported)}`,
    ...departureLines(imported.departures),
    'See that they are right, and what an apply would do:',
    `  flagkeel validate ${shellWord(directory)}`,
    `  flagkeel plan ${shellWord(directory)}`,
  ]);
}

/** The specs are valid here, and lint may still refuse what was live. */
async function finish(
  directory: string,
  imported: Imported,
  screen: Screen,
  lines: readonly string[],
): Promise<ExitCode> {
  await writeTarget(directory, imported.files);
  await writeSchemas(directory);
  const today = new Date().toISOString().slice(0, 10);
  const refused = lint(imported.parts, { today }).filter(({ severity }) => severity === 'error');
  const document = { ...documentOf(directory, imported), refused };
  const text = `Imported ${lines.map((line) => `${line}\n`).join('')}`;
  await screen.print(document, () => text + refusalText(refused, screen));
  return EXIT.ok;
}

function refusalText(refused: readonly Diagnostic[], screen: Screen): string {
  const [first] = refused;
  if (first === undefined) return '';
  return [
    'flagkeel validate refuses what follows, although a plan takes it. Correct each, or allow it in its file with a reason',
    `behind it (allow: ${first.code} # live before git):`,
    '',
    diagnosticsText(refused, screen),
  ].join('\n');
}

function departureLines(departures: readonly Departure[]): string[] {
  if (departures.length === 0) return [];
  const lines = [...grouped(departures, ({ what }) => what)].map(([what, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` (and at ${plural(others.length, 'other place')})`;
    return `  ${clean(first?.place ?? '')}: ${clean(what)}${more}`;
  });
  return ['Said otherwise than there, or not at all:', ...lines];
}

/** Looks for what stands in the way before it asks the service, and writes only when all was read. */
async function importInto(
  directory: string,
  options: ImportOptions,
  screen: Screen,
): Promise<ExitCode> {
  await checkTarget(directory, options.overwrite === true);
  await using opened = await openReading(directory, options, screen.surroundings(), null);
  const { progress } = screen;
  const wanted = { ...options, environments: options.environment, progress };
  const imported = await importWorkspace(opened.reader, wanted);
  return await finish(directory, imported, screen, [
    whatText(imported),
    'Not in the files, and left on the service: identities, which it cannot list, owners, and tags of segments.',
    `Commit them, and the next plan is empty: ${nextPlan(directory, options)}`,
  ]);
}

function nextPlan(directory: string, options: ServiceOptions): string {
  const words = ['flagkeel', 'reconcile', '--dry-run', ...serviceWords(options), directory];
  return words.map(shellWord).join(' ');
}

function serviceWords({ url, embedded, embeddedDir }: ServiceOptions): string[] {
  if (embedded !== true) return url === undefined ? [] : ['--url', url];
  return ['--embedded', ...(embeddedDir === undefined ? [] : ['--embedded-dir', embeddedDir])];
}

function whatText({ workspace, environments, files }: Imported): string {
  const objects = NAMED.map((kind) => plural(countOf(kind, files), kind));
  const counts = [...objects, plural(files.size, 'file')].join(', ');
  return `workspace "${clean(workspace)}" (${clean(environments.join(', '))}): ${counts}.`;
}

/** Each object has one file of its kind. */
function countOf(kind: string, files: Imported['files']): number {
  return [...files.keys()].filter((path) => fileKindOf(path) === kind).length;
}

function documentOf(directory: string, imported: Imported): object {
  const { workspace, environments, files, parts: _, ...others } = imported;
  const counts = NAMED.map((kind) => [NAMED_KINDS[kind].folder, countOf(kind, files)] as const);
  return {
    directory,
    workspace,
    environments,
    ...Object.fromEntries(counts),
    ...others,
    files: [...files.keys()],
  };
}
