import { PassThrough } from 'node:stream';
import type { Outside } from '../../src/cli/terminal.js';

/** What a command wrote so far. */
interface Captured {
  stdout: string;
  stderr: string;
}

/** Streams that are no terminal, for a command that runs in the process of the test; nothing stands on its input. */
export function capturedTerminal(environment: Readonly<Record<string, string>>): {
  readonly terminal: Outside;
  readonly texts: Captured;
} {
  const texts: Captured = { stdout: '', stderr: '' };
  const capture = (name: keyof Captured): NodeJS.WriteStream => {
    const stream = new PassThrough({ encoding: 'utf8' });
    stream.on('data', (text: string) => (texts[name] += text));
    return stream as unknown as NodeJS.WriteStream;
  };
  const terminal: Outside = {
    stdin: new PassThrough().end() as unknown as NodeJS.ReadStream,
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    environment,
    signal: new AbortController().signal,
  };
  return { terminal, texts };
}
