import { Option, type Command } from 'commander';
import { AUTH_HEADERS } from '../admin-api/origin.js';
import type { ConnectionFlags, RunFlags } from '../compose/run.js';
import { collect, collectObject, duration, exactMoment, positive } from './arguments.js';

/**
 * Options that several commands share. Each function adds options to a command and returns the command; the interface
 * of the same name says what the action is given. A member is absent where the command line does not have the option.
 */

/** How a command prints. */
export interface CommonOptions {
  readonly format?: 'text' | 'json' | 'markdown';
  /** File that the result is written to, in place of standard output. */
  readonly output?: string;
  readonly showKeys?: boolean;
  /** False where the command line has `--no-color`; commander makes it true otherwise. */
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly logFormat?: 'pretty' | 'json';
}

/** @param formats what `--format` accepts; the command chooses what it prints where none is given. */
export function commonOptions(
  command: Command,
  formats: readonly string[] = ['text', 'json'],
): Command {
  command
    .addOption(new Option('--format <format>', 'of the result').choices(formats))
    .option('--output <file>', 'write the result to a file')
    .option('--show-keys', 'name keys of segments and targets, not only their number')
    .option('--no-color', 'plain text')
    .option('--quiet', 'no progress, no warnings, and of a plan the summary alone')
    .option('--verbose', 'list what is told once for many objects, and say more on standard error');
  return logFormatOption(command);
}

export function logFormatOption(command: Command): Command {
  return command.addOption(
    new Option('--log-format <format>', 'of the log').choices(['pretty', 'json']),
  );
}

export type ConnectionOptions = ConnectionFlags;

export function placeOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the administration service (default: FLAGKEEL_URL)')
    .addOption(
      new Option('--auth-header <name>', 'in which header the key goes').choices(AUTH_HEADERS),
    )
    .option('--embedded', 'start the embedded service in this process and use it')
    .option('--embedded-dir <path>', 'where the embedded service keeps its data');
}

export function timeoutOption(command: Command): Command {
  const what = 'give a dead network up after so long (default: 30s)';
  return command.option('--timeout <duration>', what, duration);
}

/** Which part of the service a run works on, and how hard it may press. */
export type ServiceOptions = ConnectionFlags &
  Pick<RunFlags, 'environment' | 'only' | 'concurrency'>;

export function serviceOptions(command: Command): Command {
  placeOptions(command)
    .option('--environment <name>', 'only this environment (repeatable)', collect, [])
    .option(
      '--only <kind/name>',
      'only this object, for example flag/new-checkout (repeatable)',
      collectObject,
      [],
    )
    .option('--concurrency <n>', 'requests at the same time', positive);
  return timeoutOption(command);
}

export function momentOption(command: Command): Command {
  return command.option(
    '--at <time>',
    'plan for this moment, by which windows and freezes are judged',
    exactMoment,
  );
}

/** Which pull request is meant. What is absent here is read from the environment of the CI job. */
export function forgeOptions(command: Command, what: string): Command {
  const forges = ['github', 'gitlab', 'none'];
  return command
    .addOption(
      new Option('--forge <name>', `${what} (default: as the CI job says)`).choices(forges),
    )
    .option('--forge-url <url>', 'of the API of the forge')
    .option('--repository <name>', 'owner/name, or the id of a project')
    .option('--pull-request <number>', 'which pull request or merge request', positive);
}

export type LockOptions = Pick<RunFlags, 'lockTimeout'>;

export function lockOption(command: Command): Command {
  return command.option(
    '--lock-timeout <duration>',
    'wait so long for another run to end',
    duration,
    0,
  );
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Command lines that the help shows below the options. @param lines each by itself; to be called once for a command. */
export function examples(command: Command, lines: readonly string[]): Command {
  EXAMPLES.set(command, lines);
  const head = lines.length === 1 ? 'Example' : 'Examples';
  return command.addHelpText(
    'after',
    ['', `${head}:`, ...lines.map((line) => `  ${line}`), ''].join('\n'),
  );
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}
