import type { Page } from '../rules/members.js';
import { DEFINITION_COLUMNS, definitionTextSql, type StoredDefinition } from './definitions.js';
import { firstRow, statement, type LookUp } from './statement.js';
import type { Db, EnvironmentRow, WorkspaceRow } from './tables.js';
import { countUses } from './workspaces.js';

/** Each by id or by name; flags by name alone. */
type DefinitionNames = readonly [workspace: string, environment: string, flag: string];

const definitionsCalled = statement<NamedRow, DefinitionNames>(`
    select workspaces.id as workspace_id, requires_title_and_comments, approvals_required, allow_kills,
      ${DEFINITION_COLUMNS}
    from workspaces
    join environments on environments.workspace_id = workspaces.id
    join flags on flags.workspace_id = workspaces.id
    join definitions on definitions.flag_id = flags.id
      and definitions.environment_id = environments.id
    join traffic_types on traffic_types.id = flags.traffic_type_id
    where (workspaces.id = $1 or workspaces.name = $1)
      and (environments.id = $2 or environments.name = $2) and flags.name = $3`);

export type WorkspaceOfChange = Pick<WorkspaceRow, 'id' | 'requires_title_and_comments'>;
export type EnvironmentOfChange = Pick<
  EnvironmentRow,
  'id' | 'name' | 'approvals_required' | 'allow_kills'
>;

export interface Place {
  readonly workspace: WorkspaceOfChange;
  readonly environment: EnvironmentOfChange;
}

type NamedRow = StoredDefinition &
  Omit<WorkspaceOfChange & EnvironmentOfChange, 'id' | 'name'> & { readonly workspace_id: string };

/** By one statement within a transaction; undefined as `lookUpDefinition` has it. */
export async function findPlacedDefinition(
  db: Db,
  names: DefinitionNames,
): Promise<(Place & { readonly stored: StoredDefinition }) | undefined> {
  const stored = await lookUpDefinition(db, names);
  if (stored === undefined) return undefined;
  const { workspace_id, environment_id, environment_name } = stored;
  const { requires_title_and_comments, approvals_required, allow_kills } = stored;
  return {
    workspace: { id: workspace_id, requires_title_and_comments },
    environment: { id: environment_id, name: environment_name, approvals_required, allow_kills },
    stored,
  };
}

/** Undefined if there is none, or if a name could also be the id of another object: separate lookups decide then. */
export async function lookUpDefinition(
  source: Db | LookUp,
  names: DefinitionNames,
): Promise<NamedRow | undefined> {
  const [workspace, environment] = names;
  const [row, another] = await definitionsCalled(source, ...names);
  if (row === undefined || another !== undefined) return undefined;
  const areMeant = isMeant(workspace, row.workspace_id) && isMeant(environment, row.environment_id);
  return areMeant ? row : undefined;
}

const placeCalled = firstRow<FoundPlace, [workspace: string, environment: string]>(
  `
    select environments.workspace_id, environments.id as environment_id,
      environments.name as environment_name, count(*) over () as places,
      (select count(*) from definitions where environment_id = environments.id) as total,
      (select count(*) from flags where flags.workspace_id = environments.workspace_id) as flags,
      (select max(id) from audit) as newest
    from workspaces join environments on environments.workspace_id = workspaces.id
    where (workspaces.id = $1 or workspaces.name = $1)
      and (environments.id = $2 or environments.name = $2)
    limit 1`,
  { isKept: true },
);

interface FoundPlace {
  readonly workspace_id: string;
  readonly environment_id: string;
  readonly environment_name: string;
  readonly places: number;
  /** Of definitions here, and of flags in the workspace. */
  readonly total: number;
  readonly flags: number;
  /** Entry of the audit log, in which every change is. */
  readonly newest: number | null;
}

/** An environment by the names or ids of both; undefined as `lookUpDefinition` has it. */
export async function lookUpPlace(
  lookUp: LookUp,
  [workspace, environment]: readonly [workspace: string, environment: string],
): Promise<FoundPlace | undefined> {
  const place = await placeCalled(lookUp, workspace, environment);
  if (place?.places !== 1) return undefined;
  const areMeant =
    isMeant(workspace, place.workspace_id) && isMeant(environment, place.environment_id);
  return areMeant ? place : undefined;
}

/**
 * A page as one text, by the ids of workspace and environment. One text takes less time than a row for each definition.
 * If every flag of the workspace has a definition here ($2), the statement skips the flags before the page in the index
 * of their names, without looking for their definitions. SQLite joins tables of a `cross join` in the written order.
 */
const pageOfDefinitions = firstRow<PageRow>(`
    with page as (
      select id, name, sort_name, traffic_type_id from flags
      where workspace_id = $1
        and ($2 = 1 or exists (
          select 1 from definitions where flag_id = flags.id and environment_id = $3))
      order by sort_name, name
      limit $4 offset $5
    )
    select string_agg(${definitionTextSql('page', '$6')}, ',' order by page.sort_name, page.name) as objects,
      (select max(id) from audit) as newest
    from page
    cross join definitions
    cross join traffic_types
    where definitions.flag_id = page.id and definitions.environment_id = $3
      and traffic_types.id = page.traffic_type_id`);

export interface FoundDefinitions {
  /** JSON of the definitions in the form of answers, separated by commas; empty if none is on the page. */
  readonly objects: string;
  readonly totalCount: number;
}

interface PageRow extends Pick<FoundPlace, 'newest'> {
  readonly objects: string | null;
}

/** One page, sorted by the names of the flags; undefined if anything changed since the place was looked up. */
export async function lookUpDefinitions(
  lookUp: LookUp,
  { workspace_id, environment_id: id, environment_name: name, ...place }: FoundPlace,
  { limit, offset }: Page,
): Promise<FoundDefinitions | undefined> {
  const { total, flags, newest } = place;
  const isInAll = Number(total === flags);
  const values = [workspace_id, isInAll, id, limit, offset, JSON.stringify({ id, name })];
  const page = await pageOfDefinitions(lookUp, ...values);
  // The number of another moment would show a page without its last definition as the end of the list.
  if (page?.newest !== newest) return undefined;
  return { objects: page.objects ?? '', totalCount: total };
}

/** The page of `lookUpDefinitions` within a transaction. */
export async function listDefinitions(
  db: Db,
  { id, name, workspace_id }: Pick<EnvironmentRow, 'id' | 'name' | 'workspace_id'>,
  { limit, offset }: Page,
): Promise<FoundDefinitions> {
  const values = [workspace_id, 0, id, limit, offset, JSON.stringify({ id, name })];
  const page = await pageOfDefinitions(db, ...values);
  const totalCount = await countUses(db, 'definitions', 'environment_id', id);
  return { objects: page?.objects ?? '', totalCount };
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** False if `asked` looks like an id but was found as a name: an object with that id would come first. */
function isMeant(asked: string, id: string): boolean {
  return asked === id || !ID.test(asked);
}
