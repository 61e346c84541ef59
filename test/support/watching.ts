import type { ChildProcess } from 'node:child_process';
import { startFlagkeel } from './cli.js';
import { until } from './patience.js';

const PATIENCE_MS = 60_000;

/** One line of the daemon's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly source?: string;
  readonly run?: string;
  readonly revision?: string | null;
  readonly result?: string;
  readonly triggers?: readonly string[];
  readonly summary?: string;
  readonly [field: string]: unknown;
}

/** The built program, as it watches. */
export class Watching {
  readonly lines: LogLine[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>, cwd?: string) {
    const words = ['watch', '--log-format', 'json', '--verbose', ...args];
    const { child, ended } = startFlagkeel(words, { cwd, env });
    this.#child = child;
    this.#ended = ended.then(({ code }) => code);
    let rest = '';
    child.stderr?.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Exit code, or the signal that ended it; null: it is running. */
  get end(): number | NodeJS.Signals | null {
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  /** The newest lines of its log, as text. */
  get tail(): string {
    const log = this.lines.map((line) => JSON.stringify(line)).join('\n');
    return log.slice(-8_000);
  }

  /** Ends of runs, oldest first. */
  get runs(): LogLine[] {
    return this.lines.filter(({ msg }) => msg.startsWith('run ended'));
  }

  /** Waits for the first such line, of those that came already too. */
  async line(isWanted: (line: LogLine) => boolean, what = 'line'): Promise<LogLine> {
    return this.until(() => this.lines.find(isWanted), what);
  }

  /** Waits until a run of this commit has ended so. */
  async ran(revision: string, result: string): Promise<LogLine> {
    const what = `run of ${revision.slice(0, 8)} that ended ${result}`;
    return this.line(
      (line) =>
        line.msg.startsWith('run ended') && line.revision === revision && line.result === result,
      what,
    );
  }

  /** Looks again until there is something, which it returns. */
  async until<T>(look: () => T | Promise<T>, what = 'it'): Promise<Exclude<T, false | undefined>> {
    const waited = (): string => `${what}:\n${this.tail}`;
    const lookAlive = async (): Promise<T> => {
      const found = await look();
      const isNothing = found === false || found === undefined;
      if (isNothing && this.end !== null) throw new Error(`it ended before ${waited()}`);
      return found;
    };
    return until(lookAlive, waited, PATIENCE_MS);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** @returns the exit code. */
  async stop(name: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode === null) this.#child.kill(name);
    return this.#ended;
  }

  #take(line: string): void {
    try {
      this.lines.push(JSON.parse(line) as LogLine);
    } catch {
      this.lines.push({ level: 'error', msg: line });
    }
  }
}
