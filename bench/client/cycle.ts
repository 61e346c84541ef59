import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRun } from '../../src/compose/open-run.js';
import { operatorSettings } from '../../src/config.js';
import { reconcile } from '../../src/reconcile.js';
import { RunMemory } from '../../src/stages/run-memory.js';
import { flagName } from '../fill.js';
import { commit } from './workspace.js';

/**
 * A process that runs again and again: full cycles, then cycles after commits that touch one flag each. Says the CPU
 * times of both as JSON, and what was looked at. Git's own processes are not in them.
 *
 * Usage: `cycle.ts REPOSITORY ORIGIN KEY ROUNDS`.
 */
const [repository = '', url = '', key = '', rounds = '5'] = process.argv.slice(2);
const memory = new RunMemory();
const { signal } = new AbortController();

async function cycle(touched: boolean): Promise<{ cpuMs: number; observed: string }> {
  const before = process.cpuUsage();
  const settings = operatorSettings({ FLAGHOIST_API_KEY: key });
  const flags = { environment: [], only: [], lockTimeout: 0, url, touched };
  await using run = await openRun(repository, flags, {
    settings,
    signal,
    note: () => undefined,
    memory,
  });
  const { plan } = await reconcile(run.context, {
    openWriter: run.openWriter,
    now: Date.now,
    signal,
    progress: {},
    words: {},
    onKill: () => undefined,
  });
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1_000, observed: plan.observed };
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
