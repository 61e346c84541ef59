import { sql } from 'kysely';
import type {
  WireSegment,
  WireSegmentDefinition,
  WireSegmentInEnvironment,
} from '../../api/wire.js';
import { sortName } from '../rules/names.js';
import type { Page } from '../rules/paging.js';
import type { Db, EnvironmentRow, SegmentRow } from './tables.js';

export interface StoredSegment extends SegmentRow {
  readonly traffic_type_name: string;
}

/** A segment in one environment, where it is active. */
export interface StoredActivation extends StoredSegment {
  readonly activation_id: number;
  readonly activation_time: number;
  readonly last_update_time: number;
  readonly key_count: number;
  readonly environment_id: string;
  readonly environment_name: string;
}

function selectSegments(db: Db) {
  return db
    .selectFrom('segments')
    .innerJoin('traffic_types', 'traffic_types.id', 'segments.traffic_type_id')
    .selectAll('segments')
    .select('traffic_types.name as traffic_type_name');
}

function selectActivations(db: Db, environmentId: string) {
  return (
    selectSegments(db)
      .innerJoin('activations', 'activations.segment_id', 'segments.id')
      .innerJoin('environments', 'environments.id', 'activations.environment_id')
      .where('environments.id', '=', environmentId)
      // Says what is so anyway: without it a name is sought among all activations of the environment.
      .whereRef('segments.workspace_id', '=', 'environments.workspace_id')
      .select([
        'activations.id as activation_id',
        'activations.creation_time as activation_time',
        'activations.last_update_time as last_update_time',
        'activations.key_count as key_count',
        'environments.id as environment_id',
        'environments.name as environment_name',
      ])
  );
}

/** In the order of names. */
export async function listSegments(
  db: Db,
  workspaceId: string,
  page: Page,
): Promise<{ segments: StoredSegment[]; totalCount: number }> {
  const { count } = await db
    .selectFrom('segments')
    .where('workspace_id', '=', workspaceId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const segments = await selectSegments(db)
    .where('segments.workspace_id', '=', workspaceId)
    .orderBy('segments.sort_name')
    .orderBy('segments.name')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { segments, totalCount: count };
}

export async function findSegment(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<StoredSegment | undefined> {
  return selectSegments(db)
    .where('segments.workspace_id', '=', workspaceId)
    .where('segments.name', '=', name)
    .executeTakeFirst();
}

export async function insertSegment(db: Db, segment: Omit<SegmentRow, 'sort_name'>): Promise<void> {
  await db
    .insertInto('segments')
    .values({ ...segment, sort_name: sortName(segment.name) })
    .execute();
}

/** With its activations and keys in all environments. */
export async function deleteSegment(db: Db, segmentId: string): Promise<void> {
  const activations = await db
    .selectFrom('activations')
    .select('id')
    .where('segment_id', '=', segmentId)
    .execute();
  // One after the other: a transaction has one connection.
  for (const { id } of activations) await deleteActivation(db, id);
  await db.deleteFrom('segments').where('id', '=', segmentId).execute();
}

/** Environments in which the segment has keys. */
export async function environmentsWithKeys(db: Db, segmentId: string): Promise<EnvironmentRow[]> {
  return db
    .selectFrom('activations')
    .innerJoin('environments', 'environments.id', 'activations.environment_id')
    .where('activations.segment_id', '=', segmentId)
    .where('activations.key_count', '>', 0)
    .selectAll('environments')
    .orderBy('environments.sort_name')
    .execute();
}

/** In the order of names. */
export async function listActivations(
  db: Db,
  environmentId: string,
  page: Page,
): Promise<{ activations: StoredActivation[]; totalCount: number }> {
  const { count } = await db
    .selectFrom('activations')
    .where('environment_id', '=', environmentId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const activations = await selectActivations(db, environmentId)
    .orderBy('segments.sort_name')
    .orderBy('segments.name')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { activations, totalCount: count };
}

export async function findActivation(
  db: Db,
  environmentId: string,
  segmentName: string,
): Promise<StoredActivation | undefined> {
  return selectActivations(db, environmentId)
    .where('segments.name', '=', segmentName)
    .executeTakeFirst();
}

/** Those of `names` that are not active in the environment. */
export async function inactiveSegments(
  db: Db,
  environmentId: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await db
    .selectFrom('activations')
    .innerJoin('segments', 'segments.id', 'activations.segment_id')
    .innerJoin('environments', 'environments.id', 'activations.environment_id')
    .select('segments.name')
    .where('environments.id', '=', environmentId)
    .whereRef('segments.workspace_id', '=', 'environments.workspace_id')
    .where('segments.name', 'in', names)
    .execute();
  const active = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !active.has(name));
}

export async function insertActivation(
  db: Db,
  place: { segmentId: string; environmentId: string },
  now: number,
): Promise<void> {
  await db
    .insertInto('activations')
    .values({
      segment_id: place.segmentId,
      environment_id: place.environmentId,
      creation_time: now,
      last_update_time: now,
      key_count: 0,
    })
    .execute();
}

export async function deleteActivation(db: Db, activationId: number): Promise<void> {
  await db.deleteFrom('segment_keys').where('activation_id', '=', activationId).execute();
  await db.deleteFrom('activations').where('id', '=', activationId).execute();
}

export async function touchActivation(
  db: Db,
  activationId: number,
  changed: { keyCount: number; now: number },
): Promise<void> {
  await db
    .updateTable('activations')
    .set({ key_count: changed.keyCount, last_update_time: changed.now })
    .where('id', '=', activationId)
    .execute();
}

/** One page of keys, in the order of their bytes. */
export async function listKeys(db: Db, activationId: number, page: Page): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from segment_keys where activation_id = ${activationId}
    order by key limit ${page.limit} offset ${page.offset}`.execute(db);
  return rows.map(({ key }) => key);
}

export function wireSegment(segment: StoredSegment): WireSegment {
  const tags = JSON.parse(segment.tags_json) as string[];
  return {
    name: segment.name,
    description: segment.description,
    trafficType: { id: segment.traffic_type_id, name: segment.traffic_type_name },
    creationTime: segment.creation_time,
    tags: tags.length === 0 ? null : tags.map((name) => ({ name })),
  };
}

export function wireActivation(activation: StoredActivation): WireSegmentInEnvironment {
  return {
    name: activation.name,
    environment: { id: activation.environment_id, name: activation.environment_name },
    trafficType: { id: activation.traffic_type_id, name: activation.traffic_type_name },
    creationTime: activation.activation_time,
  };
}

/** The answer of an upload, with the members that public samples show beside those of the contract. */
export function wireSegmentDefinition(
  activation: StoredActivation,
): WireSegmentDefinition & Readonly<Record<string, unknown>> {
  return {
    id: activation.id,
    environment: activation.environment_id,
    environmentURN: {
      type: 'Environment',
      id: activation.environment_id,
      name: activation.environment_name,
    },
    name: activation.name,
    trafficTypeId: activation.traffic_type_id,
    trafficTypeURN: {
      type: 'TRAFFIC_TYPE',
      id: activation.traffic_type_id,
      name: activation.traffic_type_name,
    },
    description: activation.description,
    status: 'ACTIVE',
    creationTime: activation.activation_time,
    lastUpdateTime: activation.last_update_time,
    keys: null,
    openChangeRequestId: null,
    type: 'Segment',
  };
}
