import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { newWorkspace, writeFlags } from './apply.js';
import { MAIN, median, type Service } from './measure.js';
import { line, table, whole } from './table.js';
import { commit, flagkeel, withService, type Workspace } from './workspace.js';

const KILLS = Number(process.env['BENCH_KILLS'] ?? 20);
/** In three environments each, and what stands at workspace level: a little more than 1,000 changes. */
const FLAGS = 334;
const SETTLE_MS = 45_000;
/** Between two kills; a kill that nobody else is beside needs none. */
const PAUSE_MS = { nothing: 100, 'an apply': 2_000 };
const BOUND_MS = 1_000;

/**
 * `flagkeel kill` in a process of its own, beside an apply of more than 1,000 changes over the same service and key: from the start of the process
 * to the answer of the write, some seconds apart. The service admits 20 requests in any 10 s, and says nothing of it. Floor: the same kills of a service that nobody else asks.
 */
export async function kill(): Promise<void> {
  table(`${KILLS} kills beside an apply, each by \`flagkeel kill\``, [
    'beside',
    'median, ms',
    'p95, ms',
    'worst, ms',
    'bound of p95, ms',
    'requests until the write',
  ]);
  for (const beside of ['nothing', 'an apply'] as const) {
    const kills = await killsBeside(beside);
    const times = kills.map(({ ms }) => ms).toSorted((a, b) => a - b);
    // Beside an apply they cannot be told apart from its own.
    const requests = beside === 'nothing' ? median(kills.map((each) => each.requests)) : '';
    const p95 = times[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
    line([
      beside,
      ...[median(times), p95, times.at(-1) ?? Number.NaN, BOUND_MS].map(whole),
      requests,
    ]);
  }
}

/** One `flagkeel kill`: until its write was answered, and so many requests. */
interface Kill {
  readonly ms: number;
  readonly requests: number;
}

async function killsBeside(beside: 'nothing' | 'an apply'): Promise<Kill[]> {
  const workspace = newWorkspace('victim', KILLS);
  try {
    return await withService(workspace, false, async (service) => {
      await flagkeel(workspace, service, 'reconcile');
      if (beside === 'nothing') return await killAll(workspace, service, PAUSE_MS[beside]);
      writeFlags(workspace.repository, 'flag', FLAGS);
      commit(workspace.repository, 'Write many flags');
      await fetch(`${service.origin}/bench/limit`);
      const apply = startApply(workspace, service);
      // By then it has read what is there, knows the pace of the service, and writes.
      await sleep(SETTLE_MS);
      const { lines } = await service.requests();
      if (!lines.some((each) => each.startsWith('POST'))) throw new Error('nothing is applied yet');
      const kills = await killAll(workspace, service, PAUSE_MS[beside]);
      if (apply.exitCode !== null) throw new Error('the apply was over before the kills were');
      apply.kill('SIGKILL');
      return kills;
    });
  } finally {
    rmSync(workspace.folder, { recursive: true, force: true });
  }
}

async function killAll(workspace: Workspace, service: Service, pauseMs: number): Promise<Kill[]> {
  await service.requests();
  const kills: Kill[] = [];
  for (let at = 0; at < KILLS; at += 1) {
    kills.push(await killOne(`victim-${String(at)}`, workspace, service));
    await sleep(pauseMs);
  }
  return kills;
}

function startApply({ repository }: Workspace, { origin, key }: Service) {
  return spawn(process.execPath, [MAIN, 'reconcile', '--quiet', '--url', origin, repository], {
    env: { PATH: process.env['PATH'] ?? '', FLAGKEEL_API_KEY: key },
    stdio: 'ignore',
  });
}

/** @returns milliseconds from the start of the process to the end of the write's answer. */
async function killOne(name: string, workspace: Workspace, service: Service): Promise<Kill> {
  const startedAt = Date.now();
  await flagkeel(workspace, service, 'kill', name, '--environment', 'production');
  const { patchedAt, lines } = await service.requests();
  const [, at] = Object.entries(patchedAt).find(([path]) => path.includes(`/${name}/`)) ?? [];
  if (at === undefined) throw new Error(`${name} was not killed`);
  return { ms: at - startedAt, requests: lines.findIndex((each) => each.startsWith('PATCH')) + 1 };
}
