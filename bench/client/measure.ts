import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Recorded } from './recording-service.js';

const USAGE = join(import.meta.dirname, 'usage.mjs');
export const MAIN = join(import.meta.dirname, '../../dist/main.js');
const TSX = ['--import', 'tsx'];

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

/** CPU time of children that have ended, and of theirs, as the kernel counts it in steps of 10 ms; Linux alone. */
export function childrenCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')'))
    .split(' ')
    .slice(14, 16)
    .map(Number);
  return (user + system) * 10;
}

export interface Service {
  readonly origin: string;
  readonly key: string;
  requests(): Promise<Recorded>;
  stop(): void;
}

export async function startRecording(store: string, strict: boolean): Promise<Service> {
  const script = join(import.meta.dirname, 'recording-service.ts');
  const location = JSON.stringify({ kind: 'directory', path: store });
  const child = spawn(process.execPath, [...TSX, script, location, strict ? 'strict' : 'full'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const [origin = '', key = ''] = line.split(' ');
    const requests = async () => {
      const answer = await fetch(`${origin}/bench/requests`);
      return (await answer.json()) as Recorded;
    };
    return { origin, key, requests, stop: () => child.kill('SIGKILL') };
  }
  throw new Error('cannot start the service');
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
