import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN, measured, medianOf, usageOf, type Measured, type Service } from './measure.js';
import { line, table, whole } from './table.js';
import { flagkeel, withService, type Workspace } from './workspace.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const YAML = join(import.meta.dirname, 'bare-yaml.mjs');
const CLIENT = join(import.meta.dirname, 'bare-client.mjs');

/** CPU time of the program and of all processes that it started. */
interface Cost extends Measured {
  readonly allCpuMs: number;
}

interface Round {
  readonly first: Cost;
  readonly again: Cost;
  readonly yaml: Cost;
  readonly inSync: Cost;
  readonly floor: Cost;
  readonly requests: number;
}

/**
 * What a CI job pays: each round makes two clones of a repository whose state is shared. In one it runs `validate`
 * twice, in the other once in sync. Floors: parsing the same files with `yaml`; and that with the same requests, in one
 * process that makes nothing of the answers.
 */
export async function clone(workspaces: readonly Workspace[]): Promise<void> {
  const all: { readonly flags: number; readonly rounds: Round[] }[] = [];
  for (const workspace of workspaces) {
    const rounds: Round[] = [];
    await withService(workspace, false, async (service) => {
      await flagkeel(workspace, service, 'reconcile');
      while (rounds.length < ROUNDS) rounds.push(await inClones(workspace, service));
    });
    all.push({ flags: workspace.flags, rounds });
  }
  table('`validate` in a fresh clone, CPU time', [
    'flags',
    'first, ms',
    'again, ms',
    '`yaml`, ms',
    'ratio, first',
    'ratio, again',
    'peak, MiB',
  ]);
  for (const { flags, rounds } of all) {
    const of = medianOf(rounds);
    line([
      flags,
      whole(of(({ first }) => first.allCpuMs)),
      whole(of(({ again }) => again.allCpuMs)),
      whole(of(({ yaml }) => yaml.allCpuMs)),
      of(({ first, yaml }) => first.allCpuMs / yaml.allCpuMs).toFixed(2),
      of(({ again, yaml }) => again.allCpuMs / yaml.allCpuMs).toFixed(2),
      whole(of(({ first }) => first.peakMiB)),
    ]);
  }
  table('`reconcile` in sync in a fresh clone, CPU time of all processes', [
    'flags',
    'ms',
    'floor, ms',
    'ratio',
    'peak, MiB',
    'git commands',
    'pushes',
    'requests',
  ]);
  for (const { flags, rounds } of all) {
    const of = medianOf(rounds);
    line([
      flags,
      whole(of(({ inSync }) => inSync.allCpuMs)),
      whole(of(({ floor }) => floor.allCpuMs)),
      of(({ inSync, floor }) => inSync.allCpuMs / floor.allCpuMs).toFixed(2),
      whole(of(({ inSync }) => inSync.peakMiB)),
      of(({ inSync }) => inSync.git.length),
      of(({ inSync }) => inSync.git.filter((words) => words.startsWith('push ')).length),
      of(({ requests }) => requests),
    ]);
  }
}

async function inClones(workspace: Workspace, service: Service): Promise<Round> {
  const { folder } = workspace;
  const { origin, key } = service;
  const fresh = (name: string): string => {
    const directory = join(folder, name);
    rmSync(directory, { recursive: true, force: true });
    execFileSync('git', ['clone', '--quiet', workspace.repository, directory]);
    return directory;
  };
  const validated = fresh('validated');
  const first = await cost([MAIN, 'validate', validated], folder);
  const again = await cost([MAIN, 'validate', validated], folder);
  const yaml = await cost([YAML, validated], folder);
  const reconciled = fresh('reconciled');
  await service.requests();
  const args = [MAIN, 'reconcile', '--url', origin, reconciled];
  const inSync = await cost(args, folder, { FLAGKEEL_API_KEY: key });
  const { lines, atOnce } = await service.requests();
  const file = join(folder, 'paths.txt');
  writeFileSync(file, lines.map((each) => each.replace(/^GET /, '')).join('\n'));
  const floor = await cost([CLIENT, origin, key, file, String(atOnce), reconciled], folder);
  return { first, again, yaml, inSync, floor, requests: lines.length };
}

async function cost(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Cost> {
  const before = usageOf('self').childrenCpuMs;
  const run = await measured(args, { folder, env });
  return { ...run, allCpuMs: usageOf('self').childrenCpuMs - before };
}
