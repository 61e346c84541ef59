import { request } from 'undici';
import {
  API_PREFIX,
  type WireDefinition,
  type WireFlag,
  type WirePage,
  type WireSegment,
  type WireSegmentInEnvironment,
  type WireSegmentKeys,
} from '../../src/admin-api/wire.js';
import { contentOf } from './client.js';
import { at, emptyWorld, ENVIRONMENTS, WORKSPACE, type World } from './writes.js';

interface Service {
  readonly origin: string;
  readonly key: string;
}

/**
 * Everything that a service holds, as it answers it.
 *
 * @param violations takes what the answers contradict themselves in.
 */
export async function readWorld(service: Service, violations: string[]): Promise<World> {
  const world = emptyWorld();
  const list = async <T>(path: string): Promise<T[]> => listAll<T>(service, path, violations);
  for (const flag of await list<WireFlag>(`/splits/ws/${WORKSPACE}`)) {
    world.flags.set(flag.name, flag.description ?? '');
  }
  for (const segment of await list<WireSegment>(`/segments/ws/${WORKSPACE}`)) {
    world.segments.add(segment.name);
  }
  for (const environment of ENVIRONMENTS) {
    const path = `/splits/ws/${WORKSPACE}/environments/${environment}`;
    for (const definition of await list<WireDefinition>(path)) {
      world.definitions.set(at(definition.name, environment), contentOf(definition));
    }
    const active = await list<WireSegmentInEnvironment>(
      `/segments/ws/${WORKSPACE}/environments/${environment}`,
    );
    for (const { name } of active) {
      world.keys.set(
        at(name, environment),
        new Set(await keysOf(service, name, environment, violations)),
      );
    }
  }
  return world;
}

async function get<T>({ origin, key }: Service, path: string): Promise<T> {
  const answer = await request(`${origin}${API_PREFIX}${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text) as T;
}

async function listAll<T>(service: Service, path: string, violations: string[]): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await get<WirePage<T>>(service, `${path}?limit=50&offset=${all.length}`);
    all.push(...page.objects);
    if (page.objects.length > 0 && all.length < page.totalCount) continue;
    if (all.length !== page.totalCount) {
      violations.push(`${path} lists ${all.length} and counts ${page.totalCount}`);
    }
    return all;
  }
}

async function keysOf(
  service: Service,
  name: string,
  environment: string,
  violations: string[],
): Promise<string[]> {
  const path = `/segments/${environment}/${name}/keys`;
  const keys: string[] = [];
  for (;;) {
    const page = await get<WireSegmentKeys>(service, `${path}?limit=100&offset=${keys.length}`);
    keys.push(...page.keys.map(({ key }) => key));
    if (page.keys.length > 0 && keys.length < page.count) continue;
    if (new Set(keys).size !== page.count || keys.length !== page.count) {
      violations.push(`${path} lists ${keys.length} and counts ${page.count}`);
    }
    return keys;
  }
}

/** What two runs of one story may give different values. */
const OF_THE_RUN =
  /^(?:id|changeNumber|lastUpdateTime|lastTrafficReceivedAt|creationTime|rolloutStatusTimestamp|trafficTypeURN|orgId|seed|trafficAllocationSeed|.*Id)$/;

/** Everything that the service has of its one workspace but ids and times, as text, by endpoints alone. */
export async function rawState(service: Service): Promise<string> {
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
