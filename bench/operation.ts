import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusDocument } from '../src/daemon/http/view-routes.js';
import { newWorkspace } from './client/apply.js';
import { usageOf, type Service } from './client/measure.js';
import { line, table, whole, write } from './client/table.js';
import { end, limit, start, withOwn, type Workspace } from './client/workspace.js';

/**
 * What an operator of many flags sees and pays: the first apply under a limit, minute by minute; an apply that is cut in
 * the middle and goes on; and a daemon at rest.
 *
 * Usage: `npm run bench:operation -- [first] [resumed] [rest]`; default: all, which takes an hour and a half.
 * `BENCH_FLAGS` and `BENCH_REST_MINUTES` make it quick.
 */
const FLAGS = Number(process.env['BENCH_FLAGS'] ?? 1_000);
const REST_MINUTES = Number(process.env['BENCH_REST_MINUTES'] ?? 30);
/** A flag, and its definition in each environment. */
const WRITES = FLAGS * 4;
/** Requests in any 10 s. */
const ADMITTED = 20;
/** Ten times the limit, because the counts of a cut apply do not depend on it. */
const ADMITTED_WHEN_CUT = 200;
const WINDOW_MINUTES = 1 / 6;
const MINUTE_MS = 60_000;

const PARTS = { first, resumed, rest };

/** A daemon, and what its log has said since it was asked last. */
interface Daemon {
  readonly child: ChildProcess;
  readonly origin: string;
  takeLog(): readonly string[];
}

/** From the start of the daemon until all is in sync: each minute in the words of the page, `/status` and the log. */
async function first(): Promise<void> {
  table(`A first apply of ${FLAGS} flags × 3 under ${ADMITTED} requests in any 10 s, each minute`, [
    'minute',
    '`/status`',
    'page',
    'log lines',
    'last progress or end in the log',
  ]);
  await withNewWorkspace(false, async (workspace, service) => {
    await limit(service, ADMITTED);
    const startedAt = performance.now();
    const minutes = (): number => (performance.now() - startedAt) / MINUTE_MS;
    const daemon = await startDaemon(workspace, service);
    try {
      let requests = 0;
      for (let minute = 1; ; minute += 1) {
        const isDone = await inSyncBefore(daemon, startedAt + minute * MINUTE_MS);
        const { said, page } = await saidBy(daemon);
        const log = daemon.takeLog();
        const told = log.findLast((each) => /"msg":"(progress|run ended)"/.test(each)) ?? '';
        line([minutes().toFixed(1), said, page, log.length, told.replace(/^.*?"revision":/, '')]);
        requests += (await service.requests()).lines.length;
        if (isDone) break;
      }
      const alone = (requests / ADMITTED) * WINDOW_MINUTES;
      write(
        `\n${requests} requests in ${minutes().toFixed(1)} minutes; the limit alone: ${alone.toFixed(1)} minutes; ratio ${(minutes() / alone).toFixed(2)}`,
      );
    } finally {
      await end(daemon.child, 'SIGKILL');
    }
  });
}

/** A first apply that a signal cuts when half of its writes are made, and the run that goes on with it. */
async function resumed(): Promise<void> {
  table(`An apply of ${FLAGS} flags × 3, cut after half of ${WRITES} writes, and resumed`, [
    'service',
    'cut by',
    'cut run: requests',
    'writes left',
    'resumed run: requests',
    'of them GET',
    'requests per write left',
  ]);
  for (const [name, isStrict, signal] of [
    ['bulk lists', false, 'SIGTERM'],
    ['bulk lists', false, 'SIGKILL'],
    ['no bulk lists', true, 'SIGTERM'],
    ['no bulk lists', true, 'SIGKILL'],
  ] as const) {
    await withNewWorkspace(isStrict, async (workspace, service) => {
      await limit(service, ADMITTED_WHEN_CUT);
      const cut = start(workspace, service, ['reconcile', '--quiet']);
      let [made, requests] = [0, 0];
      const count = async (): Promise<void> => {
        const { accepted, lines } = await service.requests();
        made += accepted;
        requests += lines.length;
      };
      while (made < WRITES / 2) {
        await sleep(100);
        await count();
      }
      await end(cut, signal);
      await count();
      const left = WRITES - made;
      const goesOn = start(workspace, service, ['reconcile', '--quiet']);
      const code = await new Promise((resolve) => goesOn.once('close', resolve));
      if (code !== 0) throw new Error(`the resumed run ended with ${String(code)}`);
      const { lines } = await service.requests();
      const reads = lines.filter((each) => each.startsWith('GET ')).length;
      line([name, signal, requests, left, lines.length, reads, (lines.length / left).toFixed(2)]);
    });
  }
}

