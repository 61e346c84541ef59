import { FlagkeelError, messageOf } from '../errors.js';
import { callerWithoutKey, differenceOf, recordChange } from './change-log.js';
import { conflict, Problem } from './http/problem.js';
import { checkTitleName, checkTrafficTypeName } from './rules/members.js';
import { checkShape, closed, compileSchema, type Schema } from './rules/shape.js';
import type { Db } from './store/tables.js';
import {
  findEnvironment,
  findTrafficType,
  findWorkspace,
  insertEnvironment,
  insertTrafficType,
  insertWorkspace,
  type EnvironmentContent,
} from './store/workspaces.js';

export interface Seed {
  readonly workspaces: readonly SeedWorkspace[];
}

export interface SeedWorkspace {
  /** A UUID in lower case, if the id must be equal in every store. Default: a random one. */
  readonly id?: string;
  readonly name: string;
  /** Default: false. */
  readonly requiresTitleAndComments?: boolean;
  /** In the order of lists. */
  readonly environments: readonly EnvironmentContent[];
  readonly trafficTypes: readonly string[];
}

/**
 * Adds the objects that the store lacks, by name. Existing ones stay as they are, so that this may run at every start.
 * The audit log gets one entry for each workspace with additions.
 */
export async function plantSeed(db: Db, seed: Seed, now: number): Promise<void> {
  for (const wanted of seed.workspaces) {
    const before = await findWorkspace(db, wanted.name);
    const id = before?.id ?? (await plantWorkspace(db, wanted));
    const environments = await plantEnvironments(db, id, wanted, now);
    const trafficTypes = await plantTrafficTypes(db, id, wanted);
    const { name } = before ?? wanted;
    const added = {
      ...(before === undefined && { name }),
      ...(environments.length > 0 && { environments }),
      ...(trafficTypes.length > 0 && { trafficTypes }),
    };
    const place = { db, caller: callerWithoutKey('seed', now), workspace: { id } };
    await recordChange(place, {
      kind: 'workspace',
      name,
      action: before === undefined ? 'create' : 'update',
      difference: differenceOf(before === undefined ? null : {}, added),
    });
  }
}

async function plantWorkspace(
  db: Db,
  { id, name, requiresTitleAndComments = false }: SeedWorkspace,
): Promise<string> {
  if (id !== undefined && (await findWorkspace(db, id))) {
    throw conflict(`The id of the new workspace ${name} is that of another workspace`);
  }
  checkTitleName('Workspace', name);
  return (await insertWorkspace(db, { name, requiresTitleAndComments }, id)).id;
}

/** Adds environments, each at a later time, because lists go by it. @returns the names of the new ones. */
async function plantEnvironments(
  db: Db,
  workspaceId: string,
  { environments }: SeedWorkspace,
  now: number,
): Promise<string[]> {
  const added: string[] = [];
  for (const [index, wanted] of environments.entries()) {
    if (await findEnvironment(db, workspaceId, wanted.name)) continue;
    checkTitleName('Environment', wanted.name);
    await insertEnvironment(db, workspaceId, wanted, now + index);
    added.push(wanted.name);
  }
  return added;
}

async function plantTrafficTypes(
  db: Db,
  workspaceId: string,
  { trafficTypes }: SeedWorkspace,
): Promise<string[]> {
  const added: string[] = [];
  for (const name of trafficTypes) {
    if (await findTrafficType(db, workspaceId, name)) continue;
    checkTrafficTypeName(name);
    await insertTrafficType(db, workspaceId, name);
    added.push(name);
  }
  return added;
}

const ENVIRONMENT: Schema = closed(
  {
    name: { type: 'string', minLength: 1 },
    production: { type: 'boolean' },
    approvalsRequired: { type: 'boolean' },
    allowKills: { type: 'boolean' },
  },
  ['name'],
);

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const WORKSPACE: Schema = closed(
  {
    id: { type: 'string', pattern: UUID },
    name: { type: 'string', minLength: 1 },
    requiresTitleAndComments: { type: 'boolean' },
    environments: { type: 'array', items: ENVIRONMENT },
    trafficTypes: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  ['name', 'environments', 'trafficTypes'],
);

const SEED = closed({ workspaces: { type: 'array', items: WORKSPACE } }, ['workspaces']);

/** Reads a seed from JSON text. @throws FlagkeelError (USAGE) the text is no seed. */
export function parseSeed(text: string, file: string): Seed {
  try {
    const seed: unknown = JSON.parse(text);
    checkShape(compileSchema(SEED), seed, 'Seed');
    return seed as Seed;
  } catch (cause) {
    if (!(cause instanceof Problem) && !(cause instanceof SyntaxError)) throw cause;
    const message = `cannot read the seed "${file}": ${messageOf(cause)}`;
    throw new FlagkeelError('USAGE', message, { cause });
  }
}

/** The content of a service that is started without a seed, for first tries. */
export const DEFAULT_SEED: Seed = {
  workspaces: [
    {
      name: 'Default',
      environments: [{ name: 'staging' }, { name: 'production', production: true }],
      trafficTypes: ['user', 'account'],
    },
  ],
};
