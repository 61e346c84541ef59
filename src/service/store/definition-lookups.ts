import type { Page } from '../rules/members.js';
import { DEFINITION_COLUMNS, definitionTextSql, type StoredDefinition } from './definitions.js';
import { statement, type Lookup, type PreparedRead } from './statement.js';
import type { Db, EnvironmentRow, WorkspaceRow } from './tables.js';
import { countUses } from './workspaces.js';

/** Each by id or by name; flags by name alone. */
type DefinitionNames = readonly [workspace: string, environment: string, flag: string];

/** @param more further columns of the workspace and the environment, each with a comma before it. */
const definitionByNames = (more = ''): string => `
    select workspaces.id as workspace_id, ${DEFINITION_COLUMNS}${more}
    from workspaces
    join environments on environments.workspace_id = workspaces.id
    join flags on flags.workspace_id = workspaces.id
    join definitions on definitions.flag_id = flags.id
      and definitions.environment_id = environments.id
    join traffic_types on traffic_types.id = flags.traffic_type_id
    where (workspaces.id = $1 or workspaces.name = $1)
      and (environments.id = $2 or environments.name = $2) and flags.name = $3`;

const DEFINITION: Lookup = { name: 'definition', text: definitionByNames() };

export type WorkspaceOfChange = Pick<WorkspaceRow, 'id' | 'requires_title_and_comments'>;
export type EnvironmentOfChange = Pick<
  EnvironmentRow,
  'id' | 'name' | 'approvals_required' | 'allow_kills'
>;

export interface Place {
  readonly workspace: WorkspaceOfChange;
  readonly environment: EnvironmentOfChange;
}

export interface PlacedDefinition extends Place {
  readonly stored: StoredDefinition;
}

interface NamedRow extends StoredDefinition {
  readonly workspace_id: string;
}

type PlacedRow = NamedRow &
  Pick<
    WorkspaceRow & EnvironmentRow,
    'requires_title_and_comments' | 'approvals_required' | 'allow_kills'
  >;

const placedByNames = statement<PlacedRow>(
  definitionByNames(', requires_title_and_comments, approvals_required, allow_kills'),
);

/** By one statement within a transaction; undefined as `lookUpDefinition` has it. */
export async function findPlacedDefinition(
  db: Db,
  names: DefinitionNames,
): Promise<PlacedDefinition | undefined> {
  const row = theOneMeant(await placedByNames(db, ...names), names);
  if (row === undefined) return undefined;
  const { approvals_required, allow_kills, requires_title_and_comments } = row;
  return {
    workspace: { id: row.workspace_id, requires_title_and_comments },
    environment: {
      id: row.environment_id,
      name: row.environment_name,
      approvals_required,
      allow_kills,
    },
    stored: row,
  };
}

/** Undefined if there is none, or if a name could also be the id of another object: separate lookups decide then. */
export async function lookUpDefinition(
  lookUp: PreparedRead,
  names: DefinitionNames,
): Promise<NamedRow | undefined> {
  return theOneMeant(await lookUp<NamedRow>(DEFINITION, names), names);
}

function theOneMeant<Row extends NamedRow>(
  rows: readonly Row[],
  [workspace, environment]: DefinitionNames,
): Row | undefined {
  const [row] = rows;
  if (row === undefined || rows.length > 1) return undefined;
  const areMeant = isMeant(workspace, row.workspace_id) && isMeant(environment, row.environment_id);
  return areMeant ? row : undefined;
}

const PLACE: Lookup = {
  name: 'definitions-place',
  isKept: true,
  text: `
    select environments.workspace_id, environments.id as environment_id,
      environments.name as environment_name, count(*) over () as places,
      (select count(*) from definitions where environment_id = environments.id) as total,
      (select count(*) from flags where flags.workspace_id = environments.workspace_id) as flags
    from workspaces join environments on environments.workspace_id = workspaces.id
    where (workspaces.id = $1 or workspaces.name = $1)
      and (environments.id = $2 or environments.name = $2)
    limit 1`,
};

interface PlaceRow {
  readonly workspace_id: string;
  readonly environment_id: string;
  readonly environment_name: string;
  readonly places: number;
  readonly total: number;
  readonly flags: number;
}

/**
 * A page as one text, by the ids of workspace and environment. One text takes less time than a row for each definition.
 * If every flag of the workspace has a definition here ($2), the statement skips the flags before the page in the index
 * of their names, without looking for their definitions. SQLite joins tables of a `cross join` in the written order.
 */
const DEFINITIONS: Lookup = {
  name: 'definitions',
  text: `
    with page as (
      select id, name, sort_name, traffic_type_id from flags
      where workspace_id = $1
        and ($2 = 1 or exists (
          select 1 from definitions where flag_id = flags.id and environment_id = $3))
      order by sort_name, name
      limit $4 offset $5
    )
    select string_agg(${definitionTextSql('page', '$6')}, ',' order by page.sort_name, page.name) as objects
    from page
    cross join definitions
    cross join traffic_types
    where definitions.flag_id = page.id and definitions.environment_id = $3
      and traffic_types.id = page.traffic_type_id`,
};

export interface FoundDefinitions {
  readonly workspaceId: string;
  readonly environmentId: string;
  /** JSON of the definitions in the form of answers, separated by commas. */
  readonly objects: string;
  readonly totalCount: number;
}

/** One page, sorted by the names of the flags, by two statements; undefined as above, and for an empty page. */
export async function lookUpDefinitions(
  lookUp: PreparedRead,
  [workspace, environment]: readonly [workspace: string, environment: string],
  { limit, offset }: Page,
): Promise<FoundDefinitions | undefined> {
  const [place] = await lookUp<PlaceRow>(PLACE, [workspace, environment]);
  if (place?.places !== 1) return undefined;
  const { workspace_id: workspaceId, environment_id: id, environment_name: name } = place;
  if (!isMeant(workspace, workspaceId) || !isMeant(environment, id)) return undefined;
  const isEachDefined = Number(place.total === place.flags);
  const values = [workspaceId, isEachDefined, id, limit, offset, JSON.stringify({ id, name })];
  const [page] = await lookUp<{ readonly objects: string | null }>(DEFINITIONS, values);
  const objects = page?.objects ?? null;
  if (objects === null) return undefined;
  return { workspaceId, environmentId: id, objects, totalCount: place.total };
}

const definitionsOfPage = statement<{ readonly objects: string | null }>(DEFINITIONS.text);

/** The page of `lookUpDefinitions` within a transaction; its text is empty if no definition is on it. */
export async function listDefinitions(
  db: Db,
  { id, name, workspace_id }: Pick<EnvironmentRow, 'id' | 'name' | 'workspace_id'>,
  { limit, offset }: Page,
): Promise<Pick<FoundDefinitions, 'objects' | 'totalCount'>> {
  const environment = JSON.stringify({ id, name });
  const [page] = await definitionsOfPage(db, workspace_id, 0, id, limit, offset, environment);
  const totalCount = await countUses(db, 'definitions', 'environment_id', id);
  return { objects: page?.objects ?? '', totalCount };
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** False if `asked` looks like an id but was found as a name: an object with that id would come first. */
function isMeant(asked: string, id: string): boolean {
  return asked === id || !ID.test(asked);
}