/** A daemon in sync, without commits and without a full look on schedule. */
async function rest(): Promise<void> {
  table(`A daemon at rest over ${FLAGS} flags × 3`, [
    'minutes',
    'CPU, s',
    'CPU, %',
    'memory at first, MiB',
    'memory at last, MiB',
    'log lines',
    'requests',
  ]);
  await withNewWorkspace(false, async (workspace, service) => {
    const daemon = await startDaemon(workspace, service, '--schedule', 'off');
    try {
      while (!(await isInSync(daemon))) await sleep(500);
      // What the first run leaves behind is collected, and counted with that run.
      await sleep(MINUTE_MS);
      daemon.takeLog();
      await service.requests();
      const { pid = 0 } = daemon.child;
      const before = usageOf(pid);
      await sleep(REST_MINUTES * MINUTE_MS);
      const after = usageOf(pid);
      const cpuS = (after.cpuMs - before.cpuMs) / 1_000;
      const percent = (100 * cpuS) / (REST_MINUTES * 60);
      const { lines } = await service.requests();
      line([
        ...[REST_MINUTES, cpuS.toFixed(1), percent.toFixed(2)],
        ...[whole(before.memoryMiB), whole(after.memoryMiB)],
        ...[daemon.takeLog().length, lines.length],
      ]);
    } finally {
      await end(daemon.child, 'SIGKILL');
    }
  });
}

async function withNewWorkspace(
  isStrict: boolean,
  use: (workspace: Workspace, service: Service) => Promise<void>,
): Promise<void> {
  const workspace = newWorkspace('flag', FLAGS);
  await withOwn(workspace, isStrict, async (service) => use(workspace, service));
}

async function startDaemon(
  workspace: Workspace,
  service: Service,
  ...args: readonly string[]
): Promise<Daemon> {
  const all = ['watch', '--listen', '127.0.0.1:0', '--log-format', 'json', ...args];
  const child = start(workspace, service, all, 'pipe');
  child.stdout?.resume();
  let log: string[] = [];
  if (child.stderr === null) throw new Error('bug: the daemon has no log');
  const lines = createInterface(child.stderr);
  const origin = await new Promise<string>((resolve, reject) => {
    child.once('close', () => {
      reject(new Error(log.join('\n')));
    });
    lines.on('line', (text) => {
      log.push(text);
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (found !== undefined && found !== service.origin) resolve(found);
    });
  });
  return {
    child,
    origin,
    takeLog: () => {
      const taken = log;
      log = [];
      return taken;
    },
  };
}

/** @returns whether all is in sync before that moment, in milliseconds of `performance`; true at once when it is. */
async function inSyncBefore(daemon: Daemon, deadline: number): Promise<boolean> {
  while (performance.now() < deadline) {
    if (await isInSync(daemon)) return true;
    await sleep(1_000);
  }
  return false;
}

async function statusOf({
  origin,
}: Daemon): Promise<StatusDocument['sources'][number] | undefined> {
  const answer = await fetch(`${origin}/status`);
  return ((await answer.json()) as StatusDocument).sources[0];
}

async function isInSync(daemon: Daemon): Promise<boolean> {
  const source = await statusOf(daemon);
  return source?.progress === null && source.runs[0]?.exitCode === 0;
}

async function saidBy(daemon: Daemon): Promise<{ said: string; page: string }> {
  const source = await statusOf(daemon);
  const { progress, verdict } = source ?? {};
  const page = await (await fetch(`${daemon.origin}/`)).text();
  const [, headline = ''] = /<p class="says">(.*?)<\/p>/s.exec(page) ?? [];
  const [, bar = ''] = /<p class="progress">(.*?)<\/p>/s.exec(page) ?? [];
  const { phase = '', done = 0, total = 0, requests = 0, expectedEnd = '' } = progress ?? {};
  const isUnderWay = progress !== null && progress !== undefined;
  const said = isUnderWay
    ? `${phase} ${String(done)}/${String(total)}, ${String(requests)} requests, until ${expectedEnd}`
    : (verdict?.headline ?? '');
  return { said, page: [headline, bar].map(textOf).join(' · ') };
}

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

const chosen = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS)) {
  if (chosen.length === 0 || chosen.includes(name)) await part();
}
