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
import { ENVIRONMENTS, WORKSPACE } from './requests.js';
import { at, emptyWorld, type World } from './world.js';

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

export async function get<T>({ origin, key }: Service, path: string): Promise<T> {
  const answer = await request(`${origin}${API_PREFIX}${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text) as T;
}

export async function listAll<T>(
  service: Service,
  path: string,
  violations: string[],
): Promise<T[]> {
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

export async function keysOf(
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
