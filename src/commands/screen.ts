import { createLog } from '../log.js';
import { resolveColor, writeResult } from '../report/output.js';
import { ProgressReporter, type ProgressSink } from '../report/progress.js';
import type { CommonFlags, Terminal } from './options.js';

/** Columns where nothing says how wide the terminal is. */
const DEFAULT_WIDTH = 100;

/** How one command prints: results to standard output or a file, everything else to standard error. */
export interface Screen {
  readonly color: boolean;
  readonly width: number;
  result(text: string): Promise<void>;
  /** A line for people on standard error; silent with `--quiet`. */
  note(text: string): void;
  /** From now on the first signal is answered by a line: what is under way may take a while. */
  noteInterrupt(): void;
  /** Of long work; absent with `--quiet`. To be ended before anything else is written to standard error. */
  readonly progress?: ProgressReporter | undefined;
}

export function openScreen(flags: CommonFlags, terminal: Terminal): Screen {
  const { stdout, stderr, environment } = terminal;
  const progress = flags.quiet === true ? undefined : progressOn(terminal, flags.logFormat);
  const note = (text: string): void => {
    progress?.print(() => stderr.write(`${text}\n`));
  };
  return {
    color: resolveColor({
      noColorFlag: !flags.color,
      env: environment,
      isTTY: flags.output === undefined && stdout.isTTY,
    }),
    width: stdout.isTTY ? widthOf(stdout) : DEFAULT_WIDTH,
    result: async (text) => writeResult(text, { file: flags.output, stdout }),
    note,
    noteInterrupt: () => {
      terminal.signal.addEventListener('abort', () => {
        note(
          'interrupted: the request under way is finished, the rest skipped (again: end at once)',
        );
      });
    },
    progress,
  };
}

function progressOn(
  { stderr, environment }: Terminal,
  logFormat: CommonFlags['logFormat'],
): ProgressReporter {
  const write = (text: string): unknown => stderr.write(text);
  return new ProgressReporter(sinkOf());

  function sinkOf(): ProgressSink {
    if (logFormat === 'json') {
      const log = createLog({ level: 'info', format: 'json', stream: stderr });
      return {
        kind: 'facts',
        tell: (facts) => {
          log.info({ ...facts }, 'progress');
        },
      };
    }
    if (!stderr.isTTY || environment['TERM'] === 'dumb') return { kind: 'plain', write };
    return { kind: 'terminal', write, columns: () => widthOf(stderr) };
  }
}

/** A terminal that does not tell its size says 0. */
function widthOf({ columns }: NodeJS.WriteStream): number {
  return columns > 0 ? columns : DEFAULT_WIDTH;
}
