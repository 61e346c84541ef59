import { randomInt } from 'node:crypto';
import type { WireDefinition } from '../../admin-api/wire.js';
import type { DefinitionContent, Use } from '../rules/definition.js';
import { firstRow, insert, namesFound, statement, statements } from './statement.js';
import type { Db, DefinitionRow, EnvironmentRow, Within } from './tables.js';

export interface StoredDefinition extends DefinitionRow {
  readonly flag_name: string;
  readonly environment_name: string;
  readonly traffic_type_id: string;
  readonly traffic_type_name: string;
}

export const DEFINITION_COLUMNS = `definitions.*, flags.name as flag_name, environments.name as environment_name,
  traffic_types.id as traffic_type_id, traffic_types.name as traffic_type_name`;

const DEFINITIONS = `
  select ${DEFINITION_COLUMNS}
  from environments
  join flags on flags.workspace_id = environments.workspace_id
  join definitions on definitions.flag_id = flags.id and definitions.environment_id = environments.id
  join traffic_types on traffic_types.id = flags.traffic_type_id
  where environments.id = $1`;

export const definitionsOf = statement<StoredDefinition, [environmentId: string]>(DEFINITIONS);

/** Looks for the name before the id, in case the name of one flag is the id of another. */
export async function findDefinition(
  db: Db,
  environmentId: string,
  flagNameOrId: string,
): Promise<StoredDefinition | undefined> {
  return (
    (await definitionByName(db, environmentId, flagNameOrId)) ??
    (await definitionById(db, environmentId, flagNameOrId))
  );
}

const definitionByName = firstRow<StoredDefinition, [environmentId: string, name: string]>(
  `${DEFINITIONS} and flags.name = $2`,
);
const definitionById = firstRow<StoredDefinition, [environmentId: string, id: string]>(
  `${DEFINITIONS} and flags.id = $2`,
);

type DefinitionPlace = Pick<DefinitionRow, 'flag_id' | 'environment_id'>;

/** @param place the flag must have no definition in this environment yet. */
export async function insertDefinition(
  db: Db,
  place: DefinitionPlace,
  { killed, body }: DefinitionContent,
  uses: readonly Use[],
  now: number,
): Promise<void> {
  const times = { creation_time: now, last_update_time: now };
  const content = { killed: Number(killed), body_json: JSON.stringify(body) };
  await insert(db, 'definitions', [{ ...place, ...content, ...times, ...newSeeds() }]);
  await insertUses(db, place, uses);
}

export function newSeeds(): Pick<DefinitionRow, 'seed' | 'allocation_seed'> {
  return { seed: randomInt(1, 2 ** 31), allocation_seed: randomInt(1, 2 ** 31) };
}

export async function reseedDefinition(
  db: Db,
  { flag_id, environment_id }: DefinitionPlace,
  now: number,
): Promise<void> {
  await db
    .updateTable('definitions')
    .set({ ...newSeeds(), last_update_time: now })
    .where('flag_id', '=', flag_id)
    .where('environment_id', '=', environment_id)
    .execute();
}

/** @param uses null if the references stay as they are. */
export async function updateDefinition(
  db: Db,
  definition: DefinitionRow,
  uses: readonly Use[] | null,
): Promise<void> {
  const { flag_id, environment_id, killed, body_json, last_update_time } = definition;
  await updateBody(db, killed, body_json, last_update_time, flag_id, environment_id);
  if (uses === null) return;
  await deleteUses(db, flag_id, environment_id);
  await insertUses(db, definition, uses);
}

const updateBody = statement(`
  update definitions set killed = $1, body_json = $2, last_update_time = $3
  where flag_id = $4 and environment_id = $5`);

const DELETE_USES = 'delete from definition_uses where flag_id = $1 and environment_id = $2';
const deleteUses = statement(DELETE_USES);

export const deleteDefinition = statements<[flagId: string, environmentId: string]>(
  DELETE_USES,
  'delete from definitions where flag_id = $1 and environment_id = $2',
);

