import { API_PREFIX } from '../../../src/admin-api/wire.js';
import type { TestService } from '../../support/service.js';

/** What two runs of one story may give different values. */
const OF_THE_RUN =
  /^(?:id|changeNumber|lastUpdateTime|lastTrafficReceivedAt|creationTime|rolloutStatusTimestamp|trafficTypeURN|orgId|seed|trafficAllocationSeed|.*Id)$/;

type Get = <T>(path: string) => Promise<T>;

/** Everything that the service has of its one workspace but ids and times, as text, by endpoints alone. */
export async function rawState(service: Pick<TestService, 'origin' | 'key'>): Promise<string> {
  const get = async <T>(path: string): Promise<T> => {
    const headers = { authorization: `Bearer ${service.key}` };
    const response = await fetch(`${service.origin}${API_PREFIX}${path}`, { headers });
    if (response.status !== 200) throw new Error(`${path}: ${String(response.status)}`);
    return (await response.json()) as T;
  };
  const { objects } = await get<{ objects: { id: string }[] }>('/workspaces');
  const id = objects[0]?.id ?? '';
  const environments = await get<{ id: string; name: string }[]>(`/environments/ws/${id}`);
  const state: Record<string, unknown> = {
    flags: await all(get, `/splits/ws/${id}`),
    segments: await all(get, `/segments/ws/${id}`),
  };
  for (const environment of environments) {
    state[`definitions in ${environment.name}`] = await all(
      get,
      `/splits/ws/${id}/environments/${environment.id}`,
    );
    const active = await all(get, `/segments/ws/${id}/environments/${environment.id}`);
    for (const { name } of active) {
      state[`keys of ${name} in ${environment.name}`] = await keys(get, environment.id, name);
    }
  }
  return JSON.stringify(
    state,
    (name, value: unknown) => (OF_THE_RUN.test(name) ? undefined : value),
    1,
  );
}

async function all(get: Get, path: string): Promise<{ name: string }[]> {
  const found: { name: string }[] = [];
  for (;;) {
    const url = `${path}?limit=50&offset=${String(found.length)}`;
    const { objects } = await get<{ objects: { name: string }[] }>(url);
    found.push(...objects);
    if (objects.length < 50) return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}

async function keys(get: Get, environment: string, name: string): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const url = `/segments/${environment}/${name}/keys?limit=100&offset=${String(found.length)}`;
    const page = await get<{ keys: { key: string }[] }>(url);
    found.push(...page.keys.map(({ key }) => key));
    if (page.keys.length < 100) return found.toSorted();
  }
}
