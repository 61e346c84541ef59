import type { Page } from '../rules/paging.js';
import { definitionText, type StoredDefinition } from './definitions.js';
import type { Lookup, PreparedRead } from './lookup.js';

/** By the id or the name of each; flags by name alone. */
const DEFINITION: Lookup = {
  name: 'definition',
  text: `
    select workspaces.id as workspace_id, definitions.*, flags.name as flag_name,
      environments.name as environment_name, traffic_types.id as traffic_type_id,
      traffic_types.name as traffic_type_name
    from workspaces
    join environments on environments.workspace_id = workspaces.id
    join flags on flags.workspace_id = workspaces.id
    join definitions on definitions.flag_id = flags.id
      and definitions.environment_id = environments.id
    join traffic_types on traffic_types.id = flags.traffic_type_id
    where (workspaces.id = $1 or workspaces.name = $1)
      and (environments.id = $2 or environments.name = $2) and flags.name = $3`,
};

export interface FoundDefinition {
  readonly workspaceId: string;
  readonly environmentId: string;
  /** JSON as it is sent. */
  readonly text: string;
}

/**
 * A definition by one statement. Undefined: there is none, or what was asked for could mean several things, and only
 * the ordinary way tells which.
 */
export async function lookUpDefinition(
  lookUp: PreparedRead,
  [workspace, environment, flag]: readonly [workspace: string, environment: string, flag: string],
): Promise<FoundDefinition | undefined> {
  const rows = await lookUp<StoredDefinition & { readonly workspace_id: string }>(DEFINITION, [
    workspace,
    environment,
    flag,
  ]);
  const [row] = rows;
  if (row === undefined || rows.length > 1) return undefined;
  const { workspace_id, environment_id } = row;
  if (!isMeant(workspace, workspace_id) || !isMeant(environment, environment_id)) return undefined;
  return {
    workspaceId: workspace_id,
    environmentId: environment_id,
    text: definitionText(row),
  };
}

/**
 * The same of a page. Where every flag of the workspace has a definition here, none is asked whether it has: the flags before
 * the page are skipped in the index of their names. SQLite takes what is joined by `cross join` in the order in which it stands.
 */
const DEFINITIONS: Lookup = {
  name: 'definitions',
  text: `
    with place as materialized (
      select environments.id, environments.name, environments.workspace_id,
        count(*) over () as places,
        (select count(*) from definitions where environment_id = environments.id) as total,
        (select count(*) from flags where flags.workspace_id = environments.workspace_id) as flags
      from workspaces join environments on environments.workspace_id = workspaces.id
      where (workspaces.id = $1 or workspaces.name = $1)
        and (environments.id = $2 or environments.name = $2)
      limit 1
    ), page as (
      select id, name, sort_name, traffic_type_id from flags
      where workspace_id = (select workspace_id from place)
        and ((select total = flags from place) or exists (
          select 1 from definitions
          where flag_id = flags.id and environment_id = (select id from place)))
      order by sort_name, name
      limit $3 offset $4
    )
    select place.workspace_id, place.places, place.total, place.name as environment_name,
      page.name as flag_name, page.sort_name, page.traffic_type_id, definitions.*,
      traffic_types.name as traffic_type_name
    from page
    cross join place
    cross join definitions
    cross join traffic_types
    where definitions.flag_id = page.id and definitions.environment_id = place.id
      and traffic_types.id = page.traffic_type_id`,
};

export interface FoundDefinitions {
  readonly workspaceId: string;
  readonly environmentId: string;
  readonly definitions: readonly StoredDefinition[];
  readonly totalCount: number;
}

interface DefinitionsRow extends StoredDefinition {
  readonly workspace_id: string;
  readonly sort_name: string;
  readonly total: number;
  readonly places: number;
}

/** What `listDefinitions` answers, by one statement. Undefined as `lookUpDefinition` has it, and for an empty page. */
export async function lookUpDefinitions(
  lookUp: PreparedRead,
  [workspace, environment]: readonly [workspace: string, environment: string],
  { limit, offset }: Page,
): Promise<FoundDefinitions | undefined> {
  const values = [workspace, environment, limit, offset];
  const rows = await lookUp<DefinitionsRow>(DEFINITIONS, values);
  const [row] = rows;
  if (row?.places !== 1) return undefined;
  const { workspace_id, environment_id } = row;
  if (!isMeant(workspace, workspace_id) || !isMeant(environment, environment_id)) return undefined;
  return {
    workspaceId: workspace_id,
    environmentId: environment_id,
    // Whole definitions are sorted here, where nothing is copied for it.
    definitions: rows.toSorted(byName),
    totalCount: row.total,
  };
}

/** As the stores have it: both columns hold ASCII, and go by their bytes. */
function byName(a: DefinitionsRow, b: DefinitionsRow): number {
  if (a.sort_name !== b.sort_name) return a.sort_name < b.sort_name ? -1 : 1;
  return a.flag_name < b.flag_name ? -1 : 1;
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What looks like an id and was found by name may be the id of another, which comes first. */
function isMeant(asked: string, id: string): boolean {
  return asked === id || !ID.test(asked);
}
