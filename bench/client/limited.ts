import { line, table, whole } from './table.js';
import { buildWorkspace, flagkeel, limit, withOwn } from './workspace.js';

/** As many as make 300 requests of a run over a service without bulk lists, or a few less. */
const FLAGS = 96;
const ADMITTED = 20;
const WINDOW_MS = 10_000;
const LIMIT_MS = 159_000;

/** A run in sync over a service that admits 20 requests in any 10 s and says nothing of it, on the real clock. */
export async function limited(): Promise<void> {
  table('A service that admits 20 requests in any 10 s', [
    'requests',
    's',
    'the limit alone, s',
    'bound, s',
  ]);
  const workspace = await buildWorkspace(FLAGS);
  await withOwn(workspace, true, async (service) => {
    await flagkeel(workspace, service, 'reconcile');
    await service.requests();
    await limit(service, ADMITTED);
    const { wallMs } = await flagkeel(workspace, service, 'reconcile');
    const { lines } = await service.requests();
    // Evenly: requests at the start of each window would leave no room for a kill.
    const floorMs = (lines.length / ADMITTED) * WINDOW_MS;
    line([lines.length, ...[wallMs, floorMs, LIMIT_MS].map((ms) => whole(ms / 1_000))]);
  });
}
