import { openImport } from '../compose/open-import.js';
import { operatorSettings } from '../config.js';
import { EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import { clean } from '../report/clean.js';
import { errorText } from '../report/run-error.js';
import { importWorkspace, type Imported } from '../stages/import.js';
import { checkTarget, writeTarget } from '../stages/import-target.js';
import type { CommonFlags, ServiceFlags, Terminal } from './options.js';
import { openScreen } from './screen.js';

export interface ImportFlags extends CommonFlags, ServiceFlags {
  readonly workspace?: string;
  readonly overwrite?: boolean;
}

/** Writes a live workspace as a config repository. Nothing on the service changes, and nothing is committed. */
export async function runImport(
  directory: string,
  flags: ImportFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  try {
    await checkTarget(directory, flags.overwrite === true);
    await using opened = await openImport(directory, flags, {
      settings: operatorSettings(terminal.environment),
      signal: terminal.signal,
      note: (text) => {
        screen.note(text);
      },
      progress: screen.progress,
    });
    const { workspace, environment: environments, only } = flags;
    const { progress } = screen;
    const wanted = { workspace, environments, only, progress };
    const imported = await importWorkspace(opened.reader, wanted).finally(() => {
      progress?.end();
    });
    await writeTarget(directory, imported.files);
    const isJson = flags.format === 'json';
    await screen.result(isJson ? asJson(directory, imported) : asText(directory, imported));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    terminal.stderr.write(errorText(error));
    if (!terminal.signal.aborted) return error.exitCode;
    return terminal.signal.reason === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
  }
}

function asText(directory: string, imported: Imported): string {
  const { workspace, environments, flags, segments, files } = imported;
  return [
    `Imported workspace "${clean(workspace)}" (${clean(environments.join(', '))}): ${count(flags, 'flag')}, ${count(segments, 'segment')}, ${count(files.size, 'file')}.`,
    `Commit them, and the next plan is empty: flaghoist reconcile --dry-run ${directory}`,
    '',
  ].join('\n');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function asJson(directory: string, { files, ...imported }: Imported): string {
  const document = { formatVersion: 1, directory, ...imported, files: [...files.keys()] };
  return `${JSON.stringify(document, null, 2)}\n`;
}
