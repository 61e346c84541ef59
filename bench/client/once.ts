import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { medianOf } from './measure.js';
import { line, table, whole } from './table.js';
import { commit, flagkeel, withService, type Workspace } from './workspace.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);

/** A one-shot `reconcile --touched` after a commit that changes one flag in its three environments, beside a full run. */
export async function once(workspaces: readonly Workspace[]): Promise<void> {
  table('`reconcile --touched` after a commit that changes one flag in three environments', [
    'flags',
    'lists',
    'requests before the write',
    'requests',
    'requests of a full run',
    'ms',
  ]);
  for (const workspace of workspaces) {
    for (const isStrict of [false, true]) await measure(workspace, isStrict);
  }
}

async function measure(workspace: Workspace, isStrict: boolean): Promise<void> {
  await withService(workspace, isStrict, async (service) => {
    // The state belongs to the address of the service, which is another one with each start.
    await flagkeel(workspace, service, 'reconcile');
    await service.requests();
    await flagkeel(workspace, service, 'reconcile');
    const full = (await service.requests()).lines.length;
    const rounds: { before: number; all: number; ms: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ramp(workspace, isStrict ? 40 + round : 60 + round);
      const { wallMs } = await flagkeel(workspace, service, 'reconcile', '--touched');
      const { lines } = await service.requests();
      const before = lines.findIndex((each) => !each.startsWith('GET'));
      rounds.push({ before, all: lines.length, ms: wallMs });
    }
    const of = medianOf(rounds);
    const counts = [of(({ before }) => before), of(({ all }) => all), full];
    line([workspace.flags, isStrict ? 'none' : 'all', ...counts, whole(of(({ ms }) => ms))]);
  });
}

/** Serves another share by the default rule of the first flag. */
function ramp({ repository }: Workspace, percent: number): void {
  const file = join(repository, 'flags/flag-00000.yaml');
  const share = `defaultRule: { "on": ${String(percent)}, "off": ${String(100 - percent)} }`;
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/defaultRule: .*/g, share));
  commit(repository, `Ramp to ${String(percent)} %`);
}
