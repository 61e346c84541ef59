import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { operatorSettings } from '../compose/settings.js';
import type { ExitCode } from '../errors.js';
import { clean } from '../report/sanitize.js';
import { errorText } from '../report/text/error.js';
import type { CommonOptions } from './options.js';
import { createLog } from '../platform/log.js';
import { resolveColor, resolveWidth, writeResult } from '../report/output.js';
import { ProgressReporter, type ProgressSink } from '../report/progress.js';

/** What the program talks to: the process, or a test's stand-in for it. */
export interface Outside {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT or SIGTERM; the reason is the signal's name. */
  readonly signal: AbortSignal;
  /** Calls the listener at each SIGHUP from now on. */
  readonly onHangup?: ((listener: () => void) => void) | undefined;
  /** When the process started, in milliseconds since the epoch. Default: now. */
  readonly startedAt?: number;
}

export interface Terminal extends Outside {
  readonly progress: ProgressReporter;
}

/** @param args as the program got them: progress begins before they are parsed. */
export function terminalFor(args: readonly string[], outside: Outside): Terminal {
  const { stdout, stderr, environment, signal, onHangup } = outside;
  const isJson = /(?:^| )--log-format[ =]json(?: |$)/.test(args.join(' '));
  const sinks = args.includes('--quiet') ? [] : [sinkOn(outside, isJson)];
  return {
    // Opened on first use.
    get stdin() {
      return outside.stdin;
    },
    stdout,
    stderr,
    environment,
    signal,
    onHangup,
    progress: new ProgressReporter(sinks),
  };
}

/** Whether a person sits at the other end. Node leaves `isTTY` out for a pipe or a file. */
export function isTerminal(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Shows a plan and asks on the terminal whether it may pass. No answer, the end of the input and a signal are a no. */
export async function askToForce(plan: string, screen: Screen): Promise<boolean> {
  const { stdin, stderr, signal } = screen.terminal;
  if (!isTerminal(stdin)) {
    screen.note(
      'warning: --force asks on a terminal, and standard input is none (add --approve HASH)',
    );
    return false;
  }
  stderr.write(plan);
  stderr.write('Apply it all the same? Only "yes" is accepted: ');
  // Without its own handling of the terminal: Ctrl-C stays the signal that it is for the rest of the run.
  const lines = createInterface({ input: stdin, terminal: false, signal });
  try {
    for await (const line of lines) return line.trim() === 'yes';
    stderr.write('\n');
    return false;
  } finally {
    lines.close();
  }
}

export function prettyJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export type Screen = Readonly<ReturnType<typeof openScreen>>;

type ScreenOptions = Partial<Omit<CommonOptions, 'format'>> & { readonly format?: string };

/** The action of a command: `run` gets what was declared, and the screen. Without a code the command ends with 0. */
export function ending<Given extends readonly unknown[]>(
  run: (...given: [...Given, Screen]) => Promise<ExitCode> | Promise<void>,
  { terminal, done }: { readonly terminal: Terminal; readonly done: (code: ExitCode) => void },
): (...given: [...Given, Command]) => Promise<void> {
  return async (...given) => {
    const declared = given.slice(0, -1) as unknown as Given;
    const code = await run(...declared, openScreen(declared.at(-1) as ScreenOptions, terminal));
    if (code !== undefined) done(code);
  };
}

export function openScreen(options: ScreenOptions, terminal: Terminal) {
  const { stdout, stderr, environment, signal, progress } = terminal;
  const isQuiet = options.quiet === true;
  /** Lines for people on standard error, of which each is clean already; silent with `--quiet`. */
  const noteLines = (text: string): void => {
    if (!isQuiet) progress.print(() => stderr.write(`${text}\n`));
  };
  /** One line, cleaned: a terminal, or a runner of CI, would obey names of files and answers of servers. */
  const note = (text: string): void => {
    noteLines(clean(text));
  };
  const isTTY = options.output === undefined && isTerminal(stdout);
  const result = async (text: string): Promise<void> => {
    progress.end();
    await writeResult(text, { file: options.output, stdout });
  };
  return {
    terminal,
    color: resolveColor({ noColorFlag: options.color === false, env: environment, isTTY }),
    width: resolveWidth({ env: environment, isTTY, columns: stdout.columns }),
    showKeys: options.showKeys === true,
    verbose: options.verbose === true,
    surroundings: () => ({ settings: operatorSettings(environment), signal, note, progress }),
    result,
    print: async (document: object, text: () => string) =>
      result(options.format === 'json' ? prettyJson({ formatVersion: 1, ...document }) : text()),
    /** @throws FlagkeelError `OUTPUT` */
    writeFile: async (file: string, text: string) => writeResult(text, { file, stdout }),
    note,
    noteLines,
    /** An error that does not end the program, on standard error, with `--quiet` too. */
    failure: (error: unknown): void => {
      progress.print(() => stderr.write(errorText(error)));
    },
    /** From now on a line answers the first signal: what is under way may take a while. */
    noteInterrupt: (): void => {
      signal.addEventListener('abort', () => {
        note('interrupted: what is under way is finished, the rest skipped (again: end at once)');
      });
    },
    progress,
  };
}

function sinkOn({ stderr, environment }: Outside, isJson: boolean): ProgressSink {
  const write = (text: string): unknown => stderr.write(text);
  if (isJson) {
    const log = createLog({ level: 'info', format: 'json', stream: stderr });
    return {
      kind: 'facts',
      tell: (facts) => {
        log.info({ ...facts }, 'progress');
      },
    };
  }
  if (!isTerminal(stderr) || environment['TERM'] === 'dumb') return { kind: 'plain', write };
  return {
    kind: 'terminal',
    write,
    columns: () => resolveWidth({ env: {}, isTTY: true, columns: stderr.columns }),
  };
}
