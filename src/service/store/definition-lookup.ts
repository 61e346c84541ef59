import { definitionText, type StoredDefinition } from './definitions.js';
import type { LookUp, Lookup } from './lookup.js';

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
  lookUp: LookUp,
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

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What looks like an id and was found by name may be the id of another, which comes first. */
function isMeant(asked: string, id: string): boolean {
  return asked === id || !ID.test(asked);
}
