import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newWorkspace, writeFlags } from './apply.js';
import { median, type Service } from './measure.js';
import { line, table, whole } from './table.js';
import { commit, end, flagkeel, limit, start, withOwn, type Workspace } from './workspace.js';

const KILLS = Number(process.env['BENCH_KILLS'] ?? 20);
/** In three environments each: a full look, and an apply, last longer than the kills beside them. */
const FLAGS = Number(process.env['BENCH_KILL_FLAGS'] ?? 200);
/** By then a process has met the limit and gone on: before, it cannot know that there is one. */
const SETTLE_MS = 15_000;
/** The daemon's first look, at the victims alone, is over by then. */
const FIRST_LOOK_MS = 40_000;
const PAUSE_MS = 2_000;
const LOOK_MS = 20;
const PATIENCE_MS = 60_000;
const BOUND_MS = 1_000;

/** What else runs while the daemon gets its kills. @returns processes to end. */
type Beside = (workspace: Workspace, service: Service) => Promise<readonly ChildProcess[]>;

const SITUATIONS: Readonly<Record<string, Beside>> = {
  nothing: async (workspace, service) => {
    const started = await limitedDaemon(workspace, service);
    await sleep(FIRST_LOOK_MS);
    return started;
  },
  'an apply': async (workspace, service) => {
    writeFlags(workspace.repository, 'flag', FLAGS);
    commit(workspace.repository, 'Write many flags');
    return limitedDaemon(workspace, service);
  },
  'a full look': async (workspace, service) => {
    await applyMany(workspace, service);
    return limitedDaemon(workspace, service);
  },
  'a resumed apply': async (workspace, service) => {
    writeFlags(workspace.repository, 'flag', FLAGS);
    commit(workspace.repository, 'Write many flags');
    const cut = start(workspace, service, ['reconcile', '--quiet']);
    await until(async () => (await service.requests()).lines.some(isPost), 'the first apply');
    await end(cut, 'SIGKILL');
    return limitedDaemon(workspace, service);
  },
  'a full look of another process': async (workspace, service) => {
    const twin = { ...workspace, repository: join(workspace.folder, 'twin') };
    cpSync(workspace.repository, twin.repository, { recursive: true });
    await applyMany(twin, service);
    const daemon = await limitedDaemon(workspace, service);
    await sleep(FIRST_LOOK_MS);
    const other = start(twin, service, ['reconcile', '--dry-run', '--quiet']);
    await sleep(SETTLE_MS);
    return [...daemon, other];
  },
};

/**
 * A kill that a commit orders, by `flagkeel watch` over the directory: from the end of `git commit` to the answer of the write, some
 * seconds apart. The service has no bulk lists, admits 20 requests in any 10 s, and says nothing of it.
 *
 * `BENCH_KILL_BESIDE` names one situation.
 */
export async function kill(): Promise<void> {
  table(`${KILLS} kills by commits, under 20 requests in any 10 s`, [
    'beside',
    'median, ms',
    'p95, ms',
    'worst, ms',
    'bound of p95, ms',
  ]);
  const only = process.env['BENCH_KILL_BESIDE'];
  for (const [name, beside] of Object.entries(SITUATIONS)) {
    if (only !== undefined && only !== name) continue;
    const times = (await killsBeside(beside)).toSorted((a, b) => a - b);
    const p95 = times[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
    line([name, ...[median(times), p95, times.at(-1) ?? Number.NaN, BOUND_MS].map(whole)]);
  }
}

async function killsBeside(beside: Beside): Promise<number[]> {
  const workspace = newWorkspace('victim', KILLS);
  return withOwn(workspace, true, async (service) => {
    writeKills(workspace, 0);
    commit(workspace.repository, 'Begin a list of kills');
    await flagkeel(workspace, service, 'reconcile');
    const processes = await beside(workspace, service);
    try {
      return await killAll(workspace, service);
    } finally {
      for (const each of processes) await end(each, 'SIGKILL');
    }
  });
}

/** @returns how long each took, in milliseconds. */
async function killAll(workspace: Workspace, service: Service): Promise<number[]> {
  const times: number[] = [];
  for (let count = 1; count <= KILLS; count += 1) {
    const name = `victim-${String(count - 1)}`;
    writeKills(workspace, count);
    commit(workspace.repository, `Kill ${name}`);
    const startedAt = Date.now();
    let patchedAt: number | undefined;
    await until(async () => {
      const patched = Object.entries((await service.requests()).patchedAt);
      patchedAt = patched.find(([path]) => path.includes(`/${name}/`))?.[1];
      return patchedAt !== undefined;
    }, name);
    times.push((patchedAt ?? Number.NaN) - startedAt);
    await sleep(PAUSE_MS);
  }
  return times;
}

function writeKills({ repository }: Workspace, count: number): void {
  const entries = Array.from(
    { length: count },
    (_, index) => `  victim-${String(index)}: { reason: INC-${String(index)} }\n`,
  );
  const kills = count === 0 ? 'kills: {}\n' : `kills:\n${entries.join('')}`;
  mkdirSync(join(repository, 'kills'), { recursive: true });
  writeFileSync(join(repository, 'kills/production.yaml'), kills);
}

async function applyMany(workspace: Workspace, service: Service): Promise<void> {
  writeFlags(workspace.repository, 'flag', FLAGS);
  commit(workspace.repository, 'Write many flags');
  await flagkeel(workspace, service, 'reconcile');
}

async function limitedDaemon(
  workspace: Workspace,
  service: Service,
): Promise<readonly ChildProcess[]> {
  await limit(service);
  const daemon = start(workspace, service, ['watch']);
  await sleep(SETTLE_MS);
  return [daemon];
}

function isPost(request: string): boolean {
  return request.startsWith('POST');
}

async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(LOOK_MS);
  }
}
