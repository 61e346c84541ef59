#!/usr/bin/env node
import { EXIT, exitCodeOfSignal, FlagkeelError } from './errors.js';

/** Process entry. The first signal aborts the request under way, the second ends the process. */
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (interrupt.signal.aborted) process.exit(exitCodeOfSignal({ reason: name }));
    interrupt.abort(name);
  });
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

// A reader such as `head` may leave before the end, or the disk be full. The work goes on, because it may write. Lost
// output makes the exit code that of a failure; a lost log does not.
let isLost = false;
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error) => {
  isLost ||= !isClosedPipe(error);
});
process.on('exit', () => {
  if (isLost && (process.exitCode ?? 0) === 0) process.exitCode = EXIT.failed;
});

try {
  const { runCli } = await import('./cli/program.js');
  process.exitCode = await runCli(process.argv.slice(2), {
    // Opened on first use: most runs read no input.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    signal: interrupt.signal,
    startedAt: performance.timeOrigin,
    onHangup: (listener) => process.on('SIGHUP', listener),
  });
} catch (error) {
  if (isClosedPipe(error)) process.exit(EXIT.ok);
  const { errorText } = await import('./report/text/error.js');
  process.stderr.write(errorText(error));
  const { signal } = interrupt;
  if (!(error instanceof FlagkeelError)) process.exitCode = EXIT.failed;
  else process.exitCode = signal.aborted ? exitCodeOfSignal(signal) : error.exitCode;
}
