import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillStore } from '../fill.js';
import { MAIN, measured, startRecording, type Service } from './measure.js';

/** Flags in three environments and one segment, on the service and in a config repository alike; in sync. */
export interface Workspace {
  readonly flags: number;
  readonly folder: string;
  readonly store: string;
  readonly repository: string;
}

/** With nothing on the service, and an empty repository. */
export function emptyWorkspace(flags: number): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-bench-'));
  const [store, repository] = [join(folder, 'store'), join(folder, 'repository')];
  mkdirSync(store);
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  return { flags, folder, store, repository };
}

export async function buildWorkspace(flags: number): Promise<Workspace> {
  const workspace = emptyWorkspace(flags);
  const { store, repository } = workspace;
  await fillStore({ kind: 'directory', path: store }, flags);
  await withService(workspace, false, async (service) => {
    await flagkeel(workspace, service, 'import');
    rmSync(join(repository, 'segments/guests.yaml'));
    // As a clone has its objects. Left to itself git would begin with it beside what is measured.
    git(repository, 'config', 'maintenance.auto', 'false');
    git(repository, 'config', 'gc.auto', '0');
    commit(repository, 'Write down what is live');
    git(repository, 'gc', '--quiet');
  });
  return workspace;
}

export async function withService<T>(
  { store }: Workspace,
  strict: boolean,
  use: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await startRecording(store, strict);
  try {
    return await use(service);
  } finally {
    service.stop();
  }
}

/** The same for a workspace that nothing needs afterwards. */
export async function withOwn<T>(
  workspace: Workspace,
  strict: boolean,
  use: (service: Service) => Promise<T>,
): Promise<T> {
  try {
    return await withService(workspace, strict, use);
  } finally {
    rmSync(workspace.folder, { recursive: true, force: true });
  }
}

export async function flagkeel(
  { repository, folder }: Workspace,
  { origin, key }: Service,
  ...args: readonly string[]
) {
  const env = { FLAGKEEL_API_KEY: key };
  return measured([MAIN, ...args, '--url', origin, repository], { folder, env });
}

/** A run of the built program that goes on by itself. With `pipe`, its output has to be read. */
export function start(
  { repository }: Workspace,
  { origin, key }: Service,
  args: readonly string[],
  stdio: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args, '--url', origin, repository], {
    env: { PATH: process.env['PATH'] ?? '', FLAGKEEL_API_KEY: key },
    stdio,
  });
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill(signal);
  await ended;
}

/** From now on the service admits so many requests in any 10 s. */
export async function limit({ origin }: Service, admitted = 20): Promise<void> {
  await fetch(`${origin}/bench/limit?admitted=${String(admitted)}`);
}

/** Does nothing where no file has changed. */
export function commit(repository: string, message: string): void {
  if (execFileSync('git', ['status', '--porcelain'], { cwd: repository }).length === 0) return;
  git(repository, 'add', '--all');
  const author = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com'];
  git(repository, ...author, 'commit', '--quiet', '-m', message);
}

function git(directory: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd: directory });
}
