import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { line, table, whole } from './table.js';
import { commit, emptyWorkspace, flagkeel, withOwn } from './workspace.js';

const PER_PAGE = 100;
const MAX_MIB = 300;
const CONFIG = `workspace: Default
environments: { dev: {} }
defaults: { trafficType: user }
guards: { maxKeyRemovals: 10000, maxKeyRemovalPercent: 100 }
`;
const SEGMENT = 'segment: bulk\nenvironments: { dev: { keysFile: bulk.keys } }\n';

interface Case {
  readonly title: string;
  /** The keys that the segment is to have: `[first, behind the last]` of `user-N`. */
  readonly keys: readonly [number, number];
  /** Bounds. Absent: the case only makes ready for the next one. */
  readonly bounds?: { readonly uploads: number; readonly removals: number; readonly reads: number };
}

const listings = (keys: number): number => 2 * Math.ceil(keys / PER_PAGE) + 4;

const CASES: readonly Case[] = [
  { title: '80,000 keys', keys: [0, 80_000] },
  {
    title: '80,000 keys, 12,345 added, 2,345 removed',
    keys: [2_345, 92_345],
    bounds: { uploads: 2, removals: 1, reads: listings(90_000) },
  },
  {
    title: 'the same, unchanged',
    keys: [2_345, 92_345],
    bounds: { uploads: 0, removals: 0, reads: 1 },
  },
  { title: '100,000 keys', keys: [2_345, 102_345] },
  {
    title: '100,000 keys, 500 swapped',
    keys: [2_845, 102_845],
    bounds: { uploads: 1, removals: 1, reads: listings(100_000) },
  },
];

/** Requests about the keys of a segment that changes, by kind, each beside its bound. */
export async function segments(): Promise<void> {
  table('Keys of a segment: requests, each with its bound', [
    'segment',
    'uploads',
    'removals',
    'reads',
    'peak, MiB',
    'ms',
  ]);
  const workspace = emptyWorkspace(0);
  const { repository } = workspace;
  mkdirSync(join(repository, 'segments'));
  writeFileSync(join(repository, 'flagkeel.yaml'), CONFIG);
  writeFileSync(join(repository, 'segments/bulk.yaml'), SEGMENT);
  await withOwn(workspace, false, async (service) => {
    for (const each of CASES) {
      writeKeys(repository, each.keys);
      await service.requests();
      const { peakMiB, wallMs } = await flagkeel(workspace, service, 'reconcile');
      const { lines } = await service.requests();
      if (each.bounds === undefined) continue;
      const { uploads, removals, reads } = each.bounds;
      line([
        each.title,
        bounded(lines.filter((asked) => asked.includes('/uploadKeys')).length, uploads),
        bounded(lines.filter((asked) => asked.includes('/removeKeys')).length, removals),
        bounded(lines.filter((asked) => /^GET .*\/keys/.test(asked)).length, reads),
        bounded(Math.round(peakMiB), MAX_MIB),
        whole(wallMs),
      ]);
    }
  });
}

function bounded(count: number, bound: number): string {
  return `${count} (${bound})`;
}

function writeKeys(repository: string, [first, end]: readonly [number, number]): void {
  const keys = Array.from({ length: end - first }, (_, index) => `user-${first + index}`);
  writeFileSync(join(repository, 'segments/bulk.keys'), `${keys.join('\n')}\n`);
  commit(repository, 'Change the keys');
}
