import { randomUUID } from 'node:crypto';
import { conflict } from './problem.js';
import { checkTitleName, checkTrafficTypeName } from './rules/names.js';
import type { Db, WorkspaceRow } from './store/tables.js';
import {
  findEnvironment,
  findTrafficType,
  findWorkspace,
  insertEnvironment,
  insertRolloutStatuses,
  insertTrafficType,
  insertWorkspace,
} from './store/workspaces.js';

/** What a store holds from the start. */
export interface Seed {
  readonly workspaces: readonly SeedWorkspace[];
}

export interface SeedWorkspace {
  /** A UUID in lower case, for whoever needs the same id in every store. Default: a random one. */
  readonly id?: string;
  readonly name: string;
  /** Default: false. */
  readonly requiresTitleAndComments?: boolean;
  /** In the order in which they are listed. */
  readonly environments: readonly SeedEnvironment[];
  readonly trafficTypes: readonly string[];
}

export interface SeedEnvironment {
  readonly name: string;
  readonly production?: boolean;
  /** Changes to definitions and keys are refused with 403. */
  readonly approvalsRequired?: boolean;
  /** Except kills. */
  readonly allowKills?: boolean;
}

/** Names are the contract's and those of public documentation; the first is what a new flag has. */
const ROLLOUT_STATUSES: readonly (readonly [name: string, description: string])[] = [
  ['Pre-Production', 'The code of the flag has not reached production yet'],
  ['Internal Testing', 'Served to people of the house'],
  ['Pre-Release', 'Served to chosen customers before the release'],
  ['Ramping', 'Served to a growing share of the traffic'],
  ['Experimenting', 'Served to compare treatments'],
  ['100% Released', 'Served to everybody'],
  ['Permanent', 'Stays as a switch'],
  ['Killed', 'Taken back by a kill'],
  ['Removed from code', 'No code asks for the flag any more'],
];

/** Adds what is not there by name; what is there stays as it is, so that it may be run at every start. */
export async function plantSeed(db: Db, seed: Seed, now: number): Promise<void> {
  // One after the other: a transaction has one connection.
  for (const wanted of seed.workspaces) {
    const workspace = await plantWorkspace(db, wanted);
    for (const [index, environment] of wanted.environments.entries()) {
      await plantEnvironment(db, workspace, environment, now + index);
    }
    for (const name of wanted.trafficTypes) await plantTrafficType(db, workspace, name);
  }
}

async function plantWorkspace(db: Db, wanted: SeedWorkspace): Promise<WorkspaceRow> {
  const existing = await findWorkspace(db, wanted.name);
  if (existing !== undefined) return existing;
  if (wanted.id !== undefined && (await findWorkspace(db, wanted.id))) {
    throw conflict(`The id of the new workspace ${wanted.name} is that of another workspace`);
  }
  const { id, name, requiresTitleAndComments = false } = wanted;
  await createWorkspace(db, { name, requiresTitleAndComments, ...(id !== undefined && { id }) });
  const created = await findWorkspace(db, wanted.name);
  if (created === undefined) throw new Error('bug: a workspace vanished within a transaction');
  return created;
}

/**
 * With its rollout statuses, without environments. Gives its id.
 *
 * @param workspace its `id`, where there is one, is no other's.
 */
export async function createWorkspace(
  db: Db,
  workspace: { id?: string; name: string; requiresTitleAndComments: boolean },
): Promise<string> {
  const { id = randomUUID(), name, requiresTitleAndComments } = workspace;
  checkTitleName('Workspace', name);
  await insertWorkspace(db, { id, name, requiresTitleAndComments });
  await insertRolloutStatuses(
    db,
    ROLLOUT_STATUSES.map(([name, description], position) => ({
      id: randomUUID(),
      workspace_id: id,
      name,
      description,
      position,
    })),
  );
  return id;
}

async function plantEnvironment(
  db: Db,
  workspace: WorkspaceRow,
  wanted: SeedEnvironment,
  creationTime: number,
): Promise<void> {
  if (await findEnvironment(db, workspace.id, wanted.name)) return;
  checkTitleName('Environment', wanted.name);
  await insertEnvironment(db, {
    id: randomUUID(),
    workspace_id: workspace.id,
    name: wanted.name,
    production: Number(wanted.production ?? false),
    approvals_required: Number(wanted.approvalsRequired ?? false),
    allow_kills: Number(wanted.allowKills ?? false),
    creation_time: creationTime,
  });
}

async function plantTrafficType(db: Db, workspace: WorkspaceRow, name: string): Promise<void> {
  if (await findTrafficType(db, workspace.id, name)) return;
  checkTrafficTypeName(name);
  await insertTrafficType(db, {
    id: randomUUID(),
    workspace_id: workspace.id,
    name,
    display_attribute_id: null,
  });
}
