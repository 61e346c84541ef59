import { EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { diagnosticsText } from '../report/diagnostics-text.js';
import { errorText } from '../report/run-error.js';
import { readSpecs } from '../specs/read-specs.js';
import { openSource } from '../stages/source.js';
import { combinedExitCode } from './exit-code.js';
import type { Terminal, ValidateFlags } from './options.js';
import { openScreen, type Screen } from './screen.js';

/** Reads and checks config repositories offline. */
export async function runValidate(
  directories: readonly string[],
  flags: ValidateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  const checked: Checked[] = [];
  for (const directory of directories) {
    // One after the other, so that what is noted stands in the order of the command line.
    checked.push(await check(directory, screen));
  }
  await screen.result(flags.format === 'json' ? asJson(checked) : asText(checked, screen.color));
  return combinedExitCode(checked.map(({ exitCode }) => exitCode));
}

interface Checked {
  readonly directory: string;
  readonly exitCode: ExitCode;
  readonly diagnostics: readonly Diagnostic[];
  /** What was read, where all is well. */
  readonly summary?: string;
  readonly error?: string;
}

async function check(directory: string, screen: Screen): Promise<Checked> {
  try {
    await using source = await openSource(directory, { workingTree: true });
    if (source.revision.dirty)
      source.warnings.forEach((warning) => {
        screen.note(`warning: ${warning}`);
      });
    const specs = await readSpecs(source.tree);
    if (!specs.ok)
      return { directory, exitCode: EXIT.invalidSpecs, diagnostics: specs.diagnostics };
    const { flags, segments, config } = specs.desired;
    const summary = `valid: ${count(flags.size, 'flag')}, ${count(segments.size, 'segment')}, ${count(config.environments.length, 'environment')}`;
    return { directory, exitCode: EXIT.ok, diagnostics: specs.warnings, summary };
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    return { directory, exitCode: error.exitCode, diagnostics: [], error: errorText(error) };
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function asText(checked: readonly Checked[], color: boolean): string {
  return checked
    .map(({ directory, diagnostics, summary, error }) => {
      const heading = checked.length > 1 ? `${directory}:\n` : '';
      const end = summary === undefined ? '' : `${summary}\n`;
      return `${heading}${error ?? ''}${diagnosticsText(diagnostics, { color })}${end}`;
    })
    .join('\n');
}

function asJson(checked: readonly Checked[]): string {
  const documents = checked.map(({ directory, exitCode, diagnostics, error }) => ({
    directory,
    valid: exitCode === EXIT.ok,
    diagnostics,
    ...(error !== undefined && { error: error.trim() }),
  }));
  return `${JSON.stringify(checked.length === 1 ? documents[0] : documents, null, 2)}\n`;
}
