import { API_PREFIX, type WireDefinition, type WirePage } from '../../src/admin-api/wire.js';
import { segmentList, servedTo } from '../../src/plan/impact/served-definition.js';
import { addApplications } from '../../src/sdk/applications.js';
import { FlagList, ServedFlag } from '../../src/sdk/environment.js';
import type { Seed } from '../../src/service/seed.js';
import { startService } from '../../src/service/service.js';
import type { Case, Pair } from './sdk-process.js';

/** A service in memory, what an administrator does there, and what our evaluator serves by what the service says. */
export interface ProofWorld {
  readonly origin: string;
  readonly adminKey: string;
  /** Of an application in the environment. */
  readonly key: string;
  admin<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** All keys of a segment. */
  keysOf(segment: string): Promise<string[]>;
  /** Reads definitions, seeds and segments. */
  evaluator(): Promise<Evaluator>;
  stop(): Promise<void>;
}

export interface Evaluator {
  readonly flags: readonly string[];
  evaluate(flags: readonly string[], each: Case): Pair[];
}

interface Seeds {
  readonly name: string;
  readonly seed: number;
  readonly trafficAllocationSeed: number;
}

/** @param environment of the workspace `Default`. */
export async function startProofWorld(seed: Seed, environment: string): Promise<ProofWorld> {
  const service = await startService({
    store: { kind: 'memory' },
    seed,
    applications: addApplications,
  });
  const adminKey = await service.createKey('proof');
  const key = await service.createKey('application', {
    apiKeyType: 'server_side',
    environments: [environment],
  });
  const asked = async <T>(path: string, options: RequestInit, by: string): Promise<T> => {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.origin}${path}`, { ...options, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const admin: ProofWorld['admin'] = async (method, path, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return asked(`${API_PREFIX}${path}`, { method, ...sent }, adminKey);
  };
  const keysOf = async (segment: string): Promise<string[]> => {
    const found: string[] = [];
    for (;;) {
      const path = `/segments/${environment}/${segment}/keys?limit=100&offset=${found.length}`;
      const { keys } = await admin<{ keys: { key: string }[] }>('GET', path);
      found.push(...keys.map(({ key: each }) => each));
      if (keys.length < 100) return found;
    }
  };
  return {
    ...{ origin: service.origin, adminKey, key, admin, keysOf },
    evaluator: async () => {
      const changes = await asked<{ ff: { d: Seeds[] } }>(
        '/sdk/splitChanges?s=1.3&since=-1',
        {},
        key,
      );
      const definitions = await allDefinitions(admin, environment);
      const { objects } = await admin<WirePage<{ name: string }>>(
        'GET',
        `/segments/ws/Default/environments/${environment}?limit=50`,
      );
      const segments = new Map<string, ReadonlySet<string>>();
      for (const { name } of objects) segments.set(name, new Set(await keysOf(name)));
      return evaluatorOf(definitions, changes.ff.d, segments);
    },
    stop: async () => service.stop(),
  };
}

async function allDefinitions(
  admin: ProofWorld['admin'],
  environment: string,
): Promise<WireDefinition[]> {
  const found: WireDefinition[] = [];
  for (;;) {
    const path = `/splits/ws/Default/environments/${environment}?limit=50&offset=${found.length}`;
    const { objects, totalCount } = await admin<WirePage<WireDefinition>>('GET', path);
    found.push(...objects);
    if (objects.length === 0 || found.length >= totalCount) return found;
  }
}

function evaluatorOf(
  definitions: readonly WireDefinition[],
  seeds: readonly Seeds[],
  segments: ReadonlyMap<string, ReadonlySet<string>>,
): Evaluator {
  const byName = new Map(seeds.map((each) => [each.name, each]));
  const flags = new Map(
    definitions.map((definition) => {
      const { seed = 0, trafficAllocationSeed: allocationSeed = 0 } =
        byName.get(definition.name) ?? {};
      const split = { definition, seeds: { seed, allocationSeed } };
      return [definition.name, new ServedFlag(definition.name, 1, split)] as const;
    }),
  );
  const list = new FlagList(0, flags);
  return {
    flags: [...flags.keys()].sort(),
    evaluate: (names, { key, attributes }) => {
      const held = [...segments].filter(([, keys]) => keys.has(key));
      const known = { key, attributes, segments: new Set(held.map(([name]) => segmentList(name))) };
      return names.map((name): Pair => {
        const treatment = servedTo(name, known, list.definitions).served?.treatment ?? 'control';
        const { treatments = [] } = flags.get(name)?.split?.definition ?? {};
        const own = treatments.find((each) => each.name === treatment);
        return [treatment, own?.configurations ?? null];
      });
    },
  };
}
