import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A key with its attributes. */
export interface Case {
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Treatment and configuration (JSON text, or null). */
export type Pair = readonly [treatment: string, configuration: string | null];

/**
 * A program that evaluates with one SDK. It writes `"ready"` once the SDK is, and for each line `{ flags, cases }` that
 * it reads a line with a list for each case, which has a pair for each flag.
 */
export interface SdkProcess {
  readonly readyMs: number;
  evaluate(flags: readonly string[], cases: readonly Case[]): Promise<Pair[][]>;
  stop(): Promise<void>;
}

/** @throws Error the program ended before it was ready. */
export async function startSdk(
  command: readonly [string, ...string[]],
  world: { readonly origin: string; readonly key: string },
): Promise<SdkProcess> {
  const [program, ...options] = command;
  const begun = performance.now();
  const child = spawn(program, [...options, world.origin, world.key], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const line = (await lines.next()) as IteratorResult<string, undefined>;
    if (line.done === true) throw new Error(`${command.join(' ')} ended`);
    return line.value;
  };
  let line = await next();
  // What a tool says before the program starts is not the program's.
  while (line !== '"ready"') line = await next();
  return {
    readyMs: Math.round(performance.now() - begun),
    evaluate: async (flags, cases) => {
      child.stdin.write(`${JSON.stringify({ flags, cases })}\n`);
      return JSON.parse(await next()) as Pair[][];
    },
    stop: async () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
