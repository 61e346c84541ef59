import { resolveColor, writeResult } from '../report/output.js';
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
}

export function openScreen(flags: CommonFlags, terminal: Terminal): Screen {
  const { stdout, stderr, environment } = terminal;
  return {
    color: resolveColor({
      noColorFlag: !flags.color,
      env: environment,
      isTTY: flags.output === undefined && stdout.isTTY,
    }),
    width: stdout.isTTY ? stdout.columns : DEFAULT_WIDTH,
    result: async (text) => writeResult(text, { file: flags.output, stdout }),
    note: (text) => {
      if (flags.quiet !== true) stderr.write(`${text}\n`);
    },
  };
}
