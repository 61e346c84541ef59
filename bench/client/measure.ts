import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Recorded } from './recording-service.js';

const USAGE = join(import.meta.dirname, 'usage.mjs');
export const MAIN = join(import.meta.dirname, '../../dist/main.js');
export const TSX = ['--import', 'tsx'];

export interface Measured {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMiB: number;
  /** The git commands that it started, as words. */
  readonly git: readonly string[];
  readonly stdout: string;
}

/** Runs a Node program to its end, process start included. */
export async function measured(
  args: readonly string[],
  { folder, env = {} }: { folder: string; env?: Readonly<Record<string, string>> },
): Promise<Measured> {
  const file = join(folder, 'usage.json');
  const start = performance.now();
  const child = spawn(process.execPath, ['--import', USAGE, ...args], {
    env: { PATH: process.env['PATH'] ?? '', BENCH_USAGE: file, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}: ${stdout}`);
  const wallMs = performance.now() - start;
  return {
    wallMs,
    stdout,
    ...(JSON.parse(readFileSync(file, 'utf8')) as Pick<Measured, 'cpuMs' | 'peakMiB' | 'git'>),
  };
}

/** Of a process, as Linux counts it: CPU time in steps of 10 ms. */
interface Usage {
  readonly cpuMs: number;
  /** Of children that have ended, and of theirs. */
  readonly childrenCpuMs: number;
  readonly memoryMiB: number;
}

export function usageOf(pid: number | 'self'): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, ofChildren = 0, theirSystem = 0] = fields.slice(11, 15).map(Number);
  const [, kiB] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return {
    cpuMs: (user + system) * 10,
    childrenCpuMs: (ofChildren + theirSystem) * 10,
    memoryMiB: Number(kiB) / 1_024,
  };
}

export interface Server {
  readonly origin: string;
  readonly key: string;
  stop(): void;
}

/** Starts a script of `bench/` that says its origin, and perhaps a key, on its first line. */
export async function startServer(script: string, ...args: readonly string[]): Promise<Server> {
  const path = join(import.meta.dirname, '..', script);
  const child = spawn(process.execPath, [...TSX, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const [origin = '', key = ''] = line.split(' ');
    return { origin, key, stop: () => child.kill('SIGKILL') };
  }
  throw new Error(`cannot start ${script}`);
}

export interface Service extends Server {
  requests(): Promise<Recorded>;
}

export async function startRecording(store: string, strict: boolean): Promise<Service> {
  const location = JSON.stringify({ kind: 'directory', path: store });
  const kind = strict ? 'strict' : 'full';
  const server = await startServer('client/recording-service.ts', location, kind);
  const requests = async () => {
    const answer = await fetch(`${server.origin}/bench/requests`);
    return (await answer.json()) as Recorded;
  };
  return { ...server, requests };
}

/** @returns a function that picks a number of each round, and gives the middle one. */
export function medianOf<Round>(
  rounds: readonly Round[],
): (pick: (round: Round) => number) => number {
  return (pick) => median(rounds.map(pick));
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
