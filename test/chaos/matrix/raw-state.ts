import { get, keysOf, listAll } from '../live-world.js';
import type { TestService } from '../../support/service.js';

/** What two runs of one story may give different values. */
const OF_THE_RUN =
  /^(?:id|changeNumber|lastUpdateTime|lastTrafficReceivedAt|creationTime|rolloutStatusTimestamp|trafficTypeURN|orgId|seed|trafficAllocationSeed|.*Id)$/;

/** Everything that the service has of its one workspace but ids and times, as text, by endpoints alone. */
export async function rawState(service: Pick<TestService, 'origin' | 'key'>): Promise<string> {
  const broken: string[] = [];
  const all = async (path: string): Promise<{ name: string }[]> => {
    const found = await listAll<{ name: string }>(service, path, broken);
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };
  const { objects } = await get<{ objects: { id: string }[] }>(service, '/workspaces');
  const id = objects[0]?.id ?? '';
  const environments = await get<{ id: string; name: string }[]>(service, `/environments/ws/${id}`);
  const state: Record<string, unknown> = {
    flags: await all(`/splits/ws/${id}`),
    segments: await all(`/segments/ws/${id}`),
  };
  for (const environment of environments) {
    const place = `environments/${environment.id}`;
    state[`definitions in ${environment.name}`] = await all(`/splits/ws/${id}/${place}`);
    for (const { name } of await all(`/segments/ws/${id}/${place}`)) {
      const keys = await keysOf(service, name, environment.id, broken);
      state[`keys of ${name} in ${environment.name}`] = keys.sort();
    }
  }
  if (broken.length > 0) throw new Error(broken.join('\n'));
  return JSON.stringify(
    state,
    (name, value: unknown) => (OF_THE_RUN.test(name) ? undefined : value),
    1,
  );
}
