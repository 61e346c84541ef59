import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { MAX_KEYS_PER_SEGMENT, type WireTreatment } from '../src/admin-api/wire.js';
import { definitionFrom } from '../src/service/rules/definition.js';
import { plantSeed, type Seed } from '../src/service/seed.js';
import { insertDefinition } from '../src/service/store/definitions.js';
import { sorted, insert } from '../src/service/store/statement.js';
import { addKeys } from '../src/service/store/keys.js';
import {
  findActivation,
  findSegment,
  insertActivation,
  touchActivation,
} from '../src/service/store/segments.js';
import { openStore, type StoreLocation } from '../src/service/store/store.js';
import type { Db, EnvironmentRow, WorkspaceRow } from '../src/service/store/tables.js';
import {
  findWorkspace,
  listEnvironments,
  listRolloutStatuses,
  listTrafficTypes,
} from '../src/service/store/workspaces.js';

export const BENCH_SEED: Seed = {
  workspaces: [
    {
      name: 'Default',
      environments: [{ name: 'dev' }, { name: 'staging' }, { name: 'production' }],
      trafficTypes: ['user'],
    },
  ],
};

export const FULL_SEGMENT = 'everyone';
/** Active in every environment; what uploads fill and empty again. */
export const EMPTY_SEGMENT = 'guests';

export const flagName = (index: number): string => `flag-${String(index).padStart(5, '0')}`;

/** Puts flags with a definition in each of three environments, and a segment that is full in one, into a store. */
export async function fillStore(location: StoreLocation, flags: number): Promise<void> {
  const store = await openStore(location);
  try {
    const now = Date.now();
    await store.write(async (db) => plantSeed(db, BENCH_SEED, now));
    await store.write(async (db) => fillSegments(db, now));
    await store.write(async (db) => fillFlags(db, flags, now));
    // As PostgreSQL does by itself within a minute of such a change.
    if (location.kind === 'postgres') {
      await store.write(async (db) => sql`analyze`.execute(db));
    }
  } finally {
    await store.close();
  }
}

interface Place {
  readonly workspace: WorkspaceRow;
  readonly environments: readonly EnvironmentRow[];
  readonly trafficTypeId: string;
}

async function placeOf(db: Db): Promise<Place> {
  const workspace = await findWorkspace(db, 'Default');
  if (workspace === undefined) throw new Error('bug: no workspace');
  const [trafficType] = await listTrafficTypes(db, workspace.id);
  return {
    workspace,
    environments: await listEnvironments(db, workspace.id),
    trafficTypeId: trafficType?.id ?? '',
  };
}

async function fillSegments(db: Db, now: number): Promise<void> {
  const place = await placeOf(db);
  for (const name of [FULL_SEGMENT, EMPTY_SEGMENT]) {
    const row = {
      id: randomUUID(),
      workspace_id: place.workspace.id,
      name,
      description: '',
      traffic_type_id: place.trafficTypeId,
      creation_time: now,
      tags_json: '[]',
    };
    await insert(db, 'segments', [sorted(row)]);
    const segment = await findSegment(db, place.workspace.id, name);
    for (const { id: environmentId } of place.environments) {
      await insertActivation(db, segment?.id ?? '', environmentId, now);
    }
  }
  const all = Array.from({ length: MAX_KEYS_PER_SEGMENT }, (_, index) => `user-${index}`).sort();
  // One key elsewhere: for each rule with an empty segment, `validate` would print a warning.
  for (const [index, { id: environmentId }] of place.environments.entries()) {
    const keys = index === 0 ? all : all.slice(0, 1);
    const { activation_id: id } = (await findActivation(db, environmentId, FULL_SEGMENT)) ?? {};
    await addKeys(db, id ?? 0, keys);
    await touchActivation(db, keys.length, now, id ?? 0);
  }
}

async function fillFlags(db: Db, count: number, now: number): Promise<void> {
  const { workspace, environments, trafficTypeId } = await placeOf(db);
  const [status] = await listRolloutStatuses(db, workspace.id);
  for (let index = 0; index < count; index += 1) {
    const flagId = randomUUID();
    const row = {
      id: flagId,
      workspace_id: workspace.id,
      name: flagName(index),
      description: `The flag with the number ${index}`,
      traffic_type_id: trafficTypeId,
      creation_time: now,
      rollout_status_id: status?.id ?? '',
      rollout_status_timestamp: now,
      tags_json: '["bench"]',
      owners_json: '[]',
    };
    await insert(db, 'flags', [sorted(row)]);
    const content = definitionFrom(definitionOf(index));
    for (const { id } of environments) {
      const uses = [{ kind: 'segment', name: FULL_SEGMENT }] as const;
      await insertDefinition(db, { flag_id: flagId, environment_id: id }, content, uses, now);
    }
  }
}

/** About 1 kB: two treatments, a few targets, two rules. */
function definitionOf(index: number): object {
  const treatments: WireTreatment[] = [
    { name: 'on', description: 'The new way', keys: [`qa-${index}`, `qa-${index + 1}`] },
    { name: 'off', description: 'The old way' },
  ];
  const ramp = [
    { treatment: 'on', size: index % 101 },
    { treatment: 'off', size: 100 - (index % 101) },
  ];
  return {
    treatments,
    defaultTreatment: 'off',
    baselineTreatment: 'off',
    trafficAllocation: 100,
    rules: [
      {
        buckets: ramp,
        condition: {
          combiner: 'AND',
          matchers: [{ type: 'IN_SEGMENT', string: FULL_SEGMENT }],
        },
      },
      {
        buckets: [{ treatment: 'on', size: 100 }],
        condition: {
          combiner: 'AND',
          matchers: [
            { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES', 'FR', 'DE', 'PT'] },
          ],
        },
      },
    ],
    defaultRule: ramp,
  };
}