/** References have a table of their own, so that the users of a segment are found without reading every definition. */
async function insertUses(
  db: Db,
  { flag_id, environment_id }: DefinitionPlace,
  uses: readonly Use[],
): Promise<void> {
  const rows = uses.map((use) => ({ flag_id, environment_id, ...use }));
  await insert(db, 'definition_uses', rows);
}

/** Definitions that name a segment or flag, sorted. */
export async function usersOf(
  db: Db,
  { workspace, environment }: Within,
  { kind, name }: Use,
): Promise<{ readonly flag: string; readonly environment: string }[]> {
  let query = db
    .selectFrom('definition_uses')
    .innerJoin('flags', 'flags.id', 'definition_uses.flag_id')
    .innerJoin('environments', 'environments.id', 'definition_uses.environment_id')
    .where('definition_uses.kind', '=', kind)
    .where('definition_uses.name', '=', name)
    .where('environments.workspace_id', '=', workspace.id);
  if (environment) query = query.where('environments.id', '=', environment.id);
  return query
    .select(['flags.name as flag', 'environments.name as environment'])
    .orderBy('flags.sort_name')
    .orderBy('environments.sort_name')
    .execute();
}

/** Names of the flags that the definitions of some flags in an environment depend on. */
export const flagsUsedBy = namesFound(
  (flags) => `
    select distinct definition_uses.name from definition_uses
    join flags on flags.id = definition_uses.flag_id
    where definition_uses.environment_id = $1 and definition_uses.kind = 'flag' and flags.name in ${flags}`,
);

export const environmentsOfFlag = statement<EnvironmentRow, [flagId: string]>(`
  select environments.* from definitions
  join environments on environments.id = definitions.environment_id
  where definitions.flag_id = $1 order by environments.sort_name`);

/** JSON text of the definition as the contract has it, made without parsing the stored members. */
export function definitionText(definition: StoredDefinition): string {
  const head = JSON.stringify({
    id: definition.flag_id,
    name: definition.flag_name,
    environment: { id: definition.environment_id, name: definition.environment_name },
    trafficType: { id: definition.traffic_type_id, name: definition.traffic_type_name },
    killed: definition.killed === 1,
  });
  const open = definition.open_change_request_id;
  const tail = JSON.stringify({
    creationTime: definition.creation_time,
    lastUpdateTime: definition.last_update_time,
    ...(open === null ? {} : { openChangeRequestId: open }),
  });
  return `${head.slice(0, -1)},${definition.body_json.slice(1, -1)},${tail.slice(1)}`;
}

/** With seeds, which the contract does not know. */
export function shownDefinitionText(definition: StoredDefinition, isStrict = false): string {
  const text = definitionText(definition);
  const { seed, allocation_seed: trafficAllocationSeed } = definition;
  const seeds = JSON.stringify({ seed, trafficAllocationSeed });
  return isStrict ? text : `${text.slice(0, -1)},${seeds.slice(1)}`;
}

/**
 * The text of `shownDefinitionText` as an SQL expression. Ids and the names of flags and traffic types contain no
 * character that JSON would escape. @param flag the flag's table. @param environment JSON of it, as a parameter.
 */
export function definitionTextSql(flag: string, environment: string): string {
  return `'{"id":"' || ${flag}.id || '","name":"' || ${flag}.name
    || '","environment":' || cast(${environment} as text)
    || ',"trafficType":{"id":"' || traffic_types.id || '","name":"' || traffic_types.name
    || '"},"killed":' || case definitions.killed when 1 then 'true' else 'false' end
    || ',' || substr(definitions.body_json, 2, length(definitions.body_json) - 2)
    || ',"creationTime":' || cast(definitions.creation_time as text)
    || ',"lastUpdateTime":' || cast(definitions.last_update_time as text)
    || coalesce(',"openChangeRequestId":"' || definitions.open_change_request_id || '"', '')
    || ',"seed":' || cast(definitions.seed as text)
    || ',"trafficAllocationSeed":' || cast(definitions.allocation_seed as text) || '}'`;
}

export function wireDefinition(definition: StoredDefinition): WireDefinition {
  return JSON.parse(definitionText(definition)) as WireDefinition;
}
