import { isRemote } from '../test/support/counted-git.js';
import { PushWorld, type Rhythm } from '../test/support/push-world.js';
import { usageOf } from './client/measure.js';

/**
 * How long it takes from a push to the git server until the service has it, and what that costs: twenty pushes each,
 * over http and over ssh, to a daemon that a signed webhook tells at once, and to one that fetches by the clock. Prints a
 * table. An argument such as `ssh` picks rows; `FLAGKEEL_BENCH_PUSHES` says how many pushes other than twenty.
 */
const PUSHES = Number(process.env['FLAGKEEL_BENCH_PUSHES'] ?? 20);
const INTERVAL_MS = 5_000;
const JITTER_MS = 500;
/** How often the service is asked whether it has it. */
const POLL_MS = 10;

interface Measured {
  /** From the end of each push until the service had it. */
  readonly durationsMs: readonly number[];
  /** Of the daemon, for each push; where it fetches by the clock, what that costs meanwhile is in it. */
  readonly perPush: {
    /** Commands of git. */
    readonly processes: number;
    /** Those of them that went to the git server. */
    readonly connections: number;
    /** HTTP requests of these. */
    readonly requests: number;
    /** User and system time of the daemon's own process. */
    readonly cpuMs: number;
  };
}

async function measured(kind: 'http' | 'ssh', rhythm: Rhythm | null): Promise<Measured> {
  await using world = await PushWorld.open(kind, rhythm);
  const { daemon, git } = world;
  git.take();
  const before = { requests: world.requests, cpuMs: usageOf(daemon.pid).cpuMs };
  const durationsMs: number[] = [];
  for (let percent = 2; percent < 2 + PUSHES; percent += 1) {
    const commit = world.push(percent);
    const pushedAt = performance.now();
    if (rhythm === null) await world.tell(commit);
    while ((await world.percent()) !== percent)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    durationsMs.push(performance.now() - pushedAt);
    await daemon.ran(commit, 'applied');
  }
  const commands = git.take();
  return {
    durationsMs,
    perPush: {
      processes: commands.length / PUSHES,
      connections: commands.filter(isRemote).length / PUSHES,
      requests: (world.requests - before.requests) / PUSHES,
      cpuMs: (usageOf(daemon.pid).cpuMs - before.cpuMs) / PUSHES,
    },
  };
}

const COLUMNS = ['median', 'p95', 'most', 'git', 'to server', 'requests', 'CPU'] as const;

function line(name: string, cells: readonly string[]): string {
  return `${[name.padEnd(34), ...cells.map((cell) => cell.padStart(9))].join(' ')}\n`;
}

function row(name: string, { durationsMs, perPush }: Measured): string {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (part: number): string =>
    `${Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0)} ms`;
  const { processes, connections, requests, cpuMs } = perPush;
  const counts = [processes, connections, requests].map((count) => count.toFixed(1));
  return line(name, [at(0.5), at(0.95), at(1), ...counts, `${Math.round(cpuMs)} ms`]);
}

const only = process.argv[2] ?? '';
const clock = `every ${INTERVAL_MS} ms + up to ${JITTER_MS} ms`;
process.stdout.write(line(`push → on the service, ${PUSHES} each`, COLUMNS));
for (const kind of ['http', 'ssh'] as const) {
  for (const [how, rhythm] of [
    ['by webhook', null],
    [clock, { intervalMs: INTERVAL_MS, jitterMs: JITTER_MS }],
  ] as const) {
    const name = `${kind}, ${how}`;
    if (name.startsWith(only)) process.stdout.write(row(name, await measured(kind, rhythm)));
  }
}
