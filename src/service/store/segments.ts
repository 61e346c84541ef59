import type {
  WireSegment,
  WireSegmentDefinition,
  WireSegmentInEnvironment,
} from '../../admin-api/wire.js';
import type { Listed, Page } from '../rules/members.js';
import { firstRow, namesMissing, statement, statements } from './statement.js';
import type { Db, EnvironmentRow, SegmentRow } from './tables.js';
import { countUses } from './workspaces.js';

export interface StoredSegment extends SegmentRow {
  readonly traffic_type_name: string;
}

export interface StoredActivation extends StoredSegment {
  readonly activation_id: number;
  readonly activation_time: number;
  readonly last_update_time: number;
  readonly key_count: number;
  readonly open_change_request_id: string | null;
  readonly environment_id: string;
  readonly environment_name: string;
}

const SEGMENTS = `
  select segments.*, traffic_types.name as traffic_type_name
  from segments join traffic_types on traffic_types.id = segments.traffic_type_id
  where segments.workspace_id = $1`;

/** Sorted by name, as all lists here. */
export async function listSegments(
  db: Db,
  workspaceId: string,
  page: Page,
): Promise<Listed<StoredSegment>> {
  const totalCount = await countUses(db, 'segments', 'workspace_id', workspaceId);
  return { rows: await segmentsOfPage(db, workspaceId, page.limit, page.offset), totalCount };
}

const segmentsOfPage = statement<StoredSegment>(`${SEGMENTS}
  order by segments.sort_name, segments.name limit $2 offset $3`);

/** The contract gives segments no id. */
export const findSegment = firstRow<StoredSegment, [workspaceId: string, name: string]>(
  `${SEGMENTS} and segments.name = $2`,
);

export const deleteSegment = statements<[id: string]>(
  'delete from key_blocks where activation_id in (select id from activations where segment_id = $1)',
  'delete from activations where segment_id = $1',
  'delete from segments where id = $1',
);

export const environmentsWithKeys = statement<EnvironmentRow, [segmentId: string]>(`
  select environments.* from activations
  join environments on environments.id = activations.environment_id
  where activations.segment_id = $1 and activations.key_count > 0 order by environments.sort_name`);

export async function listActivations(
  db: Db,
  environmentId: string,
  page: Page,
): Promise<Listed<StoredActivation>> {
  const totalCount = await countUses(db, 'activations', 'environment_id', environmentId);
  return { rows: await activationsOfPage(db, environmentId, page.limit, page.offset), totalCount };
}

const ACTIVATIONS = `
  select segments.*, traffic_types.name as traffic_type_name, activations.id as activation_id,
    activations.creation_time as activation_time, activations.last_update_time, activations.key_count,
    activations.open_change_request_id, environments.id as environment_id, environments.name as environment_name
  from environments
  join segments on segments.workspace_id = environments.workspace_id
  join activations on activations.segment_id = segments.id and activations.environment_id = environments.id
  join traffic_types on traffic_types.id = segments.traffic_type_id
  where environments.id = $1`;

/** Undefined if the segment is not active in the environment, or does not exist. */
export const findActivation = firstRow<
  StoredActivation,
  [environmentId: string, segmentName: string]
>(`${ACTIVATIONS} and segments.name = $2`);
const activationsOfPage = statement<StoredActivation>(`${ACTIVATIONS}
  order by segments.sort_name, segments.name limit $2 offset $3`);

/** The names that belong to no active segment of the environment. */
export const inactiveSegments = namesMissing(
  (names) => `
    select segments.name from activations join segments on segments.id = activations.segment_id
    where activations.environment_id = $1 and segments.name in ${names}`,
);

export const insertActivation = statement<
  never,
  [segmentId: string, environmentId: string, now: number]
>(`
  insert into activations (segment_id, environment_id, creation_time, last_update_time, key_count)
  values ($1, $2, $3, $3, 0)`);

export const deleteActivation = statements<[id: number]>(
  'delete from key_blocks where activation_id = $1',
  'delete from activations where id = $1',
);

/** The stored number of keys saves counting them. */
export const touchActivation = statement<never, [keyCount: number, now: number, id: number]>(
  'update activations set key_count = $1, last_update_time = $2 where id = $3',
);

/** The contract has null in place of an empty list of tags. */
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
  const { environment, trafficType } = wireActivation(activation);
  return {
    id: activation.id,
    environment: environment.id,
    environmentURN: { type: 'Environment', ...environment },
    name: activation.name,
    trafficTypeId: trafficType.id,
    trafficTypeURN: { type: 'TRAFFIC_TYPE', ...trafficType },
    description: activation.description,
    status: 'ACTIVE',
    creationTime: activation.activation_time,
    lastUpdateTime: activation.last_update_time,
    keys: null,
    openChangeRequestId: activation.open_change_request_id,
    type: 'Segment',
  };
}
