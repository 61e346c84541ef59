import { openImport } from '../../compose/run.js';
import { operatorSettings } from '../../compose/settings.js';
import { EXIT, FlaghoistError, type ExitCode } from '../../errors.js';
import { clean } from '../../report/sanitize.js';
import { errorText } from '../../report/text/error.js';
import { importWorkspace, type Imported, checkTarget, writeTarget } from '../../import/import.js';
import type { DeclareCommand } from '../command.js';
import {
  commonOptions,
  serviceOptions,
  type CommonOptions,
  type ServiceOptions,
} from '../options.js';
import { openScreen, type Terminal } from '../terminal.js';

interface ImportOptions extends CommonOptions, ServiceOptions {
  /** Id or name of the workspace. Absent: the only one that the key can see. */
  readonly workspace?: string;
  /** Specs that the directory holds are replaced; without it they are an error. */
  readonly overwrite?: boolean;
}

/** Declares `flaghoist import`. */
export const declareImport: DeclareCommand = (command, { terminal, done }) => {
  command
    .argument('[directory]', 'where the config repository is to be', '.')
    .option('--workspace <name>', 'which workspace (default: the only one)')
    .option('--overwrite', 'replace flaghoist.yaml, flags/ and segments/ that are there');
  commonOptions(serviceOptions(command)).action(
    async (directory: string, options: ImportOptions) => {
      done(await importInto(directory, options, terminal));
    },
  );
};

/**
 * Writes a live workspace as a config repository. Nothing on the service changes, and nothing is committed. What stands
 * in the way of the files is looked for before the service is asked, and files are written only when all was read.
 *
 * @returns 0, the code of the error that was printed, or that of the signal.
 */
async function importInto(
  directory: string,
  options: ImportOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(options, terminal);
  try {
    await checkTarget(directory, options.overwrite === true);
    await using opened = await openImport(directory, options, {
      settings: operatorSettings(terminal.environment),
      signal: terminal.signal,
      note: (text) => {
        screen.note(text);
      },
      progress: screen.progress,
    });
    const { workspace, environment: environments, only } = options;
    const { progress } = screen;
    const wanted = { workspace, environments, only, progress };
    const imported = await importWorkspace(opened.reader, wanted).finally(() => {
      progress?.end();
    });
    await writeTarget(directory, imported.files);
    const isJson = options.format === 'json';
    await screen.result(
      isJson ? asJson(directory, imported) : asText(directory, imported, options),
    );
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    terminal.stderr.write(errorText(error));
    if (!terminal.signal.aborted) return error.exitCode;
    return terminal.signal.reason === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
  }
}

function asText(directory: string, imported: Imported, options: ServiceOptions): string {
  const { workspace, environments, flags, segments, files } = imported;
  return [
    `Imported workspace "${clean(workspace)}" (${clean(environments.join(', '))}): ${count(flags, 'flag')}, ${count(segments, 'segment')}, ${count(files.size, 'file')}.`,
    `Commit them, and the next plan is empty: ${nextPlan(directory, options)}`,
    '',
  ].join('\n');
}

/** The command of the next plan: of the same service, which the files do not name. */
function nextPlan(directory: string, { url, embedded, embeddedDir }: ServiceOptions): string {
  const service = embedded
    ? ['--embedded', ...(embeddedDir === undefined ? [] : ['--embedded-dir', embeddedDir])]
    : url === undefined
      ? []
      : ['--url', url];
  return ['flaghoist', 'reconcile', '--dry-run', ...service, directory].map(shellWord).join(' ');
}

/** A word as a POSIX shell reads it. */
function shellWord(text: string): string {
  const word = clean(text);
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The document names the files and does not hold them: they are on disk. */
function asJson(directory: string, { files, ...imported }: Imported): string {
  const document = { formatVersion: 1, directory, ...imported, files: [...files.keys()] };
  return `${JSON.stringify(document, null, 2)}\n`;
}
