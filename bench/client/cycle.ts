import childProcess from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { openRun } from '../../src/compose/run.js';
import { operatorSettings } from '../../src/compose/settings.js';
import { LocalUpstream } from '../../src/daemon/upstream/local.js';
import { reconcile } from '../../src/reconcile/reconcile.js';
import { RunCache } from '../../src/reconcile/context.js';
import { flagName } from '../fill.js';
import { usageOf } from './measure.js';
import { commit } from './workspace.js';

/**
 * A process that runs again and again: full cycles, then cycles after commits that touch one flag each. Says as JSON of
 * both what each cost: CPU time of the process, processes of git that it started, and their CPU time. As in the daemon a
 * look at the directory comes before the run, which reads the commit that was seen; what it costs is told by itself.
 *
 * Usage: `cycle.ts REPOSITORY ORIGIN KEY ROUNDS`.
 */
const [repository = '', url = '', key = '', rounds = '5'] = process.argv.slice(2);
const memory = new RunCache();
let processes = 0;
const { spawn } = childProcess;
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  processes += 1;
  return spawn(...args);
}) as typeof spawn;
syncBuiltinESMExports();

const { signal } = new AbortController();
const upstream = new LocalUpstream(repository);

interface Cost {
  readonly cpuMs: number;
  readonly gitCpuMs: number;
  readonly gitProcesses: number;
  readonly rssMiB: number;
  /** Of the look before the run. */
  readonly lookCpuMs: number;
  readonly observed: string;
}

async function cycle(touched: boolean): Promise<Cost> {
  const beforeLook = process.cpuUsage();
  const { commit } = await upstream.poll();
  const lookCpuMs = cpuMsSince(beforeLook);
  processes = 0;
  const gitBefore = usageOf('self').childrenCpuMs;
  const before = process.cpuUsage();
  const observed = await run(commit?.commit ?? '', touched);
  return {
    cpuMs: cpuMsSince(before),
    lookCpuMs,
    gitCpuMs: usageOf('self').childrenCpuMs - gitBefore,
    gitProcesses: processes,
    rssMiB: process.memoryUsage.rss() / 2 ** 20,
    observed,
  };
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function run(commit: string, touched: boolean): Promise<string> {
  const settings = operatorSettings({ FLAGKEEL_API_KEY: key });
  const touchedSince = touched ? 'memory' : undefined;
  const flags = { environment: [], only: [], lockTimeout: 0, url, touchedSince } as const;
  await using opened = await openRun(repository, flags, {
    settings,
    signal,
    note: () => undefined,
    memory,
    open: async (git) => upstream.open(commit, git),
  });
  const { plan } = await reconcile(opened.context, {
    openWriter: opened.openWriter,
    now: Date.now,
    signal,
    progress: {},
    note: {},
    onKill: () => undefined,
  });
  return plan.observed;
}

/** A commit that touches one flag. */
function touch(name: string): void {
  const file = join(repository, 'flags', `${name}.yaml`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/The new way.*/, `The new way, try ${Date.now()}`));
  commit(repository, `Touch ${name}`);
}

await cycle(false);
const full = [];
for (let round = 0; round < Number(rounds); round += 1) full.push(await cycle(false));
const touched = [];
for (let round = 0; round <= Number(rounds); round += 1) {
  touch(flagName(round));
  await fetch(`${url}/bench/requests`);
  touched.push(await cycle(true));
}
// The first of them compares all objects with their bases, which the others remember.
process.stdout.write(JSON.stringify({ full, touched: touched.slice(1), first: touched[0] }));
